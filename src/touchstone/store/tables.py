"""What the tables are made of: their types, the way from a value to a row and back, and the table that all hang on.

Each module declares the tables of its noun as the newest migration leaves them.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache, lru_cache
from typing import Any, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy import select
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from touchstone.core.codec import Convert, reader, writer
from touchstone.core.errors import StoreError
from touchstone.runs.run import Receipt, Run, Terms
from touchstone.store.database import Database

# PostgreSQL refuses NUL, and no database takes half a surrogate pair; SUBSTITUTE marks what replaces them.
_MARK = "\x1a"
_REFUSED = re.compile("[\x00\x1a\ud800-\udfff]")
_MARKED = re.compile("\x1a([0-9a-f]{4})")
_HALF_PAIR = re.compile("[\ud800-\udfff]")
# How many texts a column keeps read, where few differ.
_KEPT_READ = 4096
# Below the number of values that either database takes in one statement.
CHUNK = 500

_Value = TypeVar("_Value")


class Words(TypeDecorator[str]):
    """A text column for what people and bots write: any Python string, also in comparisons."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else _REFUSED.sub(lambda match: f"{_MARK}{ord(match[0]):04x}", value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or _MARK not in value:
            return value
        return _MARKED.sub(lambda match: chr(int(match[1], 16)), value)


class Json(TypeDecorator[Any]):
    """A text column that holds values of a type as JSON; with `repeats`, equal texts are read once and shared.

    `write` and `read` are for a type whose JSON in the store is another than elsewhere.
    """

    impl = sa.Text
    cache_ok = True

    def __init__(
        self, kind: Any, *, repeats: bool = False, write: Convert | None = None, read: Convert | None = None
    ) -> None:
        super().__init__()
        self.kind = kind
        self.repeats = repeats
        self.write = write or writer(kind)
        self.read = read or reader(kind)
        self._read: Callable[[str], Any] = lru_cache(_KEPT_READ)(self._decode) if repeats else self._decode

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else to_json(self.write(value))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else self._read(value)

    def _decode(self, text: str) -> Any:
        return () if text == "[]" else self.read(from_json(text))


def needed(type: Any, *names: str) -> list[sa.Column[Any]]:
    """Columns of a type that always have a value."""
    return [sa.Column(name, type, nullable=False) for name in names]


def keys(type: Any, *names: str) -> list[sa.Column[Any]]:
    """Columns of a type that the primary key is made of."""
    return [sa.Column(name, type, primary_key=True) for name in names]


def to_json(value: Any, *, sorts: bool = False, is_spaced: bool = False) -> str:
    """JSON without spare space. What JSON has no form for, such as a date among metadata, becomes its text."""
    separators = None if is_spaced else (",", ":")
    text = json.dumps(value, ensure_ascii=False, separators=separators, sort_keys=sorts, default=str)
    if text.isascii():
        return text
    return _HALF_PAIR.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def from_json(text: str) -> Any:
    return json.loads(text)


def to_row(table: sa.Table, value: Any, **others: Any) -> dict[str, Any]:
    """A dataclass -> its row: each field that a column is named after, and columns that are called otherwise."""
    return {name: getattr(value, name) for name in _shared(table, value.__class__)} | others


def from_row(kind: type[_Value], row: sa.Row[Any], **others: Any) -> _Value:
    """A row -> the dataclass that `to_row` was given, whose fields without a column are `others`."""
    columns, made = row._mapping, cast(Any, kind)
    found: _Value = made(**{name: columns[name] for name in _fields(made) if name in columns} | others)
    return found


@cache
def _shared(table: sa.Table, kind: Any) -> tuple[str, ...]:
    return tuple(name for name in _fields(kind) if name in table.c and name != "number")


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


# The newest migration; a store at another version is upgraded or refused when it is opened.
HEAD = "0008"
# Its own name, so that a PostgreSQL database can be shared with other programs that use Alembic.
VERSION_TABLE = "touchstone_version"
NAMES: Mapping[str, str] = {
    "ix": "%(table_name)s_by_%(column_0_N_name)s",
    "uq": "%(table_name)s_one_%(column_0_N_name)s",
    "fk": "%(table_name)s_of_%(referred_table_name)s",
    "pk": "%(table_name)s_key",
}
metadata = sa.MetaData(naming_convention=NAMES)

runs = sa.Table(
    "runs",
    metadata,
    # In place of the id in a million results and their indices; numbers are not given twice.
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("id", Words, nullable=False, unique=True),
    # A gold set's replies, or a batch of production replies that people sample.
    sa.Column("kind", sa.String(16), nullable=False, server_default="goldset"),
    sa.Column("started", sa.String(40), nullable=False, index=True),
    sa.Column("finished", sa.String(40)),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("goldset", Words, nullable=False),
    sa.Column("receipt", Json(Receipt), nullable=False),
    sa.Column("receipt_hash", sa.String(32), nullable=False, index=True),
    # The rubric as it was, so that a report can be made from the run alone.
    sa.Column("rubric", Words, nullable=False),
    # Goes up whenever waivers or an erasure change what is said of its replies, so that nothing older is shown.
    sa.Column("revision", sa.Integer, nullable=False, server_default="0"),
    # What the gate held it to, if it did.
    sa.Column("terms", Json(Terms)),
    sqlite_autoincrement=True,
)

# What a Run is made from; without the rubric, which is long.
RUN_COLUMNS = tuple(column for column in runs.c if column.name not in ("goldset", "receipt_hash", "rubric"))

run_labels = sa.Table(
    "run_labels",
    metadata,
    sa.Column("run", sa.ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", Words, primary_key=True),
    sa.Column("value", Words, nullable=False),
)


def fetch_runs(database: Database, query: sa.Select[Any]) -> dict[int, Run]:
    """The runs of a query over RUN_COLUMNS by their numbers, with their labels."""
    rows = database.rows(query)
    labels: dict[int, dict[str, str]] = {row.number: {} for row in rows}
    for start in range(0, len(rows), CHUNK):
        here = run_labels.c.run.in_([row.number for row in rows[start : start + CHUNK]])
        for label in database.rows(select(run_labels).where(here).order_by(run_labels.c.run, run_labels.c.name)):
            labels[label.run][label.name] = label.value
    return {row.number: from_row(Run, row, labels=labels[row.number]) for row in rows}


def find_run_number(database: Database, id: str) -> int | None:
    """The number of a run. In a writing transaction on PostgreSQL, others that write to the run then wait."""
    query = select(runs.c.number).where(runs.c.id == id)
    number: int | None = database.scalar(query.with_for_update() if database.is_writing else query)
    return number


def run_number(database: Database, id: str) -> int:
    """The number of a run that has to be there."""
    number = find_run_number(database, id)
    if number is None:
        raise StoreError(f"the store {database.place} has no run '{id}': touchstone runs list shows them")
    return number
