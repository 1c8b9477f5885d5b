"""Reviews and rulings: appended with who and when, never overwritten; what was acknowledged is stored for good."""

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, insert, select, update

from touchstone.core.errors import ReviewError
from touchstone.review.adjudication import Ruling, state_of
from touchstone.review.queue import Item
from touchstone.review.review import Review, check_review, check_violations, current
from touchstone.rubric.model import Rubric
from touchstone.store.columns import from_json
from touchstone.store.database import Database
from touchstone.store.pages import NO_CURSOR
from touchstone.store.queues import check_queue_open, find_item, find_queue, stands
from touchstone.store.review_rows import (
    REVIEW_COLUMNS,
    RULING_COLUMNS,
    review_from_row,
    review_to_row,
    ruling_from_row,
    ruling_to_row,
)
from touchstone.store.review_schema import claims, drafts, queue_items, queues, reviews, rulings
from touchstone.store.schema import cases, results


@dataclass(frozen=True, slots=True)
class Submitted:
    """The review as it is kept and the item as it is now; `repeated` when it had been submitted before."""

    review: Review
    item: Item
    repeated: bool = False


class Reviews:
    """What people said about the items of queues."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def submit(self, review: Review, *, rubric: Rubric) -> Submitted:
        """Keeps a review; ReviewError when it does not fit, or when this person has a newer one of the item."""
        with self._database.writing() as connection:
            queue = find_queue(connection, review.queue, locks=True)
            if (kept := self._kept(connection, review)) is not None:
                return Submitted(
                    kept, find_item(connection, queue.number, kept.position, queue=queue.id), repeated=True
                )
            check_queue_open(queue, review.reviewer)
            item = find_item(connection, queue.number, review.position, queue=queue.id)
            check_review(review, rubric=rubric, reply=_reply(connection, queue.number, review.position))
            earlier = _of_item(connection, queue, review.position)
            _check_succession(review, earlier)
            connection.execute(insert(reviews), review_to_row(review, queue=queue.number))
            _clear_aids(connection, queue.number, review)
            return Submitted(review, _update_state(connection, queue, item, rubric=rubric))

    def withdraw(self, review_id: str, *, queue: str, id: str, by: str, made: str, rubric: Rubric) -> Submitted:
        """Takes a review back; it is kept, and so is the withdrawal."""
        with self._database.reading() as connection:
            here = (reviews.c.id == review_id, reviews.c.queue == find_queue(connection, queue).number)
            found = connection.execute(select(reviews.c.position, reviews.c.reviewer).where(*here)).first()
        if found is None:
            raise ReviewError(f"the queue {queue} has no review '{review_id}'", kind="unknown")
        if found.reviewer != by:
            raise ReviewError(f"the review is {found.reviewer}'s: only they can take it back")
        withdrawal = Review(
            id=id,
            queue=queue,
            position=found.position,
            reviewer=by,
            made=made,
            supersedes=review_id,
            withdrawn=True,
        )
        return self.submit(withdrawal, rubric=rubric)

    def of_item(self, queue: str, position: int) -> tuple[Review, ...]:
        """All reviews of an item in the order they were made, also those that no longer stand."""
        with self._database.reading() as connection:
            return _of_item(connection, find_queue(connection, queue), position)

    def of_queue(self, queue: str) -> dict[int, tuple[Review, ...]]:
        """All reviews of a queue by the item's position."""
        found: dict[int, list[Review]] = defaultdict(list)
        with self._database.reading() as connection:
            number = find_queue(connection, queue).number
            query = select(*REVIEW_COLUMNS).where(reviews.c.queue == number).order_by(reviews.c.number)
            for row in connection.execute(query):
                found[row.position].append(review_from_row(row, queue=queue))
        return {position: tuple(group) for position, group in sorted(found.items())}

    def mine(self, queue: str, reviewer: str, *, after: str | None = None, limit: int = 50) -> tuple[Review, ...]:
        """A person's reviews that stand, the newest first; those older than `after`, which may stand no more."""
        with self._database.reading() as connection:
            here = (reviews.c.queue == find_queue(connection, queue).number, reviews.c.reviewer == reviewer)
            query = select(*REVIEW_COLUMNS).where(*here, stands()).order_by(reviews.c.number.desc()).limit(limit)
            if after is not None:
                last = connection.scalar(select(reviews.c.number).where(*here, reviews.c.id == after))
                if last is None:
                    raise ReviewError(NO_CURSOR)
                query = query.where(reviews.c.number < last)
            return tuple(review_from_row(row, queue=queue) for row in connection.execute(query))

    def save_draft(self, queue: str, position: int, reviewer: str, *, body: str, at: str) -> None:
        """Keeps what a person has entered so far; the last one counts."""
        with self._database.writing() as connection:
            number = find_queue(connection, queue, locks=True).number
            find_item(connection, number, position, queue=queue)
            _drop_draft(connection, number, position, reviewer)
            row = {"queue": number, "position": position, "reviewer": reviewer, "body": body, "saved": at}
            connection.execute(insert(drafts), row)

    def draft(self, queue: str, position: int, reviewer: str) -> str | None:
        with self._database.reading() as connection:
            number = find_queue(connection, queue).number
            here = (drafts.c.queue == number, drafts.c.position == position, drafts.c.reviewer == reviewer)
            found: str | None = connection.scalar(select(drafts.c.body).where(*here))
            return found

    def rule(self, ruling: Ruling, *, rubric: Rubric) -> Item:
        """Keeps a lead's word on an item; the item is settled."""
        with self._database.writing() as connection:
            queue = find_queue(connection, ruling.queue, locks=True)
            item = find_item(connection, queue.number, ruling.position, queue=queue.id)
            if connection.scalar(select(rulings.c.id).where(rulings.c.id == ruling.id)) is not None:
                return item
            _check_ruling(ruling, rubric=rubric, reply=_reply(connection, queue.number, ruling.position))
            connection.execute(insert(rulings), ruling_to_row(ruling, queue=queue.number))
            return _update_state(connection, queue, item, rubric=rubric)

    def ruling(self, queue: str, position: int) -> Ruling | None:
        """The last ruling on an item."""
        with self._database.reading() as connection:
            return _ruling(connection, find_queue(connection, queue), position)

    def rulings(self, queue: str) -> dict[int, Ruling]:
        """The last ruling on each item that has one."""
        with self._database.reading() as connection:
            number = find_queue(connection, queue).number
            query = select(*RULING_COLUMNS).where(rulings.c.queue == number).order_by(rulings.c.number)
            return {row.position: ruling_from_row(row, queue=queue) for row in connection.execute(query)}

    def _kept(self, connection: Connection, review: Review) -> Review | None:
        """The review of this id, if it was submitted before; ReviewError when it says something else."""
        query: Select[Any] = select(*REVIEW_COLUMNS, queues.c.id.label("queue_id")).where(
            queues.c.number == reviews.c.queue
        )
        row = connection.execute(query.where(reviews.c.id == review.id)).first()
        if row is None:
            return None
        kept = review_from_row(row, queue=row.queue_id)
        if replace(kept, made=review.made, seconds=review.seconds) != review:
            raise ReviewError("another review was submitted under this id: reload the page", kind="conflict")
        return kept


