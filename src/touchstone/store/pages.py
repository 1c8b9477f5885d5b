"""Filters and a cursor -> one page of a run's replies, read from an index however long the run is.

A page starts where the last one ended (keyset paging), so the millionth reply costs what the first does.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

from touchstone.core.errors import StoreError
from touchstone.runs.record import Record
from touchstone.store.rows import RECORD_COLUMNS, RecordReader
from touchstone.store.schema import result_tags, results

LIMIT = 50
MAX_LIMIT = 1000
OPEN = "open"
NO_CURSOR = "the cursor is none of this list: begin at its first page"
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
    query = select(results.c.position, results.c.case_hash.is_not(None), *RECORD_COLUMNS)
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


def fetch_page(connection: Connection, run: int, filters: Filters, *, after: str | None, limit: int) -> Page:
    if not 1 <= limit <= MAX_LIMIT:
        raise StoreError(f"a page of {limit} replies cannot be given: allowed are 1 to {MAX_LIMIT}")
    key = None if after is None else _read_key(after, search=filters.search)
    rows = connection.execute(page_query(run, filters, after=key, limit=limit + 1)).all()
    reader = RecordReader()
    items = tuple(Listed(row[0], reader.read(row[2:]), bool(row[1])) for row in rows[:limit])
    return Page(items, _cursor(items[-1], filters) if len(rows) > limit else None)


def fetch_all(connection: Connection, run: int) -> list[Listed]:
    """Every reply of the run, without its text."""
    columns = (results.c.position, results.c.case_hash.is_not(None), *RECORD_COLUMNS)
    query = select(*columns).where(results.c.run == run).order_by(results.c.position)
    reader = RecordReader()
    return [Listed(row[0], reader.read(row[2:]), bool(row[1])) for row in connection.execute(query)]


def fetch_categories(connection: Connection, run: int) -> tuple[str, ...]:
    """By hopping along the index from one category to the next: a million replies have a few categories."""
    found: list[str] = []
    query = select(func.min(results.c.category)).where(results.c.run == run)
    while True:
        category = connection.scalar(query.where(results.c.category > found[-1]) if found else query)
        if category is None:
            return tuple(found)
        found.append(category)


def count_tags(connection: Connection, run: int) -> dict[str, int]:
    """How many replies have each tag, the most frequent first."""
    query = select(result_tags.c.tag, func.count()).where(result_tags.c.run == run).group_by(result_tags.c.tag)
    counted = [(row[0], row[1]) for row in connection.execute(query)]
    return dict(sorted(counted, key=lambda each: (-each[1], each[0])))


def _start(filters: Filters) -> list[Any]:
    return [filters.search, -1] if filters.search else [-1]


def _beyond(place: Sequence[ColumnElement[Any]], after: Sequence[Any]) -> ColumnElement[bool]:
    if len(place) == 1:
        return and_(place[0] > after[0])
    # The first half bounds the index range; row values would say it in one, but not every planner uses them.
    return and_(place[0] >= after[0], or_(place[0] > after[0], place[1] > after[1]))


def _cursor(last: Listed, filters: Filters) -> str:
    return write_cursor(last.record.id, last.position) if filters.search else write_cursor(last.position)


def _read_key(cursor: str, *, search: str | None) -> list[Any]:
    if not search:
        return read_cursor(cursor, int)
    key = read_cursor(cursor, str, int)
    if not key[0].startswith(search):
        raise StoreError(NO_CURSOR)
    return key


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
