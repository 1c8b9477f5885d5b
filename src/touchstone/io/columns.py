"""A row as another tool names and writes its columns -> the same row under our field names, each cell typed."""

import ast
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Any

from touchstone.core.case import CASE_FIELDS, wrong_type
from touchstone.core.errors import CaseError, InputError
from touchstone.core.result import Failure
from touchstone.io.rows import Row, field_name, parse_json
from touchstone.text.reading import REFERENCE_DATE_FIELDS

# DeepEval (LLMTestCase); ragas (SingleTurnSample, then its names before 0.2); autoevals; MLflow (genai.evaluate).
ALIASES: Mapping[str, str] = {
    "actual_output": "response",
    "retrieval_context": "context",
    "user_input": "input",
    "reference": "expected_output",
    "retrieved_contexts": "context",
    "question": "input",
    "answer": "response",
    "contexts": "context",
    "ground_truth": "expected_output",
    "output": "response",
    "expected": "expected_output",
    "inputs": "input",
    "outputs": "response",
    "expectations": "expected_output",
}
# MLflow's columns may be objects; the first of these keys that is there holds the text.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "inputs": ("question", "query", "input", "messages", "message", "prompt", "text"),
    "outputs": ("response", "answer", "output", "content", "message", "text"),
    "expectations": ("expected_response", "expected_output", "expected", "ground_truth", "answer"),
}
METADATA = "metadata"
# What the fields hold, where their names do not say it; a name that is like one of these words may mean that field.
_MEANINGS: Mapping[str, str] = {
    "input": "the customer's message or chat turns",
    "response": "the reply",
    "context": "passages, documents or sources",
}
_MESSAGE_TYPES = {"human": "user", "ai": "assistant"}
# Rows of JSON may each have names of their own; those of the first few hundred tell what a file is like.
_MOST_NAMES, _MOST_SHOWN, _LONGEST_NEAREST = 500, 10, 60

Ranks = tuple[tuple[str, ...], ...]
# A list or object, and not a message or passage that merely starts with a bracket: "[1] Refunds …", "{sic}".
_STRUCTURE = re.compile(r"""\s*(?:\[\s*["'{\]]|\{\s*["}])""")
_TURNS = re.compile(r"""\s*\[\s*\{\s*["'](?:role|content|type)["']""")
_OBJECT = re.compile(r'\s*\{\s*"')
_LONGEST_LITERAL = 1_000_000


def arrange(
    content: Mapping[str, Any], *, columns: Mapping[str, str], is_text: bool = False, needs_response: bool = True
) -> dict[str, Any]:
    """The row under the contract's names: the user's `columns` (theirs -> ours) win, then our own, then aliases.

    Columns that give no field stay beside the fields, as metadata. `is_text` marks cells that still need a type.
    Without `needs_response` a row that gives no reply has none.
    """
    row = {name: value for name, value in content.items() if value is not None and not (is_text and value == "")}
    fields: dict[str, Any] = {}
    used = {*CASE_FIELDS, *columns, *(name for name in content if name not in row and (is_text or name in ALIASES))}
    ranks = _ranks(tuple(columns.items()))
    for field in CASE_FIELDS:
        given = _given(field, row, ranks=ranks[field], is_text=is_text)
        if given:
            fields[field] = _agreed(given, field=field)
            used |= {name for name in given if not isinstance(row[name], Mapping)}
    if needs_response and "response" not in fields:
        fields["response"] = _empty_response(content, ranks=ranks["response"], is_text=is_text)
    return fields | {name: value for name, value in content.items() if name not in used}


