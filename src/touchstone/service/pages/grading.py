"""What a form says of a reply <-> grades, violations and a note. Spans are counted in the text as it is shown."""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import FormData

from touchstone.core.errors import ReviewError
from touchstone.core.result import VIOLATION_KINDS, Finding
from touchstone.report.plain import plain_places
from touchstone.rubric.model import TOP, Rubric

CANNOT_TELL = "none"
_GRADE = "grade."


@dataclass(frozen=True, slots=True)
class Given:
    """What somebody has filled in."""

    grades: Mapping[str, int | None]
    violations: tuple[Finding, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Scale:
    """One criterion of the form: the grades to choose from, and what each means."""

    name: str
    weight: float
    question: str
    levels: tuple[tuple[int, str], ...]


def scales_of(rubric: Rubric) -> tuple[Scale, ...]:
    """The rubric's criteria as the form shows them, the lowest grade first."""
    return tuple(
        Scale(
            criterion.name,
            criterion.weight,
            criterion.question or criterion.summary,
            tuple((level, criterion.levels.get(level, "")) for level in sorted(criterion.levels) or range(TOP + 1)),
        )
        for criterion in rubric.criteria
    )


def read_form(form: FormData, *, rubric: Rubric, reply: str) -> Given:
    """What was sent; ReviewError for what no form of ours sends."""
    grades = {}
    for criterion in rubric.criteria:
        text = form.get(f"{_GRADE}{criterion.name}")
        if not isinstance(text, str) or not text:
            raise ReviewError(f"{criterion.name.replace('_', ' ')} has no grade: give one, or ? where you cannot tell")
        grades[criterion.name] = None if text == CANNOT_TELL else _whole(text, criterion.name)
    note = form.get("note")
    return Given(
        grades, _violations(str(form.get("violations") or "[]"), reply=reply), note if isinstance(note, str) else ""
    )


def to_draft(given: Given, *, reply: str) -> str:
    """The JSON that the form's script reads and saves."""
    places = plain_places(reply)
    marks = [
        {"kind": each.kind, "start": bisect_left(places, each.start), "end": bisect_left(places, each.end)}
        for each in given.violations
    ]
    grades = {name: CANNOT_TELL if grade is None else str(grade) for name, grade in given.grades.items()}
    return json.dumps({"grades": grades, "violations": marks, "note": given.note})


def marks_of(given: Given) -> list[dict[str, Any]]:
    """The violations as a command takes them: their text follows from the reply."""
    return [{"kind": each.kind, "start": each.start, "end": each.end} for each in given.violations]


def read_draft(text: str) -> dict[str, Any]:
    """What the form's script sent; ReviewError for what it never sends."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ReviewError("the draft cannot be read: load the page again")
    return found


def _violations(text: str, *, reply: str) -> tuple[Finding, ...]:
    try:
        found = json.loads(text)
        marks = [(str(each["kind"]), int(each["start"]), int(each["end"])) for each in found]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ReviewError("the violations cannot be read: load the page again") from error
    places = [*plain_places(reply), len(reply)]
    return tuple(_violation(kind, start, end, reply=reply, places=places) for kind, start, end in marks)


def _violation(kind: str, start: int, end: int, *, reply: str, places: Sequence[int]) -> Finding:
    known = next((each for each in VIOLATION_KINDS if each == kind), None)
    if known is None:
        raise ReviewError(f"violation '{kind}' is not known: allowed are {', '.join(VIOLATION_KINDS)}")
    last = len(places) - 1
    if not 0 <= start <= end <= last:
        raise ReviewError(f"the span {start} to {end} is outside the reply, which shows {last} characters")
    first = places[start]
    # The end is where the last character chosen ends, not where the next one shown begins.
    stop = places[end - 1] + 1 if end > start else first
    return Finding(known, reply[first:stop], first, stop, "")


def _whole(text: str, name: str) -> int:
    if not text.isdecimal() or len(text) > 2:
        raise ReviewError(f"{name} is '{text[:20]}': allowed are 0 to {TOP}")
    return int(text)


def shown_grades(grades: Mapping[str, Any]) -> dict[str, str]:
    """The grades as they stand in a table."""
    return {name: "not graded" if grade is None else str(grade) for name, grade in grades.items()}
