"""Queues of replies that wait for reviews: made once, handed out item by item, closed by a lead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import and_, delete, exists, func, insert, or_, select, update

from touchstone.core.errors import ReviewError
from touchstone.core.result import Finding
from touchstone.review.queue import DOUBLE, SINGLE, Item, Progress, Queue, State
from touchstone.store.database import Database
from touchstone.store.results import results
from touchstone.store.tables import Json, Words, find_run_number, from_row, keys, metadata, needed, runs, to_row

queues = sa.Table(
    "queues",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("id", sa.String(64), nullable=False, unique=True),
    sa.Column("name", Words, nullable=False),
    # Without a cascade: people's work is not deleted with a run.
    sa.Column("run", sa.ForeignKey("runs.number"), nullable=False, index=True),
    sa.Column("made", sa.String(40), nullable=False),
    sa.Column("by", Words, nullable=False),
    *needed(sa.Integer, "needed", "population", "seed"),
    sa.Column("oversampling", sa.Double, nullable=False),
    sa.Column("reviewers", Json(tuple[str, ...]), nullable=False),
    sa.Column("closed", sa.String(40)),
    sqlite_autoincrement=True,
)

queue_items = sa.Table(
    "queue_items",
    metadata,
    sa.Column("queue", sa.ForeignKey("queues.number", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("result", sa.Integer, nullable=False),
    sa.Column("case_id", Words, nullable=False),
    sa.Column("draft", sa.Integer, nullable=False),
    sa.Column("category", Words),
    sa.Column("inclusion", sa.Double, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sqlite_with_rowid=False,
)
sa.Index("queue_items_by_state", queue_items.c.queue, queue_items.c.state, queue_items.c.position)

# What people marked in a reply, as lists: neither rule nor confidence nor evidence.
MARKED = Json(
    tuple[Finding, ...],
    write=lambda found: [[each.kind, each.text, each.start, each.end, each.reason] for each in found],
    read=lambda rows: tuple(Finding(*row) for row in rows),
)


def item_key(*, cascades: bool = False) -> sa.ForeignKeyConstraint:
    """Refers to an item of a queue."""
    refers = ["queue_items.queue", "queue_items.position"]
    return sa.ForeignKeyConstraint(["queue", "position"], refers, ondelete="CASCADE" if cascades else None)


# Claims and skips are aids that come and go.
claims = sa.Table(
    "claims",
    metadata,
    *keys(sa.Integer, "queue", "position"),
    sa.Column("reviewer", Words, primary_key=True),
    sa.Column("until", sa.String(40), nullable=False),
    item_key(cascades=True),
)
sa.Index("claims_by_reviewer", claims.c.queue, claims.c.reviewer)

skips = sa.Table(
    "skips",
    metadata,
    sa.Column("queue", sa.Integer, primary_key=True),
    sa.Column("reviewer", Words, primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("made", sa.String(40), nullable=False),
    item_key(cascades=True),
)

# Reviews, rulings and waivers are only ever added to; what is current follows from the rows. Only the erasure of a
# customer's text changes them.
reviews = sa.Table(
    "reviews",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("id", sa.String(64), nullable=False, unique=True),
    *needed(sa.Integer, "queue", "position"),
    sa.Column("reviewer", Words, nullable=False),
    sa.Column("made", sa.String(40), nullable=False),
    sa.Column("grades", Json(Mapping[str, int | None]), nullable=False),
    sa.Column("violations", MARKED, nullable=False),
    sa.Column("note", Words, nullable=False),
    # Unique: of two edits of one review made at once, the second is refused.
    sa.Column("supersedes", sa.String(64), unique=True),
    sa.Column("withdrawn", sa.Boolean, nullable=False),
    sa.Column("seconds", sa.Double),
    item_key(),
    sqlite_autoincrement=True,
)
sa.Index("reviews_by_item", reviews.c.queue, reviews.c.position, reviews.c.number)
sa.Index("reviews_by_reviewer", reviews.c.queue, reviews.c.reviewer, reviews.c.number)

# How long an item is kept for the person who opened it: half an hour of silence gives it back.
LEASE_SECONDS = 1800
_UNDONE: tuple[State, ...] = ("partly", "waiting")
_IS_UNDONE = or_(*(queue_items.c.state == state for state in _UNDONE))
_QUEUES = select(*(column for column in queues.c if column.name != "run"), runs.c.id.label("run")).join(runs)


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
        with self._database.writing():
            if self.find(queue.id) is not None:
                raise ReviewError(f"there is a queue {queue.id} already: give another id", kind="conflict")
            # On PostgreSQL, whoever adds replies to the run meanwhile waits, and is then refused.
            run = find_run_number(self._database, queue.run)
            if run is None:
                raise ReviewError(f"there is no run '{queue.run}' to review", kind="unknown")
            replies = select(func.count()).where(results.c.run == run, results.c.case_hash.is_not(None))
            if is_counted and queue.population != self._database.scalar(replies):
                raise ReviewError(f"replies were added to run {queue.run} meanwhile: draw again", kind="conflict")
            self._database.write(insert(queues), to_row(queues, queue, run=run))
            number = find_queue(self._database, queue.id).number
            if items:
                rows = [to_row(queue_items, item, queue=number, case_id=item.case) for item in items]
                self._database.write(insert(queue_items), rows)

    def get(self, id: str) -> Queue:
        return from_row(Queue, find_queue(self._database, id))

    def find(self, id: str) -> Queue | None:
        """The queue of this id, if there is one."""
        row = self._database.first(_QUEUES.where(queues.c.id == id))
        return None if row is None else from_row(Queue, row)

    def list(self, *, open_only: bool = False, reviewer: str | None = None) -> tuple[Queue, ...]:
        """The newest first; with `reviewer`, those this person may work on."""
        query = _QUEUES.order_by(queues.c.number.desc())
        rows = self._database.rows(query.where(queues.c.closed.is_(None)) if open_only else query)
        found = (from_row(Queue, row) for row in rows)
        return tuple(queue for queue in found if reviewer is None or may_review(queue, reviewer))

    def close(self, id: str, *, at: str) -> Queue:
        """No more reviews are taken; those that were made stay."""
        return self._set_closed(id, at)

    def reopen(self, id: str) -> Queue:
        return self._set_closed(id, None)

    def item(self, queue: str, position: int) -> Item:
        with self._database.reading():
            return find_item(self._database, find_queue(self._database, queue), position)

    def items(
        self, queue: str, *, state: State | None = None, after: int = -1, limit: int | None = 100
    ) -> tuple[Item, ...]:
        """In order, from the one after the position `after`; all of them without a limit."""
        with self._database.reading():
            number = find_queue(self._database, queue).number
            rows = self._database.rows(items_query(number, state=state, after=after, limit=limit))
        return tuple(_item(row, queue) for row in rows)

    def progress(self, queue: str) -> Progress:
        with self._database.reading():
            here = queue_items.c.queue == find_queue(self._database, queue).number
            query = select(queue_items.c.state, func.count()).where(here).group_by(queue_items.c.state)
            return Progress(**{row[0]: row[1] for row in self._database.rows(query)})

    def progress_of(self, queue: str, reviewer: str) -> Mine:
        with self._database.reading():
            number = find_queue(self._database, queue).number
            own = (reviews.c.queue == number, reviews.c.reviewer == reviewer, is_current())
            reviewed = select(func.count(func.distinct(reviews.c.position)))
            put_off = (skips.c.queue == number, skips.c.reviewer == reviewer, ~_reviewed_by(reviewer, skips.c))
            # All that is open less what of it they did: the reviews of one person are fewer than a long queue's items.
            undone = select(func.count()).select_from(queue_items).where(queue_items.c.queue == number, _IS_UNDONE)
            same = and_(queue_items.c.queue == reviews.c.queue, queue_items.c.position == reviews.c.position)
            begun = reviewed.select_from(reviews.join(queue_items, same)).where(*own, _IS_UNDONE)
            queries = (reviewed.where(*own), select(func.count()).where(*put_off), undone, begun)
            done, skipped, open_now, open_own = (self._database.scalar(query) for query in queries)
        return Mine(done, skipped, open_now - open_own)

    def to_grade(self, run: str, *, reviewer: str) -> dict[int, str]:
        """The replies of a run that this person has still to grade in open queues, each with its case's id."""
        query = (
            select(queue_items.c.result, queue_items.c.case_id, queues.c.reviewers)
            .select_from(queue_items.join(queues, queues.c.number == queue_items.c.queue).join(runs))
            .where(runs.c.id == run, queues.c.closed.is_(None), _IS_UNDONE, ~_reviewed_by(reviewer, queue_items.c))
        )
        rows = self._database.rows(query)
        return {row.result: row.case_id for row in rows if not row.reviewers or reviewer in row.reviewers}

    def next_item(self, queue: str, *, reviewer: str, now: str, lease_seconds: float = LEASE_SECONDS) -> Item | None:
        """The item this person grades next, kept for them for a while; None when nothing is left for them.

        First what they have open, then what another person has begun, then what nobody has, then what they put off.
        """
        with self._database.writing():
            # On PostgreSQL, two people who ask at once are served one after the other.
            row = find_queue(self._database, queue)
            check_queue_open(row, reviewer)
            found = self._pick(row, reviewer=reviewer, now=now)
            if found is None:
                return None
            until = (datetime.fromisoformat(now) + timedelta(seconds=lease_seconds)).isoformat()
            put_aid(self._database, claims, row, found.position, reviewer, until=until)
            return _item(found, queue)

    def skip(self, queue: str, position: int, *, reviewer: str, at: str) -> None:
        """Puts an item off: it comes again when nothing else is left."""
        with self._database.writing():
            row = find_queue(self._database, queue)
            find_item(self._database, row, position)
            drop_aid(self._database, claims, row, position, reviewer)
            put_aid(self._database, skips, row, position, reviewer, made=at)

    def release(self, queue: str, position: int, *, reviewer: str) -> None:
        """Gives an item back that was kept for this person."""
        with self._database.writing():
            drop_aid(self._database, claims, find_queue(self._database, queue), position, reviewer)

    def _pick(self, queue: sa.Row[Any], *, reviewer: str, now: str) -> sa.Row[Any] | None:
        held = (claims.c.queue == queue.number, claims.c.reviewer == reviewer, claims.c.until > now)
        own = select(claims.c.position).where(*held)
        begun = items_query(queue.number).where(queue_items.c.position.in_(own), _IS_UNDONE)
        others = (
            next_query(queue.number, state, reviewer=reviewer, now=now, needed=queue.needed, skipped=skipped)
            for skipped in (False, True)
            for state in _UNDONE
        )
        unseen = (query.where(~_reviewed_by(reviewer, queue_items.c)).limit(1) for query in (begun, *others))
        return next((row for query in unseen if (row := self._database.first(query)) is not None), None)

    def _set_closed(self, id: str, at: str | None) -> Queue:
        with self._database.writing():
            number = find_queue(self._database, id).number
            self._database.write(update(queues).where(queues.c.number == number).values(closed=at))
            return self.get(id)


