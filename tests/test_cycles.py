"""Modules import each other one way only, also where an import waits inside a function."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import touchstone

PACKAGE = Path(touchstone.__file__).parent


def modules():
    """Every module of the package by name, with its source."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file.read_text(encoding="utf-8")
    return found


def imported(source, names):
    """The modules that a source imports anywhere, but for what only type checkers see."""
    tree = ast.parse(source)
    for_types = {
        id(each)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        for each in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            wholes = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (whole if whole in names else node.module for whole in wholes)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def first_cycle(sources):
    """The modules of one cycle in the order of their imports; [] where there is none."""
    graph = {name: (set(imported(source, sources)) & set(sources)) - {name} for name, source in sources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1][::-1]
    return []


def test_no_module_imports_itself_by_a_detour():
    assert not first_cycle(modules())


@pytest.mark.parametrize(
    ("source", "is_cycle"),
    [
        ("import a", True),
        ("from a import f", True),
        ("def work():\n    from a import f", True),
        ("def work():\n    import a", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import F", False),
        ("import b, json", False),
    ],
)
def test_a_cycle_is_seen_wherever_its_import_is(source, is_cycle):
    assert bool(first_cycle({"a": "from b import g", "b": source})) is is_cycle