def giving(names: Collection[str], *, columns: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """For each field, those of the columns that may give it, strongest first."""
    ranks = _ranks(tuple(columns.items()))
    return {field: tuple(name for rank in ranks[field] for name in rank if name in names) for field in CASE_FIELDS}


def check_known(content: Mapping[str, Any], *, columns: Mapping[str, str]) -> None:
    """CaseError for a column that would count for nothing, unless it is the object that is there for it."""
    known = {*CASE_FIELDS, *columns, *ALIASES, *REFERENCE_DATE_FIELDS, METADATA}
    unknown = next((name for name in content if name not in known), None)
    if unknown is not None:
        near = get_close_matches(unknown[:_LONGEST_NEAREST].casefold(), likely := _likely(), n=1)
        hint = f"; nearest is '{likely[near[0]]}'" if near else ""
        fields = (f"{name} ({_MEANINGS[name]})" if name in _MEANINGS else name for name in CASE_FIELDS)
        allowed = f"{', '.join(fields)}, {REFERENCE_DATE_FIELDS[0]} and other tools' names of these"
        remedy = f"put anything else into '{METADATA}', an object that does not count"
        raise CaseError(f"field {field_name(unknown)} is not known{hint}; allowed are {allowed}; {remedy}")
    rest = None if METADATA in columns else content.get(METADATA)
    if rest is not None and not isinstance(rest, Mapping):
        raise wrong_type(METADATA, rest, "an object")


@cache
def _likely() -> Mapping[str, str]:
    """Names and words that somebody may have had in mind, and the field that each stands for."""
    words = {word: field for field, meaning in _MEANINGS.items() for word in meaning.replace(",", "").split()}
    inside = {key: ALIASES[column] for column in reversed([*_KEYS]) for key in _KEYS[column]}
    own = {name: name for name in (*CASE_FIELDS, REFERENCE_DATE_FIELDS[0], METADATA)}
    return {**{word: field for word, field in words.items() if len(word) > 3}, **inside, **ALIASES, **own}


class SeenColumns:
    """The columns that rows have had so far; `mapped` are those, theirs -> ours, that some row must have."""

    def __init__(self, mapped: Mapping[str, str] | None = None) -> None:
        self.missing = dict(mapped or {})
        self._names: dict[str, None] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._names)

    def watch(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows as they are."""
        for row in rows:
            if not isinstance(row.content, Failure):
                self.note(row.content)
            yield row

    def note(self, names: Iterable[str]) -> None:
        for name in names:
            self.missing.pop(name, None)
            if len(self._names) < _MOST_NAMES:
                self._names[name] = None

    def check_mapped(self, *, file: str) -> None:
        """InputError when a mapped column was in no row; that there are no rows at all is said elsewhere."""
        for theirs, ours in self.missing.items() if self._names else ():
            near = get_close_matches(theirs, self._names, n=1)
            hint = f"nearest is {field_name(near[0])}" if near else f"there are {self._shown()}"
            raise InputError(f"--map {theirs}={ours}: no row of {file} has a column {field_name(theirs)}; {hint}")

    def check_reply(self, *, file: str, columns: Mapping[str, str]) -> None:
        """InputError when no column can hold a reply."""
        ranks = _ranks(tuple(columns.items()))
        if any(name in self._names for rank in ranks["response"] for name in rank):
            return
        reply, message = (
            " or ".join(name for rank in ranks[field] for name in rank) for field in ("response", "input")
        )
        expected = f"expected are {reply} for the reply and {message} for the customer's message: rename or map them"
        raise InputError(f"{file} has no column for 'response', only {self._shown()}; {expected}")

    def _shown(self) -> str:
        more = len(self._names) - _MOST_SHOWN
        shown = ", ".join(map(field_name, islice(self._names, _MOST_SHOWN))) or "no columns"
        return f"{shown} and {more} more" if more > 0 else shown


def _given(field: str, row: Mapping[str, Any], *, ranks: Ranks, is_text: bool) -> dict[str, Any]:
    """The columns that give the field and their values, from the strongest rank that gives any."""
    for names in ranks:
        present = [name for name in names if name in row]
        values = {name: _value(row[name], field=field, column=name, is_text=is_text) for name in present}
        if given := {name: value for name, value in values.items() if value is not None}:
            return given
    return {}


@cache
def _ranks(columns: tuple[tuple[str, str], ...]) -> Mapping[str, Ranks]:
    """For each field, the columns that may give it, strongest first; a mapped column gives nothing else as well."""
    mapped = dict(columns)
    return {
        field: (
            tuple(theirs for theirs, ours in columns if ours == field),
            tuple(name for name in [field] if name not in mapped),
            tuple(alias for alias, ours in ALIASES.items() if ours == field and alias not in mapped),
        )
        for field in CASE_FIELDS
    }


def _agreed(given: Mapping[str, Any], *, field: str) -> Any:
    (first, value), *others = given.items()
    for other, another in others:
        if another != value:
            names = f"{field_name(first)} and {field_name(other)}"
            raise CaseError(f"columns {names} both give '{field}' and differ: drop one, or map the right one to it")
    return value


def _empty_response(content: Mapping[str, Any], *, ranks: Ranks, is_text: bool) -> str:
    """An empty cell in the reply's column is an empty reply; every other way to leave it out is an error."""
    if is_text and any(name in content for names in ranks for name in names):
        return ""
    raise CaseError("field 'response' is missing: give the reply, or map its column to 'response'")


def _value(value: Any, *, field: str, column: str, is_text: bool) -> Any:
    if column in _KEYS:
        value = _unwrapped(cell_object(value) if is_text else value, column=column)
    if is_text and isinstance(value, str):
        value = cell_value(value, field=field, column=column)
    return [_turn(turn) for turn in value] if field == "input" and isinstance(value, list) else value


def _unwrapped(value: Any, *, column: str) -> Any:
    """The text inside an MLflow object; None for expectations that hold no expected reply."""
    if not isinstance(value, Mapping):
        return value
    named = [value[key] for key in _KEYS[column] if value.get(key) is not None]
    texts = named or [only for only in value.values() if isinstance(only, str)]
    if named or len(texts) == 1:
        return texts[0]
    if column == "expectations":
        return None
    raise CaseError(f"column '{column}' is an object without one of the keys {', '.join(_KEYS[column])}: add one")


def _turn(turn: Any) -> Any:
    """A chat turn that says `type` human or ai, as ragas and LangChain do, with the `role` it stands for."""
    if not isinstance(turn, Mapping) or turn.get("role") is not None or not isinstance(turn.get("type"), str):
        return turn
    return {**turn, "role": _MESSAGE_TYPES.get(turn["type"], turn["type"])}


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
