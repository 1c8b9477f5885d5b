"""A model that could grade and touchstone.yaml -> the judge's settings, and the section `judge` that says so."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

import yaml

from touchstone.app.config import CONFIG_NAME, JudgeFlags, load_settings
from touchstone.app.config_model import JudgeSettings
from touchstone.clients.llm.discovery import Offer
from touchstone.core.errors import ConfigError, TouchstoneError
from touchstone.io.locations import whole_file

# Keys that say which model grades: what setup finds out, and takes out where they belong to another kind of judge.
_ASKED = ("kind", "model", "base_url", "panel", "cascade")


@dataclass(frozen=True, slots=True)
class Choice:
    """The judge to try, and what its section of touchstone.yaml has to say of it; None is a key to be taken out."""

    judge: JudgeSettings
    changes: Mapping[str, Any]


def choose(offer: Offer, *, config: str | None, flags: Mapping[str, str]) -> Choice:
    """The judge that the offer is, with what else touchstone.yaml and flags say of a judge."""
    if twice := next((key for key in flags if key in _ASKED), None):
        raise ConfigError(f"--judge-set {twice} is what setup finds out: name the model with --model and --base-url")
    given = JudgeFlags({**flags, "kind": "llm", "model": offer.model or "", "base_url": offer.base_url})
    in_file, judge = load_settings(config).judge, load_settings(config, judge=given).judge
    is_same_server = in_file.base_url == offer.base_url
    is_same = is_same_server and in_file.model == offer.model
    variable = offer.key_variable or (judge.key_variable if is_same_server or "key_variable" in flags else None)
    nested = JudgeFlags(flags).nested()
    changes = {"kind": "llm", "model": offer.model, "base_url": offer.base_url, "key_variable": variable}
    changes |= {"panel": None, "cascade": None} | nested
    if "prices" not in nested and not is_same:
        # Another model's prices would give wrong sums.
        judge, changes = judge.model_copy(update={"prices": None}), {**changes, "prices": None}
    if judge.budget.money is not None and judge.prices is None:
        remedy = "give --judge-set prices.input=X and prices.output=Y, per million tokens"
        raise ConfigError(f"judge.budget.money needs the prices of {offer.model}: {remedy}")
    alone = {"key_variable": variable, "panel": (), "cascade": False, "asks_anew": True}
    return Choice(judge.model_copy(update=alone), changes)


def section_text(config: str | None, changes: Mapping[str, Any]) -> str:
    """The section as touchstone.yaml would have it."""
    section = _merged(yaml.safe_load(_read(_path(config))) or {}, changes)
    return yaml.safe_dump({"judge": section}, sort_keys=False, allow_unicode=True, width=1000)


def write_section(config: str | None, changes: Mapping[str, Any]) -> Path:
    """Changes the section `judge` and nothing else of the file, which is there whole or as it was.

    ConfigError, with what to paste, where the section is written so that this cannot be done line by line.
    """
    path = _path(config)
    text = _read(path)
    content = yaml.safe_load(text) or {}
    wanted = {**content, "judge": _merged(content, changes)}
    paste = f"write it yourself: judge: {_flow(wanted['judge'])}"
    edited = _edited(text, changes)
    if edited is None or _content(edited) != wanted:
        raise ConfigError(f"the section judge of {path} cannot be changed line by line: {paste}")
    try:
        _check(edited, beside=path)
        with whole_file(str(path)) as stream:
            stream.write(edited.encode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be written ({error.strerror or type(error).__name__}): {paste}") from error
    return path


def _path(config: str | None) -> Path:
    return Path(config or CONFIG_NAME)


def _read(path: Path) -> str:
    """The file as it is, line ends and all; nothing when there is none yet."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        problem = getattr(error, "strerror", None) or "is not UTF-8"
        raise ConfigError(f"{path} cannot be read ({problem}): correct it first") from error