def find_queue(database: Database, id: str) -> sa.Row[Any]:
    """The queue's row; in a writing transaction on PostgreSQL, others that want to change it wait."""
    query = _QUEUES.where(queues.c.id == id)
    row = database.first(query.with_for_update(of=queues) if database.is_writing else query)
    if row is None:
        raise ReviewError(f"there is no queue '{id}': touchstone review queue lists them", kind="unknown")
    return row


def find_item(database: Database, queue: sa.Row[Any], position: int) -> Item:
    row = database.first(items_query(queue.number).where(queue_items.c.position == position))
    if row is None:
        raise ReviewError(f"the queue {queue.id} has no item {position}", kind="unknown")
    return _item(row, queue.id)


def _item(row: sa.Row[Any], queue: str) -> Item:
    return from_row(Item, row, queue=queue, case=row.case_id)


def put_aid(
    database: Database, table: sa.Table, queue: sa.Row[Any], position: int, reviewer: str, **values: str
) -> None:
    """A person's claim, skip or draft of an item in place of the one they had."""
    drop_aid(database, table, queue, position, reviewer)
    row = {"queue": queue.number, "position": position, "reviewer": reviewer, **values}
    database.write(insert(table), row)


def drop_aid(database: Database, table: sa.Table, queue: Any, position: int, reviewer: str) -> None:
    here = (table.c.queue == queue.number, table.c.position == position, table.c.reviewer == reviewer)
    database.write(delete(table).where(*here))


