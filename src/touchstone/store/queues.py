"""Queues of replies that wait for reviews: made once, handed out item by item, closed by a lead."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, delete, exists, func, insert, or_, select, update

from touchstone.core.errors import ReviewError
from touchstone.review.queue import DOUBLE, SINGLE, Item, Progress, Queue, State
from touchstone.store.columns import from_json
from touchstone.store.database import Database
from touchstone.store.review_rows import (
    ITEM_COLUMNS,
    QUEUE_COLUMNS,
    item_from_row,
    item_to_row,
    queue_from_row,
    queue_to_row,
)
from touchstone.store.review_schema import claims, queue_items, queues, reviews, skips
from touchstone.store.schema import results, runs

# How long an item is kept for the person who opened it: half an hour of silence gives it back.
LEASE_SECONDS = 1800
_CHUNK = 1000
_QUEUES: Select[Any] = select(*QUEUE_COLUMNS).select_from(queues.join(runs))


@dataclass(frozen=True, slots=True)
class Mine:
    """How far one person is with a queue: items done, put off, and left for them."""

    done: int
    skipped: int
    left: int


class Queues:
    """Queues by id; `ReviewError` of kind `unknown` where there is none."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, queue: Queue, items: Sequence[Item], *, is_counted: bool = False) -> None:
        """A new queue with its items, whole or not at all; `is_counted`: of as many replies as the run still has."""
        if queue.needed not in (SINGLE, DOUBLE):
            raise ReviewError(f"{queue.needed} reviews of each reply: allowed are 1 and 2")
        with self._database.writing() as connection:
            if connection.scalar(select(exists().where(queues.c.id == queue.id))):
                raise ReviewError(f"there is a queue {queue.id} already: give another id", kind="conflict")
            # On PostgreSQL, whoever adds replies to the run meanwhile waits, and is then refused.
            run = connection.scalar(select(runs.c.number).where(runs.c.id == queue.run).with_for_update())
            if run is None:
                raise ReviewError(f"there is no run '{queue.run}' to review", kind="unknown")
            if is_counted and queue.population != _count_replies(connection, run):
                raise ReviewError(f"replies were added to run {queue.run} meanwhile: draw again", kind="conflict")
            made = connection.execute(insert(queues), queue_to_row(queue, run=run))
            number = made.inserted_primary_key[0] if made.inserted_primary_key else 0
            rows = [item_to_row(item, queue=number) for item in items]
            for start in range(0, len(rows), _CHUNK):
                connection.execute(insert(queue_items), rows[start : start + _CHUNK])

    def get(self, id: str) -> Queue:
        with self._database.reading() as connection:
            return queue_from_row(find_queue(connection, id))

    def find(self, id: str) -> Queue | None:
        """The queue of this id, if there is one."""
        with self._database.reading() as connection:
            row = connection.execute(_QUEUES.where(queues.c.id == id)).first()
        return None if row is None else queue_from_row(row)

    def list(self, *, open_only: bool = False, reviewer: str | None = None) -> tuple[Queue, ...]:
        """The newest first; with `reviewer`, those this person may work on."""
        query = _QUEUES.order_by(queues.c.number.desc())
        with self._database.reading() as connection:
            found = [queue_from_row(row) for row in connection.execute(query)]
        return tuple(
            queue
            for queue in found
            if not (open_only and queue.closed) and (reviewer is None or may_review(queue, reviewer))
        )

    def close(self, id: str, *, at: str) -> Queue:
        """No more reviews are taken; those that were made stay."""
        return self._set_closed(id, at)

    def reopen(self, id: str) -> Queue:
        return self._set_closed(id, None)

    def item(self, queue: str, position: int) -> Item:
        with self._database.reading() as connection:
            number = find_queue(connection, queue).number
            return find_item(connection, number, position, queue=queue)

    def items(
        self, queue: str, *, state: State | None = None, after: int = -1, limit: int | None = 100
    ) -> tuple[Item, ...]:
        """In order, from the one after the position `after`; all of them without a limit."""
        with self._database.reading() as connection:
            number = find_queue(connection, queue).number
            query = items_query(number, state=state, after=after, limit=limit)
            return tuple(item_from_row(row, queue=queue) for row in connection.execute(query))

    def progress(self, queue: str) -> Progress:
        with self._database.reading() as connection:
            here = queue_items.c.queue == find_queue(connection, queue).number
            query = select(queue_items.c.state, func.count()).where(here).group_by(queue_items.c.state)
            return Progress(**{row[0]: row[1] for row in connection.execute(query)})

    def progress_of(self, queue: str, reviewer: str) -> Mine:
        with self._database.reading() as connection:
            number = find_queue(connection, queue).number
            mine = select(func.count(func.distinct(reviews.c.position))).where(
                reviews.c.queue == number, reviews.c.reviewer == reviewer, stands()
            )
            skipped = select(func.count()).where(
                skips.c.queue == number, skips.c.reviewer == reviewer, ~_reviewed_by(reviewer, skips.c)
            )
            # All that is open less what of it they did: the reviews of one person are fewer than a long queue's items.
            undone = select(func.count()).select_from(queue_items).where(queue_items.c.queue == number, _open())
            begun = (
                select(func.count(func.distinct(reviews.c.position)))
                .select_from(
                    reviews.join(
                        queue_items,
                        and_(queue_items.c.queue == reviews.c.queue, queue_items.c.position == reviews.c.position),
                    )
                )
                .where(reviews.c.queue == number, reviews.c.reviewer == reviewer, stands(), _open())
            )
            done, put_off, open_now, own = (connection.scalar(query) or 0 for query in (mine, skipped, undone, begun))
        return Mine(done, put_off, open_now - own)

    def to_grade(self, run: str, *, reviewer: str) -> dict[int, str]:
        """The replies of a run that this person has still to grade in open queues, each with its case's id."""
        query = (
            select(queue_items.c.result, queue_items.c.case_id, queues.c.reviewers)
            .select_from(queue_items.join(queues, queues.c.number == queue_items.c.queue).join(runs))
            .where(runs.c.id == run, queues.c.closed.is_(None), _open(), ~_reviewed_by(reviewer, queue_items.c))
        )
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        return {row.result: row.case_id for row in rows if reviewer in (named := from_json(row.reviewers)) or not named}

    def next_item(self, queue: str, *, reviewer: str, now: str, lease_seconds: float = LEASE_SECONDS) -> Item | None:
        """The item this person grades next, kept for them for a while; None when nothing is left for them.

        First what they have open, then what another person has begun, then what nobody has, then what they put off.
        """
        with self._database.writing() as connection:
            # On PostgreSQL, two people who ask at once are served one after the other.
            row = find_queue(connection, queue, locks=True)
            check_queue_open(row, reviewer)
            found = self._pick(connection, row, reviewer=reviewer, now=now)
            if found is None:
                return None
            until = (datetime.fromisoformat(now) + timedelta(seconds=lease_seconds)).isoformat()
            here = {"queue": row.number, "position": found.position, "reviewer": reviewer}
            connection.execute(delete(claims).where(*(claims.c[name] == value for name, value in here.items())))
            connection.execute(insert(claims), {**here, "until": until})
            return item_from_row(found, queue=queue)

    def skip(self, queue: str, position: int, *, reviewer: str, at: str) -> None:
        """Puts an item off: it comes again when nothing else is left."""
        with self._database.writing() as connection:
            number = find_queue(connection, queue, locks=True).number
            find_item(connection, number, position, queue=queue)
            self._drop_claim(connection, number, position, reviewer)
            here = (skips.c.queue == number, skips.c.position == position, skips.c.reviewer == reviewer)
            connection.execute(delete(skips).where(*here))
            row = {"queue": number, "position": position, "reviewer": reviewer, "made": at}
            connection.execute(insert(skips), row)

    def release(self, queue: str, position: int, *, reviewer: str) -> None:
        """Gives an item back that was kept for this person."""
        with self._database.writing() as connection:
            self._drop_claim(connection, find_queue(connection, queue).number, position, reviewer)

    def _pick(self, connection: Connection, queue: Row[Any], *, reviewer: str, now: str) -> Row[Any] | None:
        held = (claims.c.queue == queue.number, claims.c.reviewer == reviewer, claims.c.until > now)
        own = connection.scalars(select(claims.c.position).where(*held)).all()
        begun = items_query(queue.number).where(queue_items.c.position.in_(own), _open())
        for query in (
            begun,
            *(next_query(queue.number, state, reviewer=reviewer, now=now, needed=queue.needed) for state in _UNDONE),
            *(
                next_query(queue.number, state, reviewer=reviewer, now=now, needed=queue.needed, skipped=True)
                for state in _UNDONE
            ),
        ):
            row = connection.execute(query.where(~_reviewed_by(reviewer, queue_items.c)).limit(1)).first()
            if row is not None:
                return row
        return None

    def _drop_claim(self, connection: Connection, queue: int, position: int, reviewer: str) -> None:
        here = (claims.c.queue == queue, claims.c.position == position, claims.c.reviewer == reviewer)
        connection.execute(delete(claims).where(*here))

    def _set_closed(self, id: str, at: str | None) -> Queue:
        with self._database.writing() as connection:
            number = find_queue(connection, id).number
            connection.execute(update(queues).where(queues.c.number == number).values(closed=at))
            return queue_from_row(find_queue(connection, id))


