"""The store: runs by name, with their labels and scored replies, in SQLite or PostgreSQL.

What a method has returned from is stored for good, whatever becomes of the process.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, and_, delete, exists, func, insert, or_, select, text, update

from touchstone.core.codec import content_hash
from touchstone.core.errors import ReviewError, StoreError
from touchstone.core.result import Result
from touchstone.runs.record import Record
from touchstone.runs.run import Kind, Receipt, Run, Terms
from touchstone.store.actions import Actions, Rubrics, RubricVersion
from touchstone.store.columns import to_json
from touchstone.store.database import Database, open_database
from touchstone.store.erasure import Forgotten, forget_cases
from touchstone.store.guards import Audit, Idempotency, Logins
from touchstone.store.marks import Marks
from touchstone.store.measurements import Measurements
from touchstone.store.pages import (
    LIMIT,
    NEWEST_FIRST,
    Filters,
    Listed,
    Page,
    RunPage,
    count_tags,
    earlier,
    fetch_all,
    fetch_categories,
    fetch_page,
    fetch_run_page,
    fetch_runs,
    find_place,
    label_rows,
    read_cursor,
    runs_query,
    write_cursor,
)
from touchstone.store.queues import Queues
from touchstone.store.results import (
    Appended,
    append_scored,
    fetch_at,
    fetch_held,
    fetch_one,
    fetch_positions,
    fetch_records,
    fetch_unaided,
    fetch_unread,
    insert_scored,
    stream_results,
    stream_scored,
)
from touchstone.store.review_schema import queues
from touchstone.store.reviews import Reviews
from touchstone.store.rows import (
    RECORD_COLUMNS,
    RUN_COLUMNS,
    RecordReader,
    Scored,
    receipt_hash,
    run_to_row,
)
from touchstone.store.schema import cases, results, run_labels, runs
from touchstone.store.upgrade import upgrade
from touchstone.store.users import Sessions, Tokens, Users

__all__ = ["Appended", "Filters", "Listed", "Page", "Past", "Scored", "Store", "UnreadRows", "open_store"]

LATEST = "latest"
PREVIOUS = "previous"
_SHOWN_IDS = 3


@dataclass(frozen=True, slots=True)
class UnreadRows:
    """Rows of a run that became no reply: how many, and the first of them with their failures."""

    count: int
    first: tuple[Result, ...]


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


def open_store(place: str, *, creates: bool = True) -> "Store":
    """The store at a path or URL, brought to the newest version; without `creates` a missing file is an error."""
    database = open_database(place, creates=creates)
    try:
        upgrade(database)
    except BaseException:
        database.close()
        raise
    return Store(database)


class Store:
    """Runs and their results. A run's `id` is meant exactly; `find_run` takes the names people use."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.queues = Queues(database)
        self.reviews = Reviews(database)
        self.marks = Marks(database)
        self.actions = Actions(database)
        self.measurements = Measurements(database)
        self.rubrics = Rubrics(database)
        self.users = Users(database)
        self.tokens = Tokens(database)
        self.sessions = Sessions(database)
        self.logins = Logins(database)
        self.audit = Audit(database)
        self.idempotency = Idempotency(database)

    @property
    def place(self) -> str:
        """Where it is, without a password."""
        return self._database.place

    def check(self) -> None:
        """StoreError when the database does not answer."""
        with self._database.reading() as connection:
            connection.execute(text("SELECT 1"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def create_run(self, run: Run, *, rubric: str) -> None:
        """A new run, with the rubric's text as it is now."""
        with self._database.writing() as connection:
            if connection.scalar(select(exists().where(runs.c.id == run.id))):
                raise StoreError(f"the store {self._database.place} has a run {run.id} already: give another id")
            made = connection.execute(insert(runs), run_to_row(run, rubric=rubric))
            if run.labels:
                number = made.inserted_primary_key[0] if made.inserted_primary_key else None
                connection.execute(insert(run_labels), label_rows(number, run.labels))
        receipt = run.receipt
        self.rubrics.keep(
            RubricVersion(
                hash=receipt.rubric_hash,
                name=receipt.rubric,
                version=receipt.rubric_version,
                made=run.started,
                by="",
                text=rubric,
            )
        )

    def find_run(self, name: str, *, kind: Kind = "goldset") -> Run:
        """The run with this id or the only one whose id starts so; `latest` and `previous` are finished, of a kind."""
        with self._database.reading() as connection:
            if name in (LATEST, PREVIOUS):
                return self._recent(connection, name, kind)
            found = fetch_runs(connection, select(*RUN_COLUMNS).where(runs.c.id == name))
            if not found and name:
                similar = fetch_runs(
                    connection, select(*RUN_COLUMNS).where(runs.c.id.startswith(name, autoescape=True))
                )
                # SQLite's LIKE takes upper and lower case for the same.
                found = [run for run in similar if run.id.startswith(name)]
        if len(found) == 1:
            return found[0]
        if not found:
            raise self._missing(name)
        shown = ", ".join(run.id for run in found[:_SHOWN_IDS]) + (" …" if len(found) > _SHOWN_IDS else "")
        raise StoreError(f"'{name}' is the beginning of {len(found)} runs ({shown}): give more of the id")

    def get_run(self, id: str) -> Run | None:
        """The run of exactly this id, if there is one."""
        with self._database.reading() as connection:
            found = fetch_runs(connection, select(*RUN_COLUMNS).where(runs.c.id == id))
        return found[0] if found else None

    def list_runs(
        self, *, limit: int | None = None, labels: Mapping[str, str] | None = None, kind: Kind | None = None
    ) -> list[Run]:
        """The newest first; with `labels`, those that have them all."""
        with self._database.reading() as connection:
            return fetch_runs(connection, runs_query(labels=labels, kind=kind, limit=limit))

    def page_runs(
        self,
        *,
        labels: Mapping[str, str] | None = None,
        kind: Kind | None = None,
        after: str | None = None,
        limit: int = LIMIT,
    ) -> RunPage:
        """Some of them, from behind the run with the id `after`."""
        with self._database.reading() as connection:
            return fetch_run_page(connection, labels=labels, kind=kind, after=after, limit=limit)

    def unfinished_runs(self, receipt: Receipt, *, labels: Mapping[str, str]) -> list[Run]:
        """Runs that were begun with this receipt and these labels and could go on, the newest first."""
        query = select(*RUN_COLUMNS).where(runs.c.receipt_hash == receipt_hash(receipt), runs.c.finished.is_(None))
        with self._database.reading() as connection:
            found = fetch_runs(connection, query.order_by(*NEWEST_FIRST))
        return [run for run in found if run.receipt == receipt and dict(run.labels) == dict(labels)]

    def finish_run(self, id: str, *, finished: str, seconds: float) -> Run:
        with self._database.writing() as connection:
            number = self._number(connection, id)
            connection.execute(update(runs).where(runs.c.number == number).values(finished=finished, seconds=seconds))
            return self._by_number(connection, number)

    def keep_terms(self, id: str, terms: Terms) -> Run:
        """Notes what the gate held the run to."""
        with self._database.writing() as connection:
            number = self._number(connection, id)
            connection.execute(update(runs).where(runs.c.number == number).values(terms=to_json(asdict(terms))))
            return self._by_number(connection, number)

    def label_run(self, id: str, labels: Mapping[str, str | None]) -> Run:
        """Sets labels beside those the run has; None takes one away."""
        with self._database.writing() as connection:
            number = self._number(connection, id)
            changed = run_labels.c.name.in_(list(labels))
            connection.execute(delete(run_labels).where(run_labels.c.run == number, changed))
            if rows := label_rows(number, labels):
                connection.execute(insert(run_labels), rows)
            return self._by_number(connection, number)

    def delete_run(self, id: str) -> None:
        """The run with its results, and the cases that no other run has."""
        with self._database.writing() as connection:
            number = self._number(connection, id)
            if connection.dialect.name == "postgresql":
                # Another run may be about to refer to a case that is on its way out.
                connection.execute(text("LOCK TABLE cases IN SHARE ROW EXCLUSIVE MODE"))
            if connection.scalar(select(exists().where(queues.c.run == number))):
                raise StoreError(
                    f"run {id} has reviews, and people's work is not deleted: keep it, or erase texts with "
                    "touchstone store forget"
                )
            of_run = select(results.c.case_hash).where(results.c.run == number, results.c.case_hash.is_not(None))
            of_others = exists().where(results.c.case_hash == cases.c.hash, results.c.run != number)
            connection.execute(delete(cases).where(cases.c.hash.in_(of_run), ~of_others))
            connection.execute(delete(runs).where(runs.c.number == number))

    def rubric(self, id: str) -> str:
        """The rubric's text as it was when the run was made."""
        with self._database.reading() as connection:
            found = connection.scalar(select(runs.c.rubric).where(runs.c.id == id))
        if found is None:
            raise self._missing(id)
        return str(found)

    def add_results(self, id: str, entries: Sequence[Scored]) -> set[int]:
        """Adds replies to the run, all or none. One that it holds is kept as it was; those positions are returned."""
        with self._database.writing() as connection:
            number = self._number(connection, id)
            return insert_scored(connection, number, entries, place=self._database.place)

    def held(self, id: str, cases: Collection[str]) -> dict[str, str]:
        """Which of these cases the run has a reply to, each with the hash its text is kept under."""
        with self._database.reading() as connection:
            return fetch_held(connection, self._number(connection, id), cases)

    def append(self, id: str, entries: Sequence[Scored], *, data: str, finished: str, seconds: float) -> Appended:
        """Adds replies behind those the run has, all or none, and finishes it; a case it holds is left out.

        A run that a queue was drawn from takes no more: the queue's figures are about the replies it had.
        """
        with self._database.writing() as connection:
            number = self._number(connection, id)
            if connection.scalar(select(exists().where(queues.c.run == number))):
                raise ReviewError(
                    f"a queue was drawn from run {id}, and its report is about the replies it had then: add these to "
                    "another run",
                    kind="conflict",
                )
            appended = append_scored(connection, number, entries, place=self._database.place)
            run = self._by_number(connection, number)
            receipt = replace(run.receipt, data=content_hash([run.receipt.data, data]))
            changed = {
                "finished": finished,
                "seconds": run.seconds + seconds,
                "receipt": to_json(asdict(receipt)),
                "receipt_hash": receipt_hash(receipt),
            }
            connection.execute(update(runs).where(runs.c.number == number).values(**changed))
        return appended

    def positions(self, id: str) -> set[int]:
        """The places in the run that have a result."""
        with self._database.reading() as connection:
            return fetch_positions(connection, self._number(connection, id))

    def records(self, id: str) -> list[Record]:
        """In order, without reading the results' texts."""
        with self._database.reading() as connection:
            return fetch_records(connection, self._number(connection, id))

    def results(self, id: str) -> Iterator[Result]:
        """In order, a few at a time in memory."""
        return stream_results(self._database, self._known(id))

    def scored(self, id: str) -> Iterator[Scored]:
        """The replies as they were added, in order, a few at a time in memory."""
        return stream_scored(self._database, self._known(id))

    def result(self, id: str, case: str, *, draft: int = 1) -> Scored:
        """The reply to one case."""
        with self._database.reading() as connection:
            found = fetch_one(connection, self._number(connection, id), case=case, draft=draft)
        if found is None:
            raise StoreError(f"run {id} has no draft {draft} for the case '{case}': its results list the ids it has")
        return found

    def at(self, id: str, position: int) -> Scored:
        """The reply at one place of the run."""
        with self._database.reading() as connection:
            found = fetch_at(connection, self._number(connection, id), position)
        if found is None:
            raise StoreError(f"run {id} has no reply at position {position}")
        return found

    def unread(self, id: str, *, limit: int) -> UnreadRows:
        """The rows that could not be read or drafted: how many, and the first of them."""
        with self._database.reading() as connection:
            count = self._count(connection, id, results.c.case_hash.is_(None))
            return UnreadRows(count, tuple(fetch_unread(connection, self._number(connection, id), limit=limit)))

    def page(self, id: str, filters: Filters | None = None, *, after: str | None = None, limit: int = LIMIT) -> Page:
        """Some of the run's replies, from where the cursor `after` points to."""
        with self._database.reading() as connection:
            number = self._number(connection, id)
            return fetch_page(connection, number, filters or Filters(), after=after, limit=limit)

    def listed(self, id: str) -> list[Listed]:
        """All replies of the run with their places, without their texts."""
        with self._database.reading() as connection:
            return fetch_all(connection, self._number(connection, id))

    def unaided(self, id: str) -> dict[int, Record]:
        """Of the replies with a waiver, by position: what the judge made of them, without tags."""
        with self._database.reading() as connection:
            return fetch_unaided(connection, self._number(connection, id))

    def categories(self, id: str) -> tuple[str, ...]:
        with self._database.reading() as connection:
            return fetch_categories(connection, self._number(connection, id))

    def tags(self, id: str) -> dict[str, int]:
        """How many replies have each tag, the most frequent first."""
        with self._database.reading() as connection:
            return count_tags(connection, self._number(connection, id))

    def history(self, case: str, *, after: str | None = None, limit: int = LIMIT) -> tuple[Past, ...]:
        """What became of a case in the runs that have it, the newest first; from behind the cursor `after`."""
        query = (
            select(runs.c.number, results.c.position, *RECORD_COLUMNS)
            .select_from(results.join(runs))
            .where(results.c.case_id == case, results.c.case_hash.is_not(None))
            .order_by(*NEWEST_FIRST, results.c.position)
            .limit(limit)
        )
        reader = RecordReader()
        with self._database.reading() as connection:
            if after is not None:
                run, position = read_cursor(after, str, int)
                place = find_place(connection, run)
                later = and_(runs.c.number == place[1], results.c.position > position)
                query = query.where(or_(earlier(place), later))
            rows = connection.execute(query).all()
            named = {number: self._by_number(connection, number) for number in {row[0] for row in rows}}
        return tuple(Past(named[row[0]], row[1], reader.read(row[2:])) for row in rows)

    def forget(self, *, cases: Collection[str] = (), metadata: Mapping[str, str] | None = None, at: str) -> Forgotten:
        """Erases the text of these cases, and of those whose metadata has all these values; counts stay."""
        with self._database.writing() as connection:
            forgotten = forget_cases(connection, ids=cases, metadata=metadata or {}, at=at)
        self._database.scrub()
        return forgotten

    def count_results(self, id: str) -> int:
        with self._database.reading() as connection:
            return self._count(connection, id)

    def count_failed(self, id: str) -> int:
        """How many replies could not be read, drafted or scored."""
        with self._database.reading() as connection:
            return self._count(connection, id, results.c.failed)

    def count_outcomes(self, id: str) -> dict[str | None, int]:
        """How many replies passed, failed, and have no outcome."""
        with self._database.reading() as connection:
            here = results.c.run == self._number(connection, id)
            query = select(results.c.outcome, func.count()).where(here).group_by(results.c.outcome)
            return {row[0]: row[1] for row in connection.execute(query).all()}

    def _count(self, connection: Connection, id: str, *conditions: Any) -> int:
        here = results.c.run == self._number(connection, id)
        return connection.scalar(select(func.count()).select_from(results).where(here, *conditions)) or 0

    def _known(self, id: str) -> int:
        with self._database.reading() as connection:
            return self._number(connection, id)

    def _number(self, connection: Connection, id: str) -> int:
        """The number of a run. In a writing transaction on PostgreSQL, others that write to the run then wait."""
        query = select(runs.c.number).where(runs.c.id == id)
        if connection.get_execution_options().get("writes", False):
            query = query.with_for_update()
        number: int | None = connection.scalar(query)
        if number is None:
            raise self._missing(id)
        return number

    def _by_number(self, connection: Connection, number: int) -> Run:
        return fetch_runs(connection, select(*RUN_COLUMNS).where(runs.c.number == number))[0]

    def _recent(self, connection: Connection, name: str, kind: Kind) -> Run:
        wanted = (runs.c.finished.is_not(None), runs.c.kind == kind)
        query = select(*RUN_COLUMNS).where(*wanted).order_by(*NEWEST_FIRST)
        found = fetch_runs(connection, query.offset(0 if name == LATEST else 1).limit(1))
        if not found and kind == "production":
            problem = f"the store {self._database.place} has no finished run of production replies"
            raise StoreError(f"there is no {name} run to draw from, {problem}: name a file of replies")
        if not found:
            needed = "no finished run" if name == LATEST else "fewer than two finished runs"
            raise StoreError(
                f"there is no {name} run, the store {self._database.place} has {needed}: run touchstone eval"
            )
        return found[0]

    def _missing(self, name: str) -> StoreError:
        return StoreError(f"the store {self._database.place} has no run '{name}': touchstone runs list shows them")