def may_review(queue: Queue, reviewer: str) -> bool:
    return not queue.reviewers or reviewer in queue.reviewers


def items_query(
    number: int, *, state: State | None = None, after: int = -1, limit: int | None = None
) -> sa.Select[Any]:
    query = select(queue_items).where(queue_items.c.queue == number, queue_items.c.position > after)
    if state is not None:
        query = query.where(queue_items.c.state == state)
    return query.order_by(queue_items.c.position).limit(limit)


def next_query(
    number: int, state: State, *, reviewer: str, now: str, needed: int, skipped: bool = False
) -> sa.Select[Any]:
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


def check_queue_open(queue: sa.Row[Any], reviewer: str) -> None:
    if queue.closed is not None:
        raise ReviewError(f"the queue {queue.id} is closed: a lead can open it again", kind="closed")
    if not may_review(from_row(Queue, queue), reviewer):
        raise ReviewError(f"the queue {queue.id} is not for {reviewer}: a lead names its reviewers", kind="forbidden")


def is_current() -> sa.ColumnElement[bool]:
    """Neither superseded nor withdrawn."""
    later = reviews.alias()
    return ~reviews.c.withdrawn & ~exists().where(later.c.supersedes == reviews.c.id)


def _reviewed_by(reviewer: str, item: Any) -> sa.ColumnElement[bool]:
    return exists().where(
        reviews.c.queue == item.queue, reviews.c.position == item.position, reviews.c.reviewer == reviewer, is_current()
    )
