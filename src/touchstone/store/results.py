"""Scored replies -> rows of a run and back: each reply once, in the order of their positions."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Insert, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from touchstone.core.case import Case
from touchstone.core.errors import StoreError
from touchstone.core.result import Result
from touchstone.runs.record import Record, record
from touchstone.runs.waivers import Waiver, count_waivers
from touchstone.store.database import Database
from touchstone.store.review_rows import waiver_from_row
from touchstone.store.review_schema import waivers
from touchstone.store.rows import (
    RECORD_COLUMNS,
    SCORED_COLUMNS,
    Count,
    RecordReader,
    Scored,
    body_to_row,
    case_to_row,
    counted_columns,
    result_from_body,
    result_to_row,
    scored_from_row,
    tag_rows,
)
from touchstone.store.schema import bodies, cases, result_tags, results, runs

# In the metadata of a case without its text: when it was erased.
ERASED_AT = "erased"
# Below the number of values that either database takes in one statement.
_CHUNK = 500
_ANEW = "start the run anew, its gold set is not the one it was begun with"
_WITH_TEXTS = results.join(bodies).outerjoin(cases)
# Made once: a run adds its results one at a time, and building a statement takes longer than the database does.
_HELD = select(results.c.position, results.c.case_id, results.c.draft).where(
    results.c.run == bindparam("run"), results.c.position.in_(bindparam("positions", expanding=True))
)
_INSERT_RESULTS = insert(results)
_INSERT_BODIES = insert(bodies)
_INSERT_TAGS = insert(result_tags)
_INSERT_CASES: dict[str, Insert] = {
    "postgresql": postgresql.insert(cases).on_conflict_do_nothing(),
    "sqlite": sqlite.insert(cases).on_conflict_do_nothing(),
}


@dataclass(frozen=True, slots=True)
class _Reply:
    """Which reply it is: the case's id, and the draft's number."""

    id: str
    draft: int


def insert_scored(connection: Connection, run: int, entries: Sequence[Scored], *, place: str) -> set[int]:
    """Adds the replies that the run does not hold; the positions of the others, which stay as they were."""
    held = _held(connection, run, entries)
    repeated: set[int] = set()
    new: list[Scored] = []
    for entry in entries:
        reply = _Reply(entry.record.id, entry.record.draft)
        if entry.position not in held:
            held[entry.position] = reply
            new.append(entry)
        elif held[entry.position] == reply:
            repeated.add(entry.position)
        else:
            raise StoreError(f"the store {place} has another reply at position {entry.position} of the run: {_ANEW}")
    if new:
        try:
            _insert(connection, run, new)
        except IntegrityError:
            # The one rule that is left to break: a case and draft have one place in a run.
            raise StoreError(f"the store {place} has one of the replies at another position: {_ANEW}") from None
    return repeated


@dataclass(frozen=True, slots=True)
class Appended:
    """How many replies were added, and how many the run has now."""

    added: int
    total: int


def append_scored(connection: Connection, run: int, entries: Sequence[Scored], *, place: str) -> Appended:
    """Adds the replies whose cases the run does not have, behind those it has, in their order."""
    held = fetch_held(connection, run, [entry.record.id for entry in entries])
    last = connection.scalar(select(func.max(results.c.position)).where(results.c.run == run))
    start = 0 if last is None else last + 1
    new = [entry for entry in entries if entry.record.id not in held]
    insert_scored(connection, run, [replace(entry, position=start + at) for at, entry in enumerate(new)], place=place)
    return Appended(len(new), start + len(new))


def fetch_held(connection: Connection, run: int, ids: Collection[str]) -> dict[str, str]:
    """Which of these cases the run has a first draft for, with the hashes their texts are kept under."""
    found: dict[str, str] = {}
    every = list(ids)
    here = (results.c.run == run, results.c.draft == 1, results.c.case_hash.is_not(None))
    for start in range(0, len(every), _CHUNK):
        query = select(results.c.case_id, results.c.case_hash).where(
            *here, results.c.case_id.in_(every[start : start + _CHUNK])
        )
        found.update((row.case_id, row.case_hash) for row in connection.execute(query))
    return found


def fetch_positions(connection: Connection, run: int) -> set[int]:
    return set(connection.scalars(select(results.c.position).where(results.c.run == run)))


def fetch_records(connection: Connection, run: int) -> list[Record]:
    """All of them, in order; the results' texts are not touched."""
    reader = RecordReader()
    query = select(*RECORD_COLUMNS).where(results.c.run == run).order_by(results.c.position)
    return [reader.read(row) for row in connection.execute(query)]


