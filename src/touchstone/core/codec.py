"""Values <-> plain dicts, canonical JSON and content hashes: the contracts people script against.

A dataclass is written field by field, as its types say; LAYOUTS are the few whose JSON looks otherwise.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from touchstone.core.case import CASE_FIELDS, Case, Label, wrong_type
from touchstone.core.errors import CaseError
from touchstone.core.result import Result

# The names in the JSON of a class, in order: `name=field` where the field is called otherwise, `name?` where it is left
# out when empty, `*field` where a mapping's entries are beside the other names. A name that is no field is derived.
LAYOUTS: Mapping[str, str] = {
    "Finding": "kind rule text start end reason evidence confidence",
    "Score": "score *parts flag reason anchors?",
    "Grade": "grade value points confidence reason",
    "Grading": "name=rubric version judge criteria=grades violations suspicions issues total outcome pass_probability "
    "reasons flip_rate? waived? dismissed?",
    "Statement": "text start end status probability by reason chances evidence",
    "Verification": "name version hash spared unread sentences=statements",
    "Result": "id line? decision verdict reasons metrics rubric failures verifier?",
    "Record": "id draft category? confidence? decision verdict? outcome? total? grades? violations? tags? failed? "
    "problem? waived? why? pass_probability?",
}
# Several of one of these are an object with an entry for each, under the field that names it.
KEYS: Mapping[str, str] = {"Score": "metric", "Grade": "criterion"}
# One of these is the list of its values.
LISTS = frozenset({"Tag"})

_Value = TypeVar("_Value")
Convert = Callable[..., Any]


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spare space: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def content_hash(value: Any) -> str:
    """A short stable name for a plain value."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def case_from_dict(row: Mapping[str, Any]) -> Case:
    """A row with the contract's field names -> Case; every other column becomes metadata."""
    if "response" not in row or row["response"] is None:
        raise CaseError("field 'response' is missing: give the reply that is to be judged")
    return Case(
        id=row.get("id"),
        input="" if row.get("input") is None else row["input"],
        response=row["response"],
        context=row.get("context"),
        expected_output=row.get("expected_output"),
        category=row.get("category"),
        confidence=row.get("confidence"),
        labels=_labels(row.get("labels")),
        metadata={name: value for name, value in row.items() if name not in CASE_FIELDS},
    )


def case_to_dict(case: Case) -> dict[str, Any]:
    """Case -> the row it is written as; what was not given is left out."""
    turns = case.input if isinstance(case.input, str) else [{"role": t.role, "content": t.content} for t in case.input]
    row: dict[str, Any] = {"id": case.id, "input": turns, "response": case.response}
    if case.context is not None:
        row["context"] = [p.text if p.id is None else {"id": p.id, "text": p.text} for p in case.context]
    row |= {"expected_output": case.expected_output, "category": case.category, "confidence": case.confidence}
    if case.labels:
        row["labels"] = [_label_to_dict(label) for label in case.labels]
    return {name: value for name, value in row.items() if value is not None} | dict(case.metadata)


def case_hash(case: Case) -> str:
    """The id of a case that was given none."""
    return content_hash({k: v for k, v in case_to_dict(case).items() if k in CASE_FIELDS and k != "id"})


def result_to_dict(result: Result) -> dict[str, Any]:
    """Result -> the contract's JSON object."""
    row: dict[str, Any] = encode(result)
    return row


def result_from_dict(row: Mapping[str, Any]) -> Result:
    """The contract's JSON object -> Result."""
    return decode(Result, row)


def encode(value: Any) -> Any:
    """A dataclass -> its JSON object."""
    kind: Any = type(value)
    return writer(kind)(value)


def decode(kind: type[_Value], row: Any) -> _Value:
    """What `encode` wrote of a value of this type -> the same value. Names that are not known are passed over."""
    named: Any = kind
    found: _Value = reader(named)(row)
    return found


