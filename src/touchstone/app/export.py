"""Reviewed replies -> labelled cases, ready for a gold set; reviews one by one; the weekly report in each format."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from touchstone.app.review import reviewed_items
from touchstone.app.rubrics import rubric_of
from touchstone.core.case import Case, Label
from touchstone.core.codec import case_to_dict
from touchstone.core.result import Grading
from touchstone.report.html import render_weekly_html
from touchstone.report.weekly import weekly_to_csv, weekly_to_dict
from touchstone.review.found import ReviewedItem
from touchstone.review.review import Review, Ruling, current, grading_of
from touchstone.review.weekly import WeeklyReport
from touchstone.rubric.model import SAFETY
from touchstone.store.runs import Store


def labelled_cases(store: Store, queue_id: str) -> Iterator[dict[str, Any]]:
    """The reviewed cases of a queue as rows of a gold set, labelled by everybody whose review stands."""
    run = store.queues.get(queue_id).run
    for each in reviewed_items(store, queue_id):
        case = store.replies.at(run, each.item.result).case
        if case is not None and (labels := labels_of(each)):
            yield case_to_dict(_labelled(case, labels))


def promoted_cases(store: Store, *, run: str | None = None) -> Iterator[dict[str, Any]]:
    """The cases that were marked for a gold set, of one run or of all, with the labels of every review they have."""
    labels: dict[tuple[str, int], tuple[Label, ...]] = {}
    for queue in store.queues.list():
        for each in reviewed_items(store, queue.id):
            place = (queue.run, each.item.result)
            labels[place] = (*labels.get(place, ()), *labels_of(each))
    for promotion in store.marks.promoted(run=run):
        case = store.replies.at(promotion.run, promotion.result).case
        if case is not None:
            yield case_to_dict(_labelled(case, labels.get((promotion.run, promotion.result), ())))


def review_rows(store: Store, queue_id: str) -> Iterator[dict[str, Any]]:
    """Every review and ruling that stands, one row each, without the reply's text."""
    queue = store.queues.get(queue_id)
    rubric = rubric_of(store, queue.run)
    for each in reviewed_items(store, queue_id):
        head = {name: value for name, value in asdict(each.item).items() if name != "result"}
        for review in current(each.reviews):
            grading = grading_of(review, rubric=rubric)
            yield head | _said(review, by=review.reviewer, kind="review", words=review.note) | _ends(grading)
        if each.ruling is not None:
            grading = grading_of(each.ruling, rubric=rubric)
            yield head | _said(each.ruling, by=each.ruling.by, kind="ruling", words=each.ruling.reason) | _ends(grading)


def labels_of(each: ReviewedItem) -> tuple[Label, ...]:
    """People's words on an item as labels of its case; a ruling stands in place of those it settles."""
    if each.ruling is not None:
        ruling = each.ruling
        return (Label(ruling.by, dict(ruling.grades), _kinds(ruling), ruling.reason),)
    return tuple(
        Label(review.reviewer, dict(review.grades), _kinds(review), review.note) for review in current(each.reviews)
    )


def _labelled(case: Case, labels: tuple[Label, ...]) -> Case:
    # A label names violations; the grade for safety follows from them.
    graded = [{name: grade for name, grade in label.grades.items() if name != SAFETY} for label in labels]
    added = (replace(label, grades=grades) for label, grades in zip(labels, graded, strict=True))
    return replace(case, labels=(*case.labels, *added))


def _said(word: Review | Ruling, *, by: str, kind: str, words: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "by": by,
        "made": word.made,
        "grades": dict(word.grades),
        "violations": [{"kind": v.kind, "start": v.start, "end": v.end} for v in word.violations],
        "note": words,
    }


def _ends(grading: Grading) -> dict[str, Any]:
    return {"total": grading.total, "outcome": grading.outcome}


def _kinds(word: Review | Ruling) -> tuple[str, ...]:
    return tuple(sorted({violation.kind for violation in word.violations}))


def _json(report: WeeklyReport, *, indent: int | None = 2) -> str:
    return json.dumps(weekly_to_dict(report), ensure_ascii=False, allow_nan=False, indent=indent) + "\n"


# The weekly report in every format it is exported in.
WEEKLY_RENDERERS: Mapping[str, Callable[[WeeklyReport], str]] = {
    "html": render_weekly_html,
    "csv": weekly_to_csv,
    "json": _json,
    "jsonl": partial(_json, indent=None),
}
