"""touchstone.yaml and flags -> Settings; what cannot be used is an error that names the place and the remedy."""

import difflib
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model

from touchstone.core.codec import CASE_FIELDS
from touchstone.core.errors import ConfigError
from touchstone.core.plan import Plan

CONFIG_NAME = "touchstone.yaml"
SECTIONS = ("thresholds", "columns")
_PLAN_TYPES = get_type_hints(Plan)
_RANGES: Mapping[type, Any] = {float: Annotated[float, Field(ge=0, le=1)], int: Annotated[int, Field(ge=1)]}
_ALLOWED: Mapping[type, str] = {float: "a number from 0 to 1", int: "a whole number of at least 1"}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a command works with: the plan, and their column names -> ours."""

    plan: Plan = field(default_factory=Plan)
    columns: Mapping[str, str] = field(default_factory=dict)


def load_settings(
    config: str | None = None,
    *,
    thresholds: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Settings:
    """The file named, or touchstone.yaml here if there is one, overridden by what the flags --set and --map say."""
    path = Path(config or CONFIG_NAME)
    read = _read(path) if config or path.is_file() else Settings()
    flags = {"thresholds": {key: _number(text) for key, text in (thresholds or {}).items()}, "columns": columns or {}}
    set_by_flag = _validated(flags, place=lambda where: "--set" if where[0] == "thresholds" else "--map")
    return Settings(
        plan=Plan(**{**asdict(read.plan), **set_by_flag["thresholds"]}),
        columns={**read.columns, **set_by_flag["columns"]},
    )


def _read(path: Path) -> Settings:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise ConfigError(f"{path} cannot be read ({problem}): write one with touchstone init") from error
    node, content = _parse(text, path=path)
    given = {name: section for name, section in content.items() if section is not None}
    values = _validated(given, place=lambda where: f"{path}:{_line(node, where)}")
    return Settings(plan=Plan(**values["thresholds"]), columns=values["columns"])


def _parse(text: str, *, path: Path) -> tuple[yaml.Node | None, Mapping[Any, Any]]:
    """The file's nodes, which know their lines, and its content as plain values."""
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
        raise ConfigError(f"{path}:1: the file is no mapping, allowed are the keys {', '.join(SECTIONS)}")
    _refuse_repeats(node, path=path)
    return node, content


def _refuse_repeats(node: yaml.Node | None, *, path: Path, depth: int = 1) -> None:
    if not isinstance(node, yaml.MappingNode):
        return
    seen: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if key.value in seen:
            raise ConfigError(f"{path}:{line}: key '{key.value}' repeats line {seen[key.value]}: keep one of them")
        seen[key.value] = line
        if depth < len(SECTIONS):
            _refuse_repeats(value, path=path, depth=depth + 1)


def _line(node: yaml.Node | None, where: tuple[str, ...]) -> int:
    """The line of the key at `where`, or of the innermost key on the way to it."""
    line = 1
    for name in where:
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        found = next(((key, value) for key, value in pairs if key.value == name), None)
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line


def _our_field(name: str) -> str:
    if name not in CASE_FIELDS:
        raise ValueError
    return name


def _models() -> type[BaseModel]:
    """The shape of touchstone.yaml; the thresholds are Plan's fields, each in the range of its type."""
    strict = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    ranged: dict[str, Any] = {f.name: (_RANGES.get(_PLAN_TYPES[f.name], f.type), f.default) for f in fields(Plan)}
    thresholds = create_model("Thresholds", __config__=strict, **ranged)
    ours = Annotated[str, AfterValidator(_our_field)]
    shape: dict[str, Any] = {
        "thresholds": (thresholds, Field(default_factory=thresholds)),
        "columns": (dict[str, ours], Field(default_factory=dict)),
    }
    return create_model("Config", __config__=strict, **shape)


_CONFIG = _models()


def _validated(content: Mapping[Any, Any], *, place: Callable[[tuple[str, ...]], str]) -> dict[str, Any]:
    """What `content` sets, section by section; `place` names where a wrong key was written."""
    try:
        given = _CONFIG.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = tuple(str(part) for part in first["loc"] if part != "[key]")
        raise ConfigError(f"{place(where)}: {_problem(where, first['type'], first['input'])}") from None
    return {section: {} for section in SECTIONS} | given.model_dump(exclude_unset=True)


def _problem(where: tuple[str, ...], type: str, value: Any) -> str:
    name = ".".join(where)
    if type in ("extra_forbidden", "invalid_key"):
        return f"unknown key '{name}'; {_nearest(where[-1], tuple(_PLAN_TYPES) if where[1:] else SECTIONS)}"
    if where[0] == "columns" and type == "string_type":
        return f"'{name}' is not text: put it in quotes"
    shown = reprlib.repr(value)
    if where[0] == "columns" and len(where) > 1:
        return f"'{name}' is {shown}, which is no field of a case; {_nearest(str(value), CASE_FIELDS)}"
    allowed = _ALLOWED.get(_PLAN_TYPES.get(where[-1], dict), "a mapping of names to values")
    return f"'{name}' is {shown}, allowed is {allowed}"


def _nearest(name: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"nearest is '{close[0]}'" if close else f"known are {', '.join(known)}"


def _number(text: str) -> int | float | str:
    """The number that a flag's text is, or the text, to be refused where it stands."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
