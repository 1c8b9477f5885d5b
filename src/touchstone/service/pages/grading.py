"""The form that grades a reply: what it shows, what is read from it, and what everybody said of the reply side by side.

Spans are counted in the text as it is shown.
"""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.datastructures import FormData

from touchstone.app.review import ItemView
from touchstone.core.errors import ReviewError
from touchstone.core.result import Finding, Grading
from touchstone.report.figures import points
from touchstone.report.plain import plain_places
from touchstone.review.review import current, grading_of
from touchstone.rubric.card import conventions
from touchstone.rubric.model import TOP, Rubric
from touchstone.service.pages.sources import cut_reply, sources_of

CANNOT_TELL = "none"


async def _sent(request: Request) -> FormData:
    return await request.form()


SentForm = Annotated[FormData, Depends(_sent)]


@dataclass(frozen=True, slots=True)
class Scale:
    """One criterion of the form: the grades to choose from, and what each means."""

    name: str
    weight: float
    question: str
    levels: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Voice:
    """What one of those who graded a reply said."""

    name: str
    grades: dict[str, str]
    total: str
    outcome: str
    violations: tuple[str, ...]
    note: str


def form_values(view: ItemView, *, full: bool) -> dict[str, Any]:
    """What a form that grades a reply shows: the conversation, the sources and the scales, nothing of the judge."""
    case = view.scored.case
    return {
        "queue": view.queue,
        "item": view.item,
        **cut_reply(reply_of(view), is_whole=full),
        "sources": sources_of(case, None, is_whole=full) if case else (),
        "has_context": case is not None and case.context is not None,
        "scales": scales_of(view.rubric),
        "kinds": tuple(view.rubric.violations.items()),
        "conventions": conventions(view.rubric),
        "conventions_version": view.rubric.conventions.version,
    }


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


def reply_of(view: ItemView) -> str:
    """The reply as it was given; empty when its text was erased."""
    return view.scored.case.response if view.scored.case else ""


def read_form(form: FormData, *, rubric: Rubric, reply: str) -> dict[str, Any]:
    """Grades, violations and note as a review's body has them; ReviewError for what no form of ours sends."""
    grades = {}
    for criterion in rubric.criteria:
        text = form.get(f"grade.{criterion.name}")
        if not isinstance(text, str) or not text:
            raise ReviewError(f"{criterion.name.replace('_', ' ')} has no grade: give one, or ? where you cannot tell")
        grades[criterion.name] = None if text == CANNOT_TELL else text
    violations = _violations(str(form.get("violations") or "[]"), reply=reply)
    return {"grades": grades, "violations": violations, "note": str(form.get("note") or "")}


def submission_id(form: FormData) -> str:
    """The id a form came with, so that what is sent twice counts once."""
    text = str(form.get("id") or "")
    if not text.isalnum() or len(text) > 64:
        raise ReviewError("the submission has no id: load the page again")
    return text


def to_draft(grades: Mapping[str, int | None], violations: Sequence[Finding], note: str, *, reply: str) -> str:
    """The JSON that the form's script reads and saves."""
    places = plain_places(reply)
    marks = [
        {"kind": each.kind, "start": bisect_left(places, each.start), "end": bisect_left(places, each.end)}
        for each in violations
    ]
    shown = {name: CANNOT_TELL if grade is None else str(grade) for name, grade in grades.items()}
    return json.dumps({"grades": shown, "violations": marks, "note": note})


def read_draft(text: str) -> dict[str, Any]:
    """What the form's script sent; ReviewError for what it never sends."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ReviewError("the draft cannot be read: load the page again")
    return found


def people_of(view: ItemView, *, first: str | None = None) -> list[Voice]:
    """What people said of a reply: the person's own word first."""
    ordered = sorted(current(view.reviews), key=lambda each: (each.reviewer != first, each.made))
    return [
        _voice("You" if each.reviewer == first else each.reviewer, grading_of(each, rubric=view.rubric), each.note)
        for each in ordered
    ]


def voices_of(view: ItemView, *, first: str | None = None) -> list[Voice]:
    """Everybody's word on a reply: people's, the judge's and the ruling."""
    voices = people_of(view, first=first)
    if view.scored.result.rubric is not None:
        voices.append(_voice("Judge", view.scored.result.rubric, ""))
    if view.ruling is not None:
        grading = grading_of(view.ruling, rubric=view.rubric)
        voices.append(_voice(f"Adjudicated by {view.ruling.by}", grading, view.ruling.reason))
    return voices


def _voice(name: str, grading: Grading, note: str) -> Voice:
    return Voice(
        name,
        {each.criterion: "not graded" if each.grade is None else str(each.grade) for each in grading.grades},
        points(grading.total),
        grading.outcome or "not scored",
        tuple(dict.fromkeys(violation.kind for violation in grading.violations)),
        note,
    )


def _violations(text: str, *, reply: str) -> list[dict[str, Any]]:
    """The violations marked, with their spans in the reply as it was given."""
    places = [*plain_places(reply), len(reply)]
    last = len(places) - 1
    marks = []
    try:
        found = [(each["kind"], int(each["start"]), int(each["end"])) for each in json.loads(text)]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ReviewError("the violations cannot be read: load the page again") from error
    for kind, start, end in found:
        if not 0 <= start <= end <= last:
            raise ReviewError(f"the span {start} to {end} is outside the reply, which shows {last} characters")
        # The end is where the last character chosen ends, not where the next one shown begins.
        marks.append({"kind": kind, "start": places[start], "end": places[end - 1] + 1 if end > start else places[end]})
    return marks