@dataclass(frozen=True, slots=True)
class JsonMember:
    """One name in the JSON of a class, the attribute it is read from, and its type.

    An `optional` one is left out when it is `empty`; a `derived` one follows from the others.
    """

    name: str
    attribute: str
    type: Any
    is_derived: bool = False
    is_optional: bool = False
    is_spread: bool = False
    empty: Any = None


@cache
def members(kind: Any) -> tuple[JsonMember, ...]:
    """What the JSON of a dataclass or named tuple holds, in order."""
    hints = get_type_hints(kind)
    own = [field.name for field in fields(kind)] if is_dataclass(kind) else hints
    return tuple(_member(kind, each, hints) for each in LAYOUTS.get(kind.__name__, " ".join(own)).split())


def _member(kind: Any, laid_out: str, hints: Mapping[str, Any]) -> JsonMember:
    name, _, field = laid_out.strip("*?").partition("=")
    attribute = field or name
    if attribute not in hints:
        return JsonMember(name, attribute, get_type_hints(getattr(kind, attribute).fget)["return"], is_derived=True)
    hint = hints[attribute]
    empties: dict[Any, Any] = {bool: False, tuple: (), Mapping: {}}
    return JsonMember(
        name,
        attribute,
        hint,
        is_optional=laid_out.endswith("?"),
        is_spread=laid_out.startswith("*"),
        empty=empties.get(get_origin(hint) or hint),
    )


def given(kind: Any) -> Any:
    """X of `X | None`, and any other type as it is."""
    others = [each for each in get_args(kind) if each is not NoneType]
    return others[0] if get_origin(kind) in (Union, UnionType) and len(others) == 1 else kind


def is_object(kind: Any) -> bool:
    """Whether a type is a dataclass or a named tuple."""
    return isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields"))


# Functions are put together as text, as `dataclasses` does it: what is written once for each class and name would
# take twice the time if it were looked up for each value.
_Names = dict[str, Any]


@cache
def writer(kind: Any) -> Convert:
    """What turns values of a type, a dataclass or any other that a field may have, into their JSON."""
    names: _Names = {}
    if not is_object(kind):
        return _function("value", _written(kind, "value", names), names)
    if kind.__name__ in LISTS:
        return _function("value", f"[{', '.join(f'value.{part.attribute}' for part in members(kind))}]", names)
    parts = []
    for part in members(kind):
        value = _written(part.type, f"value.{part.attribute}", names)
        if part.is_spread:
            parts.append(f"**value.{part.attribute}")
        elif part.is_optional:
            names[f"empty_{part.name}"] = part.empty
            parts.append(f"**({{}} if value.{part.attribute} == empty_{part.name} else {{{part.name!r}: {value}}})")
        else:
            parts.append(f"{part.name!r}: {value}")
    return _function("value", f"{{{', '.join(parts)}}}", names)


def _written(kind: Any, value: str, names: _Names) -> str:
    """The expression for the JSON of what the expression `value` gives."""
    if given(kind) is not kind:
        plain = _written(given(kind), value, names)
        return plain if plain == value else f"(None if {value} is None else {plain})"
    origin = get_origin(kind)
    if origin is tuple:
        item = get_args(kind)[0]
        each = _written(item, "each", names)
        if key := KEYS.get(getattr(item, "__name__", "")):
            return f"{{each.{key}: {each} for each in {value}}}"
        return f"list({value})" if each == "each" else f"[{each} for each in {value}]"
    if origin is Mapping:
        each = _written(get_args(kind)[1], "each", names)
        return f"dict({value})" if each == "each" else f"{{name: {each} for name, each in {value}.items()}}"
    if not is_object(kind):
        return value
    names[f"write_{kind.__name__}"] = writer(kind)
    return f"write_{kind.__name__}({value})"