def _count_replies(connection: Connection, run: int) -> int:
    here = (results.c.run == run, results.c.case_hash.is_not(None))
    return connection.scalar(select(func.count()).select_from(results).where(*here)) or 0


_UNDONE: tuple[State, ...] = ("partly", "waiting")


def find_queue(connection: Connection, id: str, *, locks: bool = False) -> Row[Any]:
    """The queue's row; with `locks`, others that want to change it wait."""
    query = _QUEUES.where(queues.c.id == id)
    row = connection.execute(query.with_for_update(of=queues) if locks else query).first()
    if row is None:
        raise ReviewError(f"there is no queue '{id}': touchstone review queue lists them", kind="unknown")
    return row


def find_item(connection: Connection, number: int, position: int, *, queue: str) -> Item:
    here = (queue_items.c.queue == number, queue_items.c.position == position)
    row = connection.execute(select(*ITEM_COLUMNS).where(*here)).first()
    if row is None:
        raise ReviewError(f"the queue {queue} has no item {position}", kind="unknown")
    return item_from_row(row, queue=queue)


def may_review(queue: Queue, reviewer: str) -> bool:
    return not queue.reviewers or reviewer in queue.reviewers


def items_query(number: int, *, state: State | None = None, after: int = -1, limit: int | None = None) -> Select[Any]:
    query = select(*ITEM_COLUMNS).where(queue_items.c.queue == number, queue_items.c.position > after)
    if state is not None:
        query = query.where(queue_items.c.state == state)
    return query.order_by(queue_items.c.position).limit(limit)


