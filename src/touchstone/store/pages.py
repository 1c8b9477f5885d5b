"""Filters and a cursor -> the query of one page of replies or runs, read from an index however many there are.

A page starts where the last one ended (keyset paging), so the millionth reply costs what the first does.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, or_, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

from touchstone.core.errors import StoreError
from touchstone.runs.record import Record
from touchstone.runs.run import Kind
from touchstone.store.database import Database
from touchstone.store.results import RECORD_COLUMNS, result_tags, results
from touchstone.store.tables import RUN_COLUMNS, run_labels, runs

LIMIT = 50
MAX_LIMIT = 1000
OPEN = "open"
NO_CURSOR = "the cursor is none of this list: begin at its first page"
LISTED_COLUMNS = (results.c.position, results.c.case_hash.is_not(None), *RECORD_COLUMNS)
# Two runs may have begun in one second: their numbers say which is the newer.
NEWEST_FIRST = (runs.c.started.desc(), runs.c.number.desc())
_LAST_CHARACTER = "\U0010ffff"


class _Rare(FunctionElement[Any]):
    """A condition that seldom holds: SQLite takes "is null" for frequent and would read the run from end to end."""

    type = NullType()
    inherit_cache = True


@compiles(_Rare)
def _compile_rare(element: _Rare, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


@compiles(_Rare, "sqlite")
def _compile_rare_for_sqlite(element: _Rare, compiler: SQLCompiler, **options: Any) -> str:
    return f"unlikely({compiler.process(element.clauses, **options)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which replies are wanted; None wants all. `outcome` "open" is a reply without one, `search` begins a case id."""

    outcome: str | None = None
    category: str | None = None
    decision: str | None = None
    tag: str | None = None
    search: str | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """One reply of a list. Without a case there is no text to show: it could not be read or drafted."""

    position: int
    record: Record
    has_case: bool


def listed(row: Sequence[Any]) -> Listed:
    """A row of LISTED_COLUMNS -> the reply."""
    return Listed(row[0], Record(*row[2:]), bool(row[1]))


@dataclass(frozen=True, slots=True)
class Page:
    """Some replies, and the cursor of the next page; None after the last."""

    items: tuple[Listed, ...]
    next: str | None


def page_query(run: int, filters: Filters, *, after: Sequence[Any] | None, limit: int) -> Select[Any]:
    """By position, or by case id where a search is made: each as its index has it, so that nothing is sorted."""
    source = results
    place: tuple[ColumnElement[Any], ...] = (results.c.position,)
    conditions: list[ColumnElement[bool]] = [results.c.run == run]
    query = select(*LISTED_COLUMNS)
    if filters.search:
        place = (results.c.case_id, results.c.position)
        conditions.append(results.c.case_id < filters.search + _LAST_CHARACTER)
    if filters.tag is not None:
        tagged = and_(result_tags.c.run == results.c.run, result_tags.c.position == results.c.position)
        query = query.select_from(source.join(result_tags, tagged))
        conditions += [result_tags.c.run == run, result_tags.c.tag == filters.tag]
        place = place if filters.search else (result_tags.c.position,)
    if filters.outcome is not None:
        is_open = filters.outcome == OPEN
        conditions.append(_Rare(results.c.outcome.is_(None)) if is_open else results.c.outcome == filters.outcome)
    if filters.category is not None:
        conditions.append(results.c.category == filters.category)
    if filters.decision is not None:
        conditions.append(results.c.decision == filters.decision)
    # One lower bound and always the same one: of two SQLite takes the first, of none it may take another index.
    conditions.append(_beyond(place, after or _start(filters)))
    if filters.outcome == OPEN and not filters.search and filters.tag is None:
        # All have the same, but PostgreSQL has to be told that the index gives this order.
        return query.where(*conditions).order_by(results.c.outcome, *place).limit(limit)
    return query.where(*conditions).order_by(*place).limit(limit)


def _start(filters: Filters) -> list[Any]:
    return [filters.search, -1] if filters.search else [-1]


def _beyond(place: Sequence[ColumnElement[Any]], after: Sequence[Any]) -> ColumnElement[bool]:
    if len(place) == 1:
        return and_(place[0] > after[0])
    # The first half bounds the index range; row values would say it in one, but not every planner uses them.
    return and_(place[0] >= after[0], or_(place[0] > after[0], place[1] > after[1]))


def read_key(cursor: str, filters: Filters) -> list[Any]:
    """Where the page that begins behind the cursor begins: a position, or an id and a position where one searches."""
    if not filters.search:
        return read_cursor(cursor, int)
    key = read_cursor(cursor, str, int)
    if not key[0].startswith(filters.search):
        raise StoreError(NO_CURSOR)
    return key


def write_key(last: Listed, filters: Filters) -> str:
    """The cursor behind the last reply of a page."""
    return write_cursor(last.record.id, last.position) if filters.search else write_cursor(last.position)


def write_cursor(*key: str | int) -> str:
    """What the next page comes after, as a caller is given it; the last part of the key is a position."""
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def read_cursor(text: str, *kinds: type) -> list[Any]:
    """The key of a cursor, of parts of these kinds; StoreError for anything else."""
    try:
        key = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        key = None
    fits = isinstance(key, list) and [type(each) for each in key] == list(kinds)
    if not fits or not isinstance(key, list) or not 0 <= key[-1] < 2**31:
        raise StoreError(NO_CURSOR)
    return key


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


def find_place(database: Database, run: str) -> Sequence[Any]:
    """Time and number of the run with this id, where a list goes on behind it."""
    place = database.first(select(runs.c.started, runs.c.number).where(runs.c.id == run))
    if place is None:
        raise StoreError(NO_CURSOR)
    return place
