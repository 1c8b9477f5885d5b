"""The replies of runs: added in order, and read one at a time, a page at a time, or all in a stream."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, and_, func, or_, select

from touchstone.core.errors import StoreError
from touchstone.core.result import Result
from touchstone.runs.record import Record, record
from touchstone.runs.run import Run
from touchstone.store.database import Database
from touchstone.store.pages import (
    LIMIT,
    LISTED_COLUMNS,
    MAX_LIMIT,
    NEWEST_FIRST,
    Filters,
    Listed,
    Page,
    earlier,
    find_place,
    listed,
    page_query,
    read_cursor,
    read_key,
    write_cursor,
    write_key,
)
from touchstone.store.results import (
    RECORD_COLUMNS,
    SCORED_COLUMNS,
    WITH_TEXTS,
    Scored,
    bodies,
    body_of,
    counting,
    fetch_at,
    insert_scored,
    result_of,
    result_tags,
    results,
    scored_from_row,
    stream,
    waivers,
)
from touchstone.store.tables import CHUNK, RUN_COLUMNS, fetch_runs, run_number, runs


@dataclass(frozen=True, slots=True)
class UnreadRows:
    """Rows of a run that became no reply: how many, and the first of them with their failures."""

    count: int
    first: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Appended:
    """How many replies were added, and how many the run has now."""

    added: int
    total: int


@dataclass(frozen=True, slots=True)
class Past:
    """What became of a case in one run."""

    run: Run
    position: int
    record: Record

    @property
    def cursor(self) -> str:
        """What the rest of the case's history comes after."""
        return write_cursor(self.run.id, self.position)