def next_query(
    number: int, state: State, *, reviewer: str, now: str, needed: int, skipped: bool = False
) -> Select[Any]:
    """Items of a state that are not all in the hands of others."""
    others = (
        select(func.count())
        .select_from(claims)
        .where(
            claims.c.queue == queue_items.c.queue,
            claims.c.position == queue_items.c.position,
            claims.c.reviewer != reviewer,
            claims.c.until > now,
        )
        .scalar_subquery()
    )
    put_off = exists().where(
        skips.c.queue == queue_items.c.queue,
        skips.c.reviewer == reviewer,
        skips.c.position == queue_items.c.position,
    )
    free = others < (needed - 1 if state == "partly" else needed)
    return items_query(number, state=state).where(free, put_off if skipped else ~put_off)


def check_queue_open(queue: Row[Any], reviewer: str) -> None:
    if queue.closed is not None:
        raise ReviewError(f"the queue {queue.id} is closed: a lead can open it again", kind="closed")
    if not may_review(queue_from_row(queue), reviewer):
        raise ReviewError(f"the queue {queue.id} is not for {reviewer}: a lead names its reviewers")


def _open() -> ColumnElement[bool]:
    return or_(*(queue_items.c.state == state for state in _UNDONE))


def stands() -> ColumnElement[bool]:
    """Neither superseded nor withdrawn."""
    later = reviews.alias()
    return ~reviews.c.withdrawn & ~exists().where(later.c.supersedes == reviews.c.id)


def _reviewed_by(reviewer: str, item: Any) -> ColumnElement[bool]:
    return exists().where(
        reviews.c.queue == item.queue, reviews.c.position == item.position, reviews.c.reviewer == reviewer, stands()
    )
