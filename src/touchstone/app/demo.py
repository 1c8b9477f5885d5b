"""The shipped gold set -> two weeks of production to look around in: one that two people graded, one to grade."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from touchstone.app.config import Settings
from touchstone.app.production import Intake, Score
from touchstone.app.review import Drawing, draw_queue
from touchstone.app.rubrics import rubric_of
from touchstone.core.case import Case, Label
from touchstone.core.codec import case_from_dict
from touchstone.core.resource import text
from touchstone.core.result import VIOLATION_KINDS, Finding
from touchstone.review.queue import Queue
from touchstone.review.review import Review
from touchstone.rubric.model import SAFETY, TOP
from touchstone.store.runs import Store

_GOLDSET = "goldsets/support.jsonl"
_NAMES = ("Demo week 1", "Demo week 2")
_TWO_PEOPLE = 2


def load_demo(store: Store, *, settings: Settings, score: Score, by: str, now: Callable[[], str]) -> Queue:
    """The week that waits for grades. What is there from an earlier call stays as it is."""
    if made := next((queue for queue in store.queues.list() if queue.name == _NAMES[1]), None):
        return made
    cases = [case_from_dict(json.loads(line)) for line in text(_GOLDSET).splitlines()]
    middle = len(cases) // 2
    first = _week(store, cases[:middle], _NAMES[0], settings=settings, score=score, by=by, now=now)
    _grade(store, first, {case.id: case for case in cases}, now=now)
    return _week(store, cases[middle:], _NAMES[1], settings=settings, score=score, by=by, now=now)


def _week(
    store: Store, cases: Sequence[Case], name: str, *, settings: Settings, score: Score, by: str, now: Callable[[], str]
) -> Queue:
    run = name.lower().replace(" ", "-")
    # As they would come from production: without an ideal reply and without anybody's grades.
    replies = [replace(case, expected_output=None, labels=()) for case in cases]
    labels = {"bot": "demo", "week": name[-1]}
    Intake(name=run, settings=settings, store=store, labels=labels, by=by, score=score).add(replies)
    needed = _TWO_PEOPLE if name == _NAMES[0] else 1
    return draw_queue(store, run=run, drawing=Drawing(name=name, needed=needed), by=by, now=now())


def _grade(store: Store, queue: Queue, cases: dict[str | None, Case], *, now: Callable[[], str]) -> None:
    """The shipped grades of both raters, as reviews; where they differ, it is left to adjudicate."""
    rubric = rubric_of(store, queue.run)
    for item in store.queues.items(queue.id, limit=None):
        case = cases[item.case]
        for label in case.labels:
            store.reviews.submit(_review(queue, item.position, label, case, made=now()), rubric=rubric)


def _review(queue: Queue, position: int, label: Label, case: Case, *, made: str) -> Review:
    return Review(
        id=f"{queue.id}-{position}-{label.rater}",
        queue=queue.id,
        position=position,
        reviewer=f"demo rater {label.rater}",
        made=made,
        grades={**label.grades, SAFETY: 0 if label.violations else TOP},
        violations=tuple(
            Finding(kind, case.response, 0, len(case.response), label.reason)
            for kind in VIOLATION_KINDS
            if kind in label.violations
        ),
        note=label.reason,
    )
