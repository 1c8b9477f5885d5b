"""A CSV cell and the field it is for -> the value that a JSON file would hold there."""

import ast
import re
import warnings
from typing import Any

from touchstone.core.errors import CaseError
from touchstone.core.result import Failure
from touchstone.io.json_text import field_name, parse_json

# A list or object, and not a message or passage that merely starts with a bracket: "[1] Refunds …", "{sic}".
_STRUCTURE = re.compile(r"""\s*(?:\[\s*["'{\]]|\{\s*["}])""")
_TURNS = re.compile(r"""\s*\[\s*\{\s*["'](?:role|content|type)["']""")
_OBJECT = re.compile(r'\s*\{\s*"')
_LONGEST_LITERAL = 1_000_000


def cell_value(cell: str, *, field: str, column: str) -> Any:
    """The typed value of a cell that is not empty."""
    if field == "confidence":
        return _number(cell, column=column)
    if field == "input" and _TURNS.match(cell):
        return _structure(cell, column=column)
    if field in ("context", "labels") and _STRUCTURE.match(cell):
        return _structure(cell, column=column)
    return cell


def cell_object(cell: str) -> Any:
    """The object in a cell of a column that may hold one; the cell itself when it holds none."""
    value = parse_json(cell) if _OBJECT.match(cell) else cell
    return value if isinstance(value, dict) else cell


def _number(cell: str, *, column: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise CaseError(f"column {field_name(column)} is not a number: write it like 0.85") from None


def _structure(cell: str, *, column: str) -> Any:
    value = parse_json(cell, remedy="write the cell as JSON")
    if not isinstance(value, Failure):
        return value
    literal = _python_list(cell)
    if literal is None:
        raise CaseError(f"column {field_name(column)}: {value.message}")
    return literal


def _python_list(cell: str) -> list[Any] | None:
    """The list in ['…', "…"], as data frames write lists to CSV."""
    if len(cell) > _LONGEST_LITERAL:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            value = ast.literal_eval(cell.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, list) else None