def _check(text: str, *, beside: Path) -> None:
    """ConfigError unless the file can be read once it holds this text; what it names stands beside it."""
    part = beside.with_name(f".{beside.name}.{secrets.token_hex(4)}.check")
    try:
        part.write_bytes(text.encode("utf-8"))
        load_settings(str(part))
    except TouchstoneError as error:
        told = str(error).replace(str(part), str(beside))
        raise ConfigError(
            f"nothing was written, since {beside} could not be read with the new section: {told}"
        ) from None
    finally:
        part.unlink(missing_ok=True)


def _merged(content: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The section once it is changed: a section within it keeps what is not given anew."""
    section = dict(content.get("judge") or {})
    for key, value in changes.items():
        if value is None:
            section.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(section.get(key), Mapping):
            section[key] = {**section[key], **value}
        else:
            section[key] = value
    return section


def _content(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None


@dataclass(frozen=True, slots=True, order=True)
class _Edit:
    """A part of the text and what takes its place."""

    start: int
    end: int
    text: str = ""


def _edited(text: str, changes: Mapping[str, Any]) -> str | None:
    """The text with the section changed, its comments and all else left alone; None where that cannot be done.

    Whether it was done right is seen by reading it again.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    text = text if not text or text.endswith("\n") else text + end
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is not None and not _is_block(root):
        return None
    pairs = root.value if root is not None else []
    found = next(((key, value) for key, value in pairs if key.value == "judge"), None)
    given = {key: _merged(_content(text) or {}, changes).get(key) for key in changes}
    if found is None:
        head = f"{text}{end}" if text.strip() else text
        return head + f"judge:{end}" + "".join(f"  {_line(key, value)}{end}" for key, value in _set(given))
    key, value = found
    if isinstance(value, yaml.ScalarNode) and value.start_mark.index == value.end_mark.index:
        # Nothing but comments, as `touchstone init` writes it.
        at = _line_end(text, key.end_mark.index)
        return text[:at] + "".join(f"  {_line(name, each)}{end}" for name, each in _set(given)) + text[at:]
    return _edited_block(text, value, given, end=end) if _is_block(value) else None


def _edited_block(text: str, section: yaml.MappingNode, given: Mapping[str, Any], *, end: str) -> str | None:
    present = {key.value: (key, value) for key, value in section.value}
    first = section.value[0][0]
    indent = " " * first.start_mark.column
    place = _line_end(text, _last(present["kind"][1])) if "kind" in present else _line_start(text, first)
    new = "".join(f"{indent}{_line(name, each)}{end}" for name, each in _set(given) if name not in present)
    edits = [_Edit(place, place, new)]
    for name, wanted in given.items():
        if name not in present:
            continue
        key, value = present[name]
        if isinstance(value, yaml.ScalarNode) and value.style in ("|", ">"):
            return None
        whole = _Edit(_line_start(text, key), _line_end(text, _last(value)))
        if wanted is None:
            edits.append(whole)
        elif isinstance(value, yaml.ScalarNode) and not isinstance(wanted, Mapping | list):
            gap = " " if text[value.start_mark.index - 1] == ":" else ""
            edits.append(_Edit(value.start_mark.index, value.end_mark.index, gap + _flow(wanted)))
        else:
            edits.append(replace(whole, text=f"{indent}{_line(name, wanted)}{end}"))
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _set(given: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in given.items() if value is not None]


def _is_block(node: yaml.Node) -> TypeGuard[yaml.MappingNode]:
    return isinstance(node, yaml.MappingNode) and not node.flow_style


def _last(node: yaml.Node) -> int:
    """Where the last thing written in it ends: a block itself ends only where something else begins."""
    if not isinstance(node, yaml.CollectionNode) or node.flow_style:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _last(last[1] if isinstance(node, yaml.MappingNode) else last)


def _line_start(text: str, key: yaml.Node) -> int:
    return text.rfind("\n", 0, key.start_mark.index) + 1


def _line_end(text: str, at: int) -> int:
    """Where the next line begins."""
    return text.index("\n", at) + 1


def _line(key: str, value: Any) -> str:
    return f"{key}: {_flow(value)}"


def _flow(value: Any) -> str:
    """A value on one line, without the end of a document that a scalar's dump has."""
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=1_000_000)
    return str(text).removesuffix("...\n").strip()