def fetch_one(connection: Connection, run: int, *, case: str, draft: int) -> Scored | None:
    """The reply to a case; one that was scored goes before one that could not be."""
    here = (results.c.run == run, results.c.case_id == case, results.c.draft == draft)
    query = select(*SCORED_COLUMNS).select_from(_WITH_TEXTS).where(*here)
    # The first form is the one that the unique index answers.
    for form in (query.where(results.c.case_hash.is_not(None)), query.order_by(results.c.position).limit(1)):
        if (row := connection.execute(form).first()) is not None:
            return scored_from_row(row, reader=RecordReader(), count=counting(connection, run, position=row.position))
    return None


def fetch_at(connection: Connection, run: int, position: int) -> Scored | None:
    """The reply at one place of a run."""
    here = (results.c.run == run, results.c.position == position)
    row = connection.execute(select(*SCORED_COLUMNS).select_from(_WITH_TEXTS).where(*here)).first()
    if row is None:
        return None
    return scored_from_row(row, reader=RecordReader(), count=counting(connection, run, position=position))


def fetch_unread(connection: Connection, run: int, *, limit: int) -> list[Result]:
    """The first rows of a run that could not be read or drafted, in order."""
    here = (results.c.run == run, results.c.case_hash.is_(None))
    query = select(bodies.c.body).select_from(results.join(bodies)).where(*here).order_by(results.c.position)
    return [result_from_body(body) for body in connection.scalars(query.limit(limit))]


def stream_scored(database: Database, run: int) -> Iterator[Scored]:
    reader, count = RecordReader(), _counting(database, run)
    for row in _pages(database, run, SCORED_COLUMNS, _WITH_TEXTS):
        yield scored_from_row(row, reader=reader, count=count)


def stream_results(database: Database, run: int) -> Iterator[Result]:
    count = _counting(database, run)
    for row in _pages(database, run, (results.c.position, bodies.c.body), results.join(bodies)):
        yield count(row[0], result_from_body(row[1]))


def fetch_unaided(connection: Connection, run: int) -> dict[int, Record]:
    """The records of replies with a waiver as the judge gave them."""
    waived = select(waivers.c.result).where(waivers.c.run == run)
    here = (bodies.c.run == run, bodies.c.position.in_(waived))
    rows = connection.execute(select(bodies.c.position, bodies.c.body).where(*here))
    return {row.position: record(None, result_from_body(row.body)) for row in rows}


def recount(connection: Connection, run: int, position: int) -> None:
    """The columns and tags of a reply as they follow from its result and the waivers of its violations.

    Of a reply whose text was erased the tags stay as long as it fails: there is nothing to find them in.
    """
    scored = fetch_at(connection, run, position)
    if scored is None:
        return
    case = None if scored.case is None or is_erased(scored.case) else scored.case
    counted = record(case, scored.result, draft=scored.record.draft)
    if case is None and counted.fails:
        counted = replace(counted, tags=scored.record.tags)
    here = (results.c.run == run, results.c.position == position)
    connection.execute(update(results).where(*here).values(**counted_columns(counted)))
    connection.execute(delete(result_tags).where(result_tags.c.run == run, result_tags.c.position == position))
    if tags := tag_rows(replace(scored, record=counted), run=run):
        connection.execute(_INSERT_TAGS, tags)
    raise_revision(connection, run)


