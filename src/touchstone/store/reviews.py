"""Reviews and rulings: appended with who and when, never overwritten; what was acknowledged is stored for good."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy import insert, select, update

from touchstone.core.errors import ReviewError
from touchstone.review.queue import Item
from touchstone.review.review import Review, Ruling, check_review, current, state_of
from touchstone.rubric.model import Rubric
from touchstone.store.database import Database
from touchstone.store.pages import NO_CURSOR
from touchstone.store.queues import (
    MARKED,
    check_queue_open,
    claims,
    drop_aid,
    find_item,
    find_queue,
    is_current,
    item_key,
    put_aid,
    queue_items,
    queues,
    reviews,
)
from touchstone.store.results import cases, results
from touchstone.store.tables import Json, Words, from_json, from_row, keys, metadata, needed, to_row

rulings = sa.Table(
    "rulings",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("id", sa.String(64), nullable=False, unique=True),
    *needed(sa.Integer, "queue", "position"),
    sa.Column("by", Words, nullable=False),
    sa.Column("made", sa.String(40), nullable=False),
    sa.Column("grades", Json(Mapping[str, int | None]), nullable=False),
    sa.Column("violations", MARKED, nullable=False),
    sa.Column("reason", Words, nullable=False),
    item_key(),
    sqlite_autoincrement=True,
)
sa.Index("rulings_by_item", rulings.c.queue, rulings.c.position, rulings.c.number)

drafts = sa.Table(
    "drafts",
    metadata,
    *keys(sa.Integer, "queue", "position"),
    sa.Column("reviewer", Words, primary_key=True),
    sa.Column("body", Words, nullable=False),
    sa.Column("saved", sa.String(40), nullable=False),
    item_key(cascades=True),
)


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
        with self._database.writing():
            queue = find_queue(self._database, review.queue)
            if (kept := self._kept(review)) is not None:
                return Submitted(kept, find_item(self._database, queue, kept.position), repeated=True)
            check_queue_open(queue, review.reviewer)
            item = find_item(self._database, queue, review.position)
            check_review(review, rubric=rubric, reply=self._reply(queue, item))
            _check_succession(review, self._of_item(queue, review.position))
            self._database.write(insert(reviews), to_row(reviews, review, queue=queue.number))
            for table in (claims, drafts):
                drop_aid(self._database, table, queue, review.position, review.reviewer)
            return Submitted(review, self._update_state(queue, item, rubric=rubric))

    def withdraw(self, review_id: str, *, queue: str, id: str, by: str, made: str, rubric: Rubric) -> Submitted:
        """Takes a review back; it is kept, and so is the withdrawal."""
        with self._database.writing():
            here = (reviews.c.id == review_id, reviews.c.queue == find_queue(self._database, queue).number)
            found = self._database.first(select(reviews.c.position, reviews.c.reviewer).where(*here))
            if found is None:
                raise ReviewError(f"the queue {queue} has no review '{review_id}'", kind="unknown")
            if found.reviewer != by:
                raise ReviewError(f"the review is {found.reviewer}'s: only they can take it back", kind="forbidden")
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
        """All reviews of an item in the order they were made, also those that no longer count."""
        with self._database.reading():
            return self._of_item(find_queue(self._database, queue), position)

    def of_queue(self, queue: str) -> dict[int, tuple[Review, ...]]:
        """All reviews of a queue by the item's position."""
        found: dict[int, list[Review]] = defaultdict(list)
        with self._database.reading():
            here = reviews.c.queue == find_queue(self._database, queue).number
            rows = self._database.rows(select(reviews).where(here).order_by(reviews.c.position, reviews.c.number))
        for row in rows:
            found[row.position].append(from_row(Review, row, queue=queue))
        return {position: tuple(group) for position, group in found.items()}

    def mine(self, queue: str, reviewer: str, *, after: str | None = None, limit: int = 50) -> tuple[Review, ...]:
        """A person's reviews that count, the newest first; those older than `after`, which may count no more."""
        with self._database.reading():
            number = find_queue(self._database, queue).number
            here = (reviews.c.queue == number, reviews.c.reviewer == reviewer)
            query = select(reviews).where(*here, is_current()).order_by(reviews.c.number.desc()).limit(limit)
            if after is not None:
                last = self._database.scalar(select(reviews.c.number).where(*here, reviews.c.id == after))
                if last is None:
                    raise ReviewError(NO_CURSOR)
                query = query.where(reviews.c.number < last)
            return tuple(from_row(Review, row, queue=queue) for row in self._database.rows(query))

    def save_draft(self, queue: str, position: int, reviewer: str, *, body: str, at: str) -> None:
        """Keeps what a person has entered so far; the last one counts."""
        with self._database.writing():
            row = find_queue(self._database, queue)
            find_item(self._database, row, position)
            put_aid(self._database, drafts, row, position, reviewer, body=body, saved=at)

    def draft(self, queue: str, position: int, reviewer: str) -> str | None:
        with self._database.reading():
            number = find_queue(self._database, queue).number
            here = (drafts.c.queue == number, drafts.c.position == position, drafts.c.reviewer == reviewer)
            found: str | None = self._database.scalar(select(drafts.c.body).where(*here))
            return found

    def rule(self, ruling: Ruling, *, rubric: Rubric) -> Item:
        """Keeps a lead's word on an item; the item is settled."""
        with self._database.writing():
            queue = find_queue(self._database, ruling.queue)
            item = find_item(self._database, queue, ruling.position)
            if self._database.scalar(select(rulings.c.id).where(rulings.c.id == ruling.id)) is not None:
                return item
            _check_ruling(ruling, rubric=rubric, reply=self._reply(queue, item))
            self._database.write(insert(rulings), to_row(rulings, ruling, queue=queue.number))
            return self._update_state(queue, item, rubric=rubric)

    def ruling(self, queue: str, position: int) -> Ruling | None:
        """The last ruling on an item."""
        return self.rulings(queue, position=position).get(position)

    def rulings(self, queue: str, *, position: int | None = None) -> dict[int, Ruling]:
        """The last ruling on each item that has one."""
        with self._database.reading():
            query = select(rulings).where(rulings.c.queue == find_queue(self._database, queue).number)
            query = query.order_by(rulings.c.number)
            rows = self._database.rows(query if position is None else query.where(rulings.c.position == position))
        return {row.position: from_row(Ruling, row, queue=queue) for row in rows}

    def _kept(self, review: Review) -> Review | None:
        """The review of this id, if it was submitted before; ReviewError when it says something else."""
        query = select(reviews, queues.c.id.label("queue_id")).join(queues, queues.c.number == reviews.c.queue)
        row = self._database.first(query.where(reviews.c.id == review.id))
        if row is None:
            return None
        kept = from_row(Review, row, queue=row.queue_id)
        if replace(kept, made=review.made, seconds=review.seconds) != review:
            raise ReviewError("another review was submitted under this id: reload the page", kind="conflict")
        return kept

    def _of_item(self, queue: sa.Row[Any], position: int) -> tuple[Review, ...]:
        here = (reviews.c.queue == queue.number, reviews.c.position == position)
        rows = self._database.rows(select(reviews).where(*here).order_by(reviews.c.number))
        return tuple(from_row(Review, row, queue=queue.id) for row in rows)

    def _update_state(self, queue: sa.Row[Any], item: Item, *, rubric: Rubric) -> Item:
        counted, ruling = current(self._of_item(queue, item.position)), self.ruling(queue.id, item.position)
        state = state_of(counted, ruling, needed=queue.needed, rubric=rubric)
        here = (queue_items.c.queue == queue.number, queue_items.c.position == item.position)
        self._database.write(update(queue_items).where(*here).values(state=state))
        return replace(item, state=state)

    def _reply(self, queue: sa.Row[Any], item: Item) -> str:
        """The text that spans refer to."""
        of_run = results.c.run == select(queues.c.run).where(queues.c.number == queue.number).scalar_subquery()
        query = select(cases.c.body).join(results).where(of_run, results.c.position == item.result)
        body = self._database.scalar(query)
        return "" if body is None else str(from_json(body)["response"])


def _check_succession(review: Review, earlier: tuple[Review, ...]) -> None:
    """A person has one review of an item that counts; an edit names it, so that no edit is lost unseen."""
    own = next((each for each in current(earlier) if each.reviewer == review.reviewer), None)
    if review.supersedes is None and own is None:
        return
    if own is None or review.supersedes != own.id:
        raise ReviewError(
            "you have a newer review of this reply, made elsewhere or before: reload to see it", kind="conflict"
        )


def _check_ruling(ruling: Ruling, *, rubric: Rubric, reply: str) -> None:
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