class Replies:
    """Scored replies, by the id of their run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, run: str, entries: Sequence[Scored]) -> set[int]:
        """Adds replies to the run, all or none. One that it holds is kept as it was; those positions are returned."""
        with self._database.writing():
            return insert_scored(self._database, run_number(self._database, run), entries)

    def append(self, run: str, entries: Sequence[Scored]) -> Appended:
        """Adds the replies whose cases the run does not have, behind those it has, in their order."""
        with self._database.writing():
            number = run_number(self._database, run)
            held = self.held(run, [entry.record.id for entry in entries])
            last = self._database.scalar(select(func.max(results.c.position)).where(results.c.run == number))
            start = 0 if last is None else last + 1
            new = [entry for entry in entries if entry.record.id not in held]
            placed = [replace(entry, position=start + at) for at, entry in enumerate(new)]
            insert_scored(self._database, number, placed)
        return Appended(len(new), start + len(new))

    def held(self, run: str, cases: Collection[str]) -> dict[str, str]:
        """Which of these cases the run has a first draft for, each with the hash its text is kept under."""
        ids = list(cases)
        found: dict[str, str] = {}
        with self._database.reading():
            here = (self._here(run), results.c.draft == 1, results.c.case_hash.is_not(None))
            query = select(results.c.case_id, results.c.case_hash).where(*here)
            for start in range(0, len(ids), CHUNK):
                some = query.where(results.c.case_id.in_(ids[start : start + CHUNK]))
                found.update((row.case_id, row.case_hash) for row in self._database.rows(some))
        return found

    def positions(self, run: str) -> set[int]:
        """The places in the run that have a reply."""
        with self._database.reading():
            return {row[0] for row in self._database.rows(select(results.c.position).where(self._here(run)))}

    def records(self, run: str) -> list[Record]:
        """In order, without reading the results' texts."""
        with self._database.reading():
            query = select(*RECORD_COLUMNS).where(self._here(run)).order_by(results.c.position)
            return [Record(*row) for row in self._database.rows(query)]

    def listed(self, run: str) -> list[Listed]:
        """All replies of the run with their places, without their texts."""
        with self._database.reading():
            query = select(*LISTED_COLUMNS).where(self._here(run)).order_by(results.c.position)
            return [listed(row) for row in self._database.rows(query)]

    def lines(self, run: str) -> Iterator[str]:
        """The results in order as JSON, a few at a time in memory; they are read only where a waiver changes them."""
        number = self._number(run)
        waived, count = self._waived(number), counting(self._database, number)
        columns, source = (results.c.position, bodies.c.body), results.join(bodies)
        rows = stream(self._database, columns, source, results.c.run == number)
        return (
            body_of(count(row.position, result_of(row.body))) if row.position in waived else row.body for row in rows
        )

    def scored(self, run: str) -> Iterator[Scored]:
        """The replies as they were added, in order, a few at a time in memory."""
        number = self._number(run)
        count = counting(self._database, number)
        rows = stream(self._database, SCORED_COLUMNS, WITH_TEXTS, results.c.run == number)
        return (scored_from_row(row, count=count) for row in rows)

    def result(self, run: str, case: str, *, draft: int = 1) -> Scored:
        """The reply to one case; one that was scored goes before one that could not be."""
        with self._database.reading():
            number = self._number(run)
            here = (results.c.run == number, results.c.case_id == case, results.c.draft == draft)
            query = select(results.c.position).where(*here)
            # The first form is the one that the unique index answers.
            for form in (query.where(results.c.case_hash.is_not(None)), query.order_by(results.c.position).limit(1)):
                if (row := self._database.first(form)) is not None:
                    return self.at(run, row.position)
        raise StoreError(f"run {run} has no draft {draft} for the case '{case}': its results list the ids it has")

    def at(self, run: str, position: int) -> Scored:
        """The reply at one place of the run."""
        with self._database.reading():
            found = fetch_at(self._database, self._number(run), position)
        if found is None:
            raise StoreError(f"run {run} has no reply at position {position}")
        return found

    def unread(self, run: str, *, limit: int) -> UnreadRows:
        """The rows that could not be read or drafted: how many, and the first of them."""
        with self._database.reading():
            here = (self._here(run), results.c.case_hash.is_(None))
            query = select(bodies.c.body).select_from(results.join(bodies)).where(*here).order_by(results.c.position)
            first = tuple(result_of(row.body) for row in self._database.rows(query.limit(limit)))
            return UnreadRows(self._count(*here), first)

    def page(self, run: str, filters: Filters | None = None, *, after: str | None = None, limit: int = LIMIT) -> Page:
        """Some of the run's replies, from where the cursor `after` points to."""
        filters = filters or Filters()
        if not 1 <= limit <= MAX_LIMIT:
            raise StoreError(f"a page of {limit} replies cannot be given: allowed are 1 to {MAX_LIMIT}")
        key = None if after is None else read_key(after, filters)
        with self._database.reading():
            rows = self._database.rows(page_query(self._number(run), filters, after=key, limit=limit + 1))
        items = tuple(map(listed, rows[:limit]))
        return Page(items, write_key(items[-1], filters) if len(rows) > limit else None)

    def unaided(self, run: str) -> dict[int, Record]:
        """Of the replies with a waiver, by position: what the judge made of them, without tags."""
        with self._database.reading():
            number = self._number(run)
            here = (bodies.c.run == number, bodies.c.position.in_(self._waived(number)))
            rows = self._database.rows(select(bodies.c.position, bodies.c.body).where(*here))
        return {row.position: record(None, result_of(row.body)) for row in rows}

    def categories(self, run: str) -> tuple[str, ...]:
        """By hopping along the index from one category to the next: a million replies have a few categories."""
        found: list[str] = []
        with self._database.reading():
            query = select(func.min(results.c.category)).where(self._here(run))
            while (category := self._database.scalar(query)) is not None:
                found.append(category)
                query = select(func.min(results.c.category)).where(self._here(run), results.c.category > category)
        return tuple(found)

    def tags(self, run: str) -> dict[str, int]:
        """How many replies have each tag, the most frequent first."""
        with self._database.reading():
            here = result_tags.c.run == self._number(run)
            query = select(result_tags.c.tag, func.count()).where(here).group_by(result_tags.c.tag)
            counted = [(row[0], row[1]) for row in self._database.rows(query)]
        return dict(sorted(counted, key=lambda each: (-each[1], each[0])))

    def history(self, case: str, *, after: str | None = None, limit: int = LIMIT) -> tuple[Past, ...]:
        """What became of a case in the runs that have it, the newest first; from behind the cursor `after`."""
        query = (
            select(runs.c.number, results.c.position, *RECORD_COLUMNS)
            .select_from(results.join(runs))
            .where(results.c.case_id == case, results.c.case_hash.is_not(None))
            .order_by(*NEWEST_FIRST, results.c.position)
            .limit(limit)
        )
        with self._database.reading():
            if after is not None:
                run, position = read_cursor(after, str, int)
                place = find_place(self._database, run)
                later = and_(runs.c.number == place[1], results.c.position > position)
                query = query.where(or_(earlier(place), later))
            rows = self._database.rows(query)
            named = fetch_runs(self._database, select(*RUN_COLUMNS).where(runs.c.number.in_({row[0] for row in rows})))
        return tuple(Past(named[row[0]], row[1], Record(*row[2:])) for row in rows)

    def count(self, run: str) -> int:
        with self._database.reading():
            return self._count(self._here(run))

    def count_failed(self, run: str) -> int:
        """How many replies could not be read, drafted or scored."""
        with self._database.reading():
            return self._count(self._here(run), results.c.failed)

    def count_outcomes(self, run: str) -> dict[str | None, int]:
        """How many replies passed, failed, and have no outcome."""
        with self._database.reading():
            query = select(results.c.outcome, func.count()).where(self._here(run)).group_by(results.c.outcome)
            return {row[0]: row[1] for row in self._database.rows(query)}

    def _count(self, *conditions: ColumnElement[bool]) -> int:
        count: int = self._database.scalar(select(func.count()).select_from(results).where(*conditions))
        return count

    def _number(self, run: str) -> int:
        return run_number(self._database, run)

    def _here(self, run: str) -> ColumnElement[bool]:
        return results.c.run == self._number(run)

    def _waived(self, run: int) -> set[int]:
        query = select(waivers.c.result).where(waivers.c.run == run).distinct()
        return {row.result for row in self._database.rows(query)}
