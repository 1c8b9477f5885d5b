"""A YAML file or flags -> valid values; what cannot be used is named with its line or flag, and what is allowed."""

import difflib
import reprlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from touchstone.app.config_model import PROXIES, Config, allowed_at, keys_at
from touchstone.core.case import CASE_FIELDS
from touchstone.core.errors import ConfigError

Where = tuple[str, ...]
# The file, a section, a list in it, an item's keys, the keys of one of those.
DEEPEST = 5


def read_mapping(path: Path) -> tuple[yaml.Node | None, Mapping[Any, Any]]:
    """The file's nodes, which know their lines, and its content as plain values."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise ConfigError(f"{path} cannot be read ({problem}): write one with touchstone init") from error
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        content = loader.construct_document(node) if node else {}
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}:{line}: not valid YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid YAML: {type(error).__name__}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path}:1: the file is no mapping, allowed are the keys {', '.join(keys_at(()))}")
    _refuse_repeats(node, path=path)
    return node, content


def validated(content: Mapping[Any, Any], *, place: Callable[[Where], str], flags: bool = False) -> dict[str, Any]:
    """What `content` sets, and no more; `place` names where a wrong key was written, in a file or by a flag."""
    try:
        given = Config.model_validate(content, context={"reads": True})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = tuple(str(part) for part in first["loc"] if part != "[key]")
        raise ConfigError(f"{place(where)}: {_problem(where, first['type'], first['input'], flags=flags)}") from None
    return given.model_dump(exclude_unset=True)


def _problem(where: Where, type: str, value: Any, *, flags: bool) -> str:
    name = where[-1] if flags else _dotted(where)
    parents = [part for part in where[:-1] if not part.isdecimal()]
    if type in ("extra_forbidden", "invalid_key"):
        return f"unknown key '{name}'; {_nearest(where[-1], keys_at(parents))}"
    if type == "missing":
        remedy = f"say {where[-1]} agents may promise"
        if parents[0] == "judge":
            is_model = where[-1] == "model"
            remedy = "name it, or write offline" if is_model else "give both prices, per million tokens"
        return f"'{_dotted(where[:-1])}' has no '{where[-1]}': {remedy}"
    if where[0] == "columns" and type == "string_type":
        return f"'{name}' is not text: put it in quotes"
    # Who takes the variable for the key itself must not find it in a log.
    shown = "no such name" if where[-1] == "key_variable" else reprlib.repr(value)
    if where[0] == "columns" and len(where) > 1:
        return f"'{name}' is {shown}, which is no field of a case; {_nearest(str(value), CASE_FIELDS)}"
    if where[0] == "trusted_proxies" and len(where) > 1:
        return f"'{where[0]}' has {shown}, which is no address or network such as {PROXIES}"
    path = parents if where[-1].isdecimal() else [*parents, where[-1]]
    return f"'{name}' is {shown}, allowed is {allowed_at(path)}"


def _dotted(where: Where) -> str:
    """`policy.promises[0].what`; only below a policy and a judge are there items to number."""
    items = where[0] in ("policy", "judge")
    return "".join(f"[{part}]" if items and part.isdecimal() else f".{part}" for part in where).removeprefix(".")


def _nearest(name: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"nearest is '{close[0]}'" if close else f"known are {', '.join(known)}"


def line_of(node: yaml.Node | None, where: Where) -> int:
    """The line of the key or item at `where`, or of the innermost one on the way to it."""
    line = 1
    for name in where:
        found = _step(node, name)
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line


def node_at(node: yaml.Node | None, name: str) -> yaml.Node | None:
    """What the section `name` holds, if it is there and holds anything."""
    found = _step(node, name)
    return None if found is None or found[1].tag == "tag:yaml.org,2002:null" else found[1]


def _step(node: yaml.Node | None, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    """Where the key or item `name` is written, and what it holds."""
    if isinstance(node, yaml.SequenceNode) and name.isdecimal() and int(name) < len(node.value):
        item = node.value[int(name)]
        return item, item
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next(((key, value) for key, value in pairs if key.value == name), None)


def _refuse_repeats(node: yaml.Node | None, *, path: Path, depth: int = 1) -> None:
    """ConfigError for a key that is given twice; `depth` ends it where touchstone.yaml does."""
    if depth > DEEPEST:
        return
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeats(item, path=path, depth=depth + 1)
    if not isinstance(node, yaml.MappingNode):
        return
    seen: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if key.value in seen:
            raise ConfigError(f"{path}:{line}: key '{key.value}' repeats line {seen[key.value]}: keep one of them")
        seen[key.value] = line
        _refuse_repeats(value, path=path, depth=depth + 1)
