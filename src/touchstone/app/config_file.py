"""A YAML file -> its content as plain values, and the line on which each key stands."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from touchstone.app.config_shape import SECTIONS
from touchstone.core.errors import ConfigError

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
        raise ConfigError(f"{path}:1: the file is no mapping, allowed are the keys {', '.join(SECTIONS)}")
    _refuse_repeats(node, path=path)
    return node, content


def line_of(node: yaml.Node | None, where: tuple[str, ...]) -> int:
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