@cache
def reader(kind: Any) -> Convert:
    """What turns the JSON that `writer` gives for values of a type into the values."""
    names: _Names = {"kind": kind}
    if not is_object(kind):
        return _function("row", _read(kind, "row", names), names)
    if kind.__name__ in LISTS:
        return _function("row", "kind(*row)", names)
    names["known"] = frozenset(part.name for part in members(kind))
    defaults = {field.name: field.default for field in fields(kind)} if is_dataclass(kind) else {}
    arguments = [
        f"{part.attribute}={_argument(part, defaults.get(part.attribute, MISSING), names)}"
        for part in members(kind)
        if not part.is_derived
    ]
    if key := KEYS.get(kind.__name__):
        return _function("row, key", f"kind({key}=key, {', '.join(arguments)})", names)
    return _function("row", f"kind({', '.join(arguments)})", names)


def _argument(part: JsonMember, default: Any, names: _Names) -> str:
    """The expression for the value of a field; None in place of a value that has a default is the default."""
    if part.is_spread:
        return "{name: value for name, value in row.items() if name not in known}"
    if part.is_optional and default is MISSING:
        default = part.empty
    names[f"default_{part.name}"] = None if default is MISSING else default
    found = f"row[{part.name!r}]" if default is MISSING else f"row.get({part.name!r})"
    read = _read(given(part.type), "found", names)
    if read == "found" and names[f"default_{part.name}"] is None:
        return found
    if default is MISSING and given(part.type) is part.type:
        return _read(part.type, found, names)
    return f"default_{part.name} if (found := {found}) is None else {read}"


def _read(kind: Any, row: str, names: _Names) -> str:
    """The expression for the value whose JSON the expression `row` gives."""
    if given(kind) is not kind:
        value = _read(given(kind), row, names)
        return value if value == row else f"(None if {row} is None else {value})"
    origin = get_origin(kind)
    if origin in (tuple, Mapping):
        item = get_args(kind)[0 if origin is tuple else 1]
        each = _read(item, "each", names)
        if getattr(item, "__name__", "") in KEYS:
            each = f"read_{item.__name__}(each, name)"
            values = f"[{each} for name, each in {row}.items()]"
            return f"tuple({values})" if origin is tuple else f"{{name: {each} for name, each in {row}.items()}}"
        if origin is tuple:
            return f"tuple({row})" if each == "each" else f"tuple([{each} for each in {row}])"
        return f"dict({row})" if each == "each" else f"{{name: {each} for name, each in {row}.items()}}"
    if not is_object(kind):
        return row
    names[f"read_{kind.__name__}"] = reader(kind)
    return f"read_{kind.__name__}({row})"


def _function(arguments: str, body: str, names: _Names) -> Convert:
    made: Convert = eval(f"lambda {arguments}: {body}", names)
    return made


def _label_to_dict(label: Label) -> dict[str, Any]:
    row = {"rater": label.rater, **label.grades, "violations": list(label.violations)}
    return row | ({"reason": label.reason} if label.reason else {})


def _labels(value: Any) -> Iterable[Label]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise wrong_type("labels", value, "a list of objects {rater, accuracy, …}")
    return [_label(label, at) for at, label in enumerate(value)]


def _label(label: Any, at: int) -> Label:
    if not isinstance(label, Mapping):
        raise wrong_type(f"labels[{at}]", label, "an object {rater, accuracy, …}")
    violations = label.get("violations") or []
    if not isinstance(violations, list) or not all(isinstance(kind, str) for kind in violations):
        raise wrong_type(f"labels[{at}].violations", violations, "a list of strings")
    named = {k: v for k, v in label.items() if k not in ("rater", "violations", "reason")}
    return Label(
        rater=str(label.get("rater") or at),
        grades={criterion: _grade(grade, f"labels[{at}].{criterion}") for criterion, grade in named.items()},
        violations=tuple(violations),
        reason=_reason(label.get("reason"), f"labels[{at}].reason"),
    )


def _reason(reason: Any, field: str) -> str:
    if reason is not None and not isinstance(reason, str):
        raise wrong_type(field, reason, "a string")
    return reason or ""


def _grade(grade: Any, field: str) -> int | None:
    if grade is None:
        return None
    if (
        isinstance(grade, bool)
        or not isinstance(grade, int | float)
        or (isinstance(grade, float) and not grade.is_integer())
    ):
        raise wrong_type(field, grade, "a whole number or null")
    return int(grade)
