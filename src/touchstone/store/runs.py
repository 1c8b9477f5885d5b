"""The store: runs by name, with their labels and scored replies, in SQLite or PostgreSQL.

What a method has returned from is stored for good, whatever becomes of the process.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, delete, exists, insert, select, text, update

from touchstone.core.codec import content_hash, encode
from touchstone.core.errors import ReviewError, StoreError
from touchstone.runs.run import Kind, Receipt, Run, Terms
from touchstone.store.database import Database, open_database
from touchstone.store.erasure import Forgotten, forget_cases
from touchstone.store.marks import Actions, Marks, Measurements, Rubrics, RubricVersion
from touchstone.store.pages import LIMIT, NEWEST_FIRST, find_place, runs_query
from touchstone.store.queues import Queues, queues
from touchstone.store.replies import Appended, Replies
from touchstone.store.results import Scored, cases, results
from touchstone.store.reviews import Reviews
from touchstone.store.tables import RUN_COLUMNS, fetch_runs, run_labels, run_number, runs, to_json, to_row
from touchstone.store.upgrade import upgrade
from touchstone.store.users import Audit, Idempotency, Invites, Logins, Sessions, Tokens, Users

LATEST = "latest"
PREVIOUS = "previous"
_SHOWN_IDS = 3


@dataclass(frozen=True, slots=True)
class RunPage:
    """Some runs, and the id that the next page comes after; None at the end."""

    items: tuple[Run, ...]
    next: str | None


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
    """Runs, and all that is kept beside them. A run's `id` is meant exactly; `find_run` takes the names people use."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.replies = Replies(database)
        self.queues = Queues(database)
        self.reviews = Reviews(database)
        self.marks = Marks(database)
        self.actions = Actions(database)
        self.measurements = Measurements(database)
        self.rubrics = Rubrics(database)
        self.users = Users(database)
        self.tokens = Tokens(database)
        self.sessions = Sessions(database)
        self.invites = Invites(database)
        self.logins = Logins(database)
        self.audit = Audit(database)
        self.idempotency = Idempotency(database)

    @property
    def place(self) -> str:
        """Where it is, without a password."""
        return self._database.place

    def check(self) -> None:
        """StoreError when the database does not answer."""
        self._database.scalar(text("SELECT 1"))

    def reading(self) -> AbstractContextManager[Connection]:
        """All that this thread reads inside is read in one transaction."""
        return self._database.reading()

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
        receipt = run.receipt
        row = to_row(runs, run, goldset=receipt.goldset, receipt_hash=_receipt_hash(receipt), rubric=rubric)
        with self._database.writing():
            if self._database.scalar(select(exists().where(runs.c.id == run.id))):
                raise StoreError(f"the store {self.place} has a run {run.id} already: give another id")
            self._database.write(insert(runs), row)
            self._add_labels(run_number(self._database, run.id), run.labels)
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
        if name in (LATEST, PREVIOUS):
            return self._recent(name, kind)
        if (exact := self.get_run(name)) is not None:
            return exact
        similar = self._fetch(runs.c.id.startswith(name, autoescape=True))[::-1] if name else []
        # SQLite's LIKE takes upper and lower case for the same.
        found = [run for run in similar if run.id.startswith(name)]
        if not found:
            raise self._missing(name)
        if len(found) > 1:
            shown = ", ".join(run.id for run in found[:_SHOWN_IDS]) + (" …" if len(found) > _SHOWN_IDS else "")
            raise StoreError(f"'{name}' is the beginning of {len(found)} runs ({shown}): give more of the id")
        return found[0]

    def get_run(self, id: str) -> Run | None:
        """The run of exactly this id, if there is one."""
        return next(iter(self._fetch(runs.c.id == id)), None)

    def list_runs(
        self, *, limit: int | None = None, labels: Mapping[str, str] | None = None, kind: Kind | None = None
    ) -> list[Run]:
        """The newest first; with `labels`, those that have them all."""
        with self._database.reading():
            return list(fetch_runs(self._database, runs_query(labels=labels, kind=kind, limit=limit)).values())

    def page_runs(
        self,
        *,
        labels: Mapping[str, str] | None = None,
        kind: Kind | None = None,
        after: str | None = None,
        limit: int = LIMIT,
    ) -> RunPage:
        """Some of them, from behind the run with the id `after`."""
        with self._database.reading():
            place = None if after is None else find_place(self._database, after)
            query = runs_query(labels=labels, kind=kind, after=place, limit=limit + 1)
            found = list(fetch_runs(self._database, query).values())
        return RunPage(tuple(found[:limit]), found[limit - 1].id if len(found) > limit else None)

    def unfinished_runs(self, receipt: Receipt, *, labels: Mapping[str, str]) -> list[Run]:
        """Runs that were begun with this receipt and these labels and could go on, the newest first."""
        found = self._fetch(runs.c.receipt_hash == _receipt_hash(receipt), runs.c.finished.is_(None))
        return [run for run in found if run.receipt == receipt and dict(run.labels) == dict(labels)]

    def finish_run(self, id: str, *, finished: str, seconds: float) -> Run:
        return self._update(id, finished=finished, seconds=seconds)

    def keep_terms(self, id: str, terms: Terms) -> Run:
        """Notes what the gate held the run to."""
        return self._update(id, terms=terms)

    def label_run(self, id: str, labels: Mapping[str, str | None]) -> Run:
        """Sets labels beside those the run has; None takes one away."""
        with self._database.writing():
            number = run_number(self._database, id)
            changed = run_labels.c.name.in_(list(labels))
            self._database.write(delete(run_labels).where(run_labels.c.run == number, changed))
            self._add_labels(number, labels)
            return self._fetch(runs.c.number == number)[0]

    def delete_run(self, id: str) -> None:
        """The run with its results, and the cases that no other run has."""
        with self._database.writing() as connection:
            number = run_number(self._database, id)
            if connection.dialect.name == "postgresql":
                # Another run may be about to refer to a case that is on its way out.
                connection.execute(text("LOCK TABLE cases IN SHARE ROW EXCLUSIVE MODE"))
            if self._has_queue(number):
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
        found = self._database.scalar(select(runs.c.rubric).where(runs.c.id == id))
        if found is None:
            raise self._missing(id)
        return str(found)

    def append(self, id: str, entries: Sequence[Scored], *, data: str, finished: str, seconds: float) -> Appended:
        """Adds replies behind those the run has, all or none, and finishes it; a case it holds is left out.

        A run that a queue was drawn from takes no more: the queue's figures are about the replies it had.
        """
        with self._database.writing():
            number = run_number(self._database, id)
            if self._has_queue(number):
                raise ReviewError(
                    f"a queue was drawn from run {id}, and its report is about the replies it had then: add these to "
                    "another run",
                    kind="conflict",
                )
            appended = self.replies.append(id, entries)
            run = self._fetch(runs.c.number == number)[0]
            receipt = replace(run.receipt, data=content_hash([run.receipt.data, data]))
            changed = {"receipt": receipt, "receipt_hash": _receipt_hash(receipt)}
            self._update(id, finished=finished, seconds=run.seconds + seconds, **changed)
        return appended

    def forget(self, *, cases: Collection[str] = (), metadata: Mapping[str, str] | None = None, at: str) -> Forgotten:
        """Erases the text of these cases, and of those whose metadata has all these values; counts stay."""
        with self._database.writing():
            forgotten = forget_cases(self._database, ids=cases, metadata=metadata or {}, at=at)
        self._database.scrub()
        return forgotten

    def _fetch(self, *conditions: Any) -> list[Run]:
        with self._database.reading():
            query = select(*RUN_COLUMNS).where(*conditions).order_by(*NEWEST_FIRST)
            return list(fetch_runs(self._database, query).values())

    def _update(self, id: str, **values: Any) -> Run:
        with self._database.writing():
            number = run_number(self._database, id)
            self._database.write(update(runs).where(runs.c.number == number).values(**values))
            return self._fetch(runs.c.number == number)[0]

    def _add_labels(self, run: int, labels: Mapping[str, str | None]) -> None:
        rows = [{"run": run, "name": name, "value": value} for name, value in labels.items() if value is not None]
        if rows:
            self._database.write(insert(run_labels), rows)

    def _has_queue(self, run: int) -> bool:
        return bool(self._database.scalar(select(exists().where(queues.c.run == run))))

    def _recent(self, name: str, kind: Kind) -> Run:
        finished = select(*RUN_COLUMNS).where(runs.c.finished.is_not(None), runs.c.kind == kind)
        query = finished.order_by(*NEWEST_FIRST).offset(0 if name == LATEST else 1).limit(1)
        with self._database.reading():
            found = list(fetch_runs(self._database, query).values())
        if found:
            return found[0]
        if kind == "production":
            problem = f"the store {self.place} has no finished run of production replies"
            raise StoreError(f"there is no {name} run to draw from, {problem}: name a file of replies")
        needed = "no finished run" if name == LATEST else "fewer than two finished runs"
        raise StoreError(f"there is no {name} run, the store {self.place} has {needed}: run touchstone eval")

    def _missing(self, name: str) -> StoreError:
        return StoreError(f"the store {self.place} has no run '{name}': touchstone runs list shows them")


def _receipt_hash(receipt: Receipt) -> str:
    """A name for what determined a run. A verifier that nobody used is left out, as it was before there was one."""
    row = {name: value for name, value in encode(receipt).items() if name != "verifier" or value is not None}
    return hashlib.sha256(to_json(row, sorts=True).encode()).hexdigest()[:32]
