"""Queues, items, reviews, rulings and waivers <-> the columns they are kept in."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from touchstone.core.result import Finding
from touchstone.review.adjudication import Ruling
from touchstone.review.queue import Item, Queue
from touchstone.review.review import Review
from touchstone.runs.waivers import Waiver
from touchstone.store.columns import from_json, to_json
from touchstone.store.review_schema import queue_items, queues, reviews, rulings
from touchstone.store.schema import runs

QUEUE_COLUMNS = (
    queues.c.number,
    queues.c.id,
    queues.c.name,
    runs.c.id.label("run"),
    queues.c.made,
    queues.c.by,
    queues.c.needed,
    queues.c.population,
    queues.c.seed,
    queues.c.oversampling,
    queues.c.reviewers,
    queues.c.closed,
)
ITEM_COLUMNS = tuple(column for column in queue_items.c if column.name != "queue")
REVIEW_COLUMNS = tuple(column for column in reviews.c if column.name not in ("number", "queue"))
RULING_COLUMNS = tuple(column for column in rulings.c if column.name not in ("number", "queue"))


def queue_to_row(queue: Queue, *, run: int) -> dict[str, Any]:
    return {
        "id": queue.id,
        "name": queue.name,
        "run": run,
        "made": queue.made,
        "by": queue.by,
        "needed": queue.needed,
        "population": queue.population,
        "seed": queue.seed,
        "oversampling": queue.oversampling,
        "reviewers": to_json(queue.reviewers),
        "closed": queue.closed,
    }


def queue_from_row(row: Row[Any]) -> Queue:
    values = {name: value for name, value in row._mapping.items() if name not in ("number", "reviewers")}
    return Queue(**values, reviewers=tuple(from_json(row.reviewers)))


def item_to_row(item: Item, *, queue: int) -> dict[str, Any]:
    return {
        "queue": queue,
        "position": item.position,
        "result": item.result,
        "case_id": item.case,
        "draft": item.draft,
        "category": item.category,
        "inclusion": item.inclusion,
        "state": item.state,
    }


def item_from_row(row: Row[Any], *, queue: str) -> Item:
    return Item(
        queue=queue,
        position=row.position,
        result=row.result,
        case=row.case_id,
        draft=row.draft,
        category=row.category,
        inclusion=row.inclusion,
        state=row.state,
    )


def review_to_row(review: Review, *, queue: int) -> dict[str, Any]:
    return {
        "id": review.id,
        "queue": queue,
        "position": review.position,
        "reviewer": review.reviewer,
        "made": review.made,
        "grades": to_json(dict(review.grades)),
        "violations": violations_to_json(review.violations),
        "note": review.note,
        "supersedes": review.supersedes,
        "withdrawn": review.withdrawn,
        "seconds": review.seconds,
    }


def review_from_row(row: Row[Any], *, queue: str) -> Review:
    return Review(
        id=row.id,
        queue=queue,
        position=row.position,
        reviewer=row.reviewer,
        made=row.made,
        grades=from_json(row.grades),
        violations=violations_from_json(row.violations),
        note=row.note,
        supersedes=row.supersedes,
        withdrawn=row.withdrawn,
        seconds=row.seconds,
    )


def ruling_to_row(ruling: Ruling, *, queue: int) -> dict[str, Any]:
    return {
        "id": ruling.id,
        "queue": queue,
        "position": ruling.position,
        "by": ruling.by,
        "made": ruling.made,
        "grades": to_json(dict(ruling.grades)),
        "violations": violations_to_json(ruling.violations),
        "reason": ruling.reason,
    }


def ruling_from_row(row: Row[Any], *, queue: str) -> Ruling:
    return Ruling(
        id=row.id,
        queue=queue,
        position=row.position,
        by=row.by,
        made=row.made,
        grades=from_json(row.grades),
        violations=violations_from_json(row.violations),
        reason=row.reason,
    )


def waiver_to_row(waiver: Waiver, *, run: int) -> dict[str, Any]:
    return {
        "id": waiver.id,
        "run": run,
        "result": waiver.result,
        "kind": waiver.kind,
        "start": waiver.start,
        "end": waiver.end,
        "by": waiver.by,
        "made": waiver.made,
        "reason": waiver.reason,
        "withdrawn": waiver.withdrawn,
    }


def waiver_from_row(row: Row[Any], *, run: str) -> Waiver:
    values: Mapping[str, Any] = {n: v for n, v in row._mapping.items() if n not in ("number", "run")}
    return Waiver(run=run, **values)


def violations_to_json(violations: Sequence[Finding]) -> str:
    return to_json([[v.kind, v.text, v.start, v.end, v.reason] for v in violations])


def violations_from_json(text: str) -> tuple[Finding, ...]:
    return tuple(Finding(*each) for each in from_json(text))
