"""Runs as they are listed: the newest first, by kind and labels, page by page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, exists, or_, select

from touchstone.core.errors import StoreError
from touchstone.runs.run import Kind, Run
from touchstone.store.pages import NO_CURSOR
from touchstone.store.rows import RUN_COLUMNS, run_from_row
from touchstone.store.schema import run_labels, runs

# Two runs may have begun in one second: their numbers say which is the newer.
NEWEST_FIRST = (runs.c.started.desc(), runs.c.number.desc())
# Below the number of values that either database takes in one statement.
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class RunPage:
    """Some runs, and the id that the next page comes after; None at the end."""

    items: tuple[Run, ...]
    next: str | None


def runs_query(
    *,
    labels: Mapping[str, str] | None = None,
    kind: Kind | None = None,
    after: Sequence[Any] | None = None,
    limit: int | None = None,
) -> Select[Any]:
    """The newest first; those that have all the labels, and began before the run `after`, given by time and number."""
    query = select(*RUN_COLUMNS).order_by(*NEWEST_FIRST).limit(limit)
    if kind is not None:
        query = query.where(runs.c.kind == kind)
    for name, value in (labels or {}).items():
        here = (run_labels.c.run == runs.c.number, run_labels.c.name == name, run_labels.c.value == value)
        query = query.where(exists().where(*here))
    return query if after is None else query.where(earlier(after))


def earlier(place: Sequence[Any]) -> ColumnElement[bool]:
    """Runs that began before the one at this place, given by time and number."""
    started, number = place
    return and_(runs.c.started <= started, or_(runs.c.started < started, runs.c.number < number))


def find_place(connection: Connection, cursor: str) -> tuple[Any, Any]:
    """Time and number of the run with this id."""
    place = connection.execute(select(runs.c.started, runs.c.number).where(runs.c.id == cursor)).first()
    if place is None:
        raise StoreError(NO_CURSOR)
    return place.started, place.number


def fetch_run_page(
    connection: Connection, *, labels: Mapping[str, str] | None, kind: Kind | None, after: str | None, limit: int
) -> RunPage:
    """The page behind the run with the id `after`."""
    place = None if after is None else find_place(connection, after)
    found = fetch_runs(connection, runs_query(labels=labels, kind=kind, after=place, limit=limit + 1))
    return RunPage(tuple(found[:limit]), found[limit - 1].id if len(found) > limit else None)


def fetch_runs(connection: Connection, query: Select[Any]) -> list[Run]:
    """The runs of a query over RUN_COLUMNS, with their labels."""
    rows = connection.execute(query).all()
    labels = _labels(connection, rows)
    return [run_from_row(row, labels=labels[row.number]) for row in rows]


def label_rows(run: int | None, labels: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """The labels that have a value as rows."""
    return [{"run": run, "name": name, "value": value} for name, value in labels.items() if value is not None]


def _labels(connection: Connection, rows: Sequence[Row[Any]]) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {row.number: {} for row in rows}
    numbers = list(found)
    for start in range(0, len(numbers), _CHUNK):
        query = select(run_labels).where(run_labels.c.run.in_(numbers[start : start + _CHUNK]))
        for row in connection.execute(query.order_by(run_labels.c.run, run_labels.c.name)):
            found[row.run][row.name] = row.value
    return found