def recount_waived(connection: Connection) -> None:
    """Every reply with a waiver, in all runs."""
    places = connection.execute(select(waivers.c.run, waivers.c.result).distinct()).all()
    for run, position in places:
        recount(connection, run, position)


def raise_revision(connection: Connection, run: int) -> None:
    """Tells those who keep what was made of a run that it says something else now."""
    connection.execute(update(runs).where(runs.c.number == run).values(revision=runs.c.revision + 1))


def is_erased(case: Case) -> bool:
    """Whether `touchstone store forget` took the case's text."""
    return ERASED_AT in case.metadata and not case.response


def counting(connection: Connection, run: int, *, position: int | None = None) -> Count:
    """How the results of a run count, or that of one reply; every result that is read for judging goes through it.

    What the judge said stays in `bodies` as it was.
    """
    given = fetch_waivers(connection, run, position=position)
    if not given:
        return lambda _, result: result
    from touchstone.rubric.parse import parse_rubric

    found = connection.execute(select(runs.c.id, runs.c.rubric).where(runs.c.number == run)).one()
    rubric = parse_rubric(found.rubric, name=f"the rubric of run {found.id}")

    def count(position: int, result: Result) -> Result:
        return count_waivers(result, given.get(position, ()), rubric=rubric)

    return count


def fetch_waivers(connection: Connection, run: int, *, position: int | None = None) -> dict[int, list[Waiver]]:
    """Every word on a run's violations, or on those of one reply, by position and in the order they were given."""
    here = [waivers.c.run == run, *([] if position is None else [waivers.c.result == position])]
    rows = connection.execute(select(waivers).where(*here).order_by(waivers.c.number)).all()
    id = connection.scalar(select(runs.c.id).where(runs.c.number == run)) if rows else None
    found: dict[int, list[Waiver]] = defaultdict(list)
    for row in rows:
        found[row.result].append(waiver_from_row(row, run=str(id)))
    return dict(found)


def _counting(database: Database, run: int) -> Count:
    with database.reading() as connection:
        return counting(connection, run)


def _pages(
    database: Database, run: int, columns: Sequence[ColumnElement[Any]], source: FromClause
) -> Iterator[Sequence[Any]]:
    """The rows in order, a page at a time: memory stays small, and no transaction is open between pages."""
    query = select(*columns).select_from(source).where(results.c.run == run).order_by(results.c.position)
    after = -1
    while True:
        with database.reading() as connection:
            page = connection.execute(query.where(results.c.position > after).limit(_CHUNK)).all()
        yield from page
        if len(page) < _CHUNK:
            return
        after = page[-1].position


def _held(connection: Connection, run: int, entries: Sequence[Scored]) -> dict[int, _Reply]:
    found: dict[int, _Reply] = {}
    for start in range(0, len(entries), _CHUNK):
        positions = [entry.position for entry in entries[start : start + _CHUNK]]
        for row in connection.execute(_HELD, {"run": run, "positions": positions}):
            found[row.position] = _Reply(row.case_id, row.draft)
    return found


def _insert(connection: Connection, run: int, entries: Sequence[Scored]) -> None:
    kept = {entry.position: case_to_row(entry.case) for entry in entries if entry.case is not None}
    if kept:
        # In one order everywhere, so that two writers never wait for each other.
        rows = sorted({row["hash"]: row for row in kept.values()}.values(), key=lambda row: str(row["hash"]))
        connection.execute(_INSERT_CASES[connection.dialect.name], rows)
    hashes = {position: row["hash"] for position, row in kept.items()}
    connection.execute(
        _INSERT_RESULTS, [result_to_row(entry, run=run, case_hash=hashes.get(entry.position)) for entry in entries]
    )
    connection.execute(_INSERT_BODIES, [body_to_row(entry, run=run) for entry in entries])
    if tags := [row for entry in entries for row in tag_rows(entry, run=run)]:
        connection.execute(_INSERT_TAGS, tags)