def _check_succession(review: Review, earlier: tuple[Review, ...]) -> None:
    """A person has one review of an item that stands; an edit names it, so that no edit is lost unseen."""
    own = next((each for each in current(earlier) if each.reviewer == review.reviewer), None)
    if review.supersedes is None and own is None:
        return
    if own is None or review.supersedes != own.id:
        raise ReviewError(
            "you have a newer review of this reply, made elsewhere or before: reload to see it", kind="conflict"
        )


def _check_ruling(ruling: Ruling, *, rubric: Rubric, reply: str) -> None:
    check_violations(ruling.violations, reply=reply)
    as_review = Review(
        id=ruling.id,
        queue=ruling.queue,
        position=ruling.position,
        reviewer=ruling.by,
        made=ruling.made,
        grades=ruling.grades,
        violations=ruling.violations,
        note=ruling.reason,
    )
    check_review(as_review, rubric=rubric, reply=reply)


def _of_item(connection: Connection, queue: Row[Any], position: int) -> tuple[Review, ...]:
    here = (reviews.c.queue == queue.number, reviews.c.position == position)
    rows = connection.execute(select(*REVIEW_COLUMNS).where(*here).order_by(reviews.c.number))
    return tuple(review_from_row(row, queue=queue.id) for row in rows)


def _ruling(connection: Connection, queue: Row[Any], position: int) -> Ruling | None:
    here = (rulings.c.queue == queue.number, rulings.c.position == position)
    query = select(*RULING_COLUMNS).where(*here).order_by(rulings.c.number.desc()).limit(1)
    row = connection.execute(query).first()
    return None if row is None else ruling_from_row(row, queue=queue.id)


def _update_state(connection: Connection, queue: Row[Any], item: Item, *, rubric: Rubric) -> Item:
    standing = current(_of_item(connection, queue, item.position))
    ruling = _ruling(connection, queue, item.position)
    state = state_of(standing, ruling, needed=queue.needed, rubric=rubric)
    here = (queue_items.c.queue == queue.number, queue_items.c.position == item.position)
    connection.execute(update(queue_items).where(*here).values(state=state))
    return replace(item, state=state)


def _reply(connection: Connection, queue: int, position: int) -> str:
    """The text that spans refer to."""
    query = (
        select(cases.c.body)
        .select_from(cases.join(results).join(queues, queues.c.run == results.c.run))
        .join(queue_items, (queue_items.c.queue == queues.c.number) & (queue_items.c.result == results.c.position))
        .where(queue_items.c.queue == queue, queue_items.c.position == position)
    )
    body = connection.scalar(query)
    return "" if body is None else str(from_json(body)["response"])


def _clear_aids(connection: Connection, queue: int, review: Review) -> None:
    here = (claims.c.queue == queue, claims.c.position == review.position, claims.c.reviewer == review.reviewer)
    connection.execute(delete(claims).where(*here))
    _drop_draft(connection, queue, review.position, review.reviewer)


def _drop_draft(connection: Connection, queue: int, position: int, reviewer: str) -> None:
    here = (drafts.c.queue == queue, drafts.c.position == position, drafts.c.reviewer == reviewer)
    connection.execute(delete(drafts).where(*here))
