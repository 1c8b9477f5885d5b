"""A customer's right to erasure: their text goes from every table, counts and grades stay.

What is left of a case is its id, category and confidence; of a result its scores, grades and kinds of violation.
A text stays only where it cannot quote the customer, the bot or a source.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, delete, exists, insert, select, text, update

from touchstone.core.case import Case
from touchstone.core.codec import result_to_dict
from touchstone.core.result import Finding, Result
from touchstone.core.texts import map_texts
from touchstone.store.columns import from_json, to_json
from touchstone.store.people_schema import idempotency
from touchstone.store.results import ERASED_AT, raise_revision
from touchstone.store.review_rows import violations_from_json, violations_to_json
from touchstone.store.review_schema import drafts, queue_items, queues, reviews, rulings, waivers
from touchstone.store.rows import RECORD_COLUMNS, RecordReader, case_to_row, counted_columns, result_from_body
from touchstone.store.schema import bodies, cases, results, runs

ERASED = "(erased)"
_CHUNK = 500
_Value = TypeVar("_Value")
# `hallucination 0.67 > 0.50`: why a verdict is FAIL, with the name of a metric.
_BOUND = re.compile(r" [\d.]+ [<>]=? [\d.]+$")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many cases, replies, reviews and rulings lost their text, and in which runs."""

    cases: int
    results: int
    reviews: int
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """One reply: its run, its position, and the hash of its case."""

    run: int
    position: int
    hash: str | None


def forget_cases(connection: Connection, *, ids: Collection[str], metadata: Mapping[str, str], at: str) -> Forgotten:
    """Erases the cases of these ids, and those whose metadata has all of these values."""
    if connection.dialect.name == "postgresql":
        # No other process may add a case that is on its way out. Whoever writes to a run locks its row first.
        connection.execute(text("LOCK TABLE runs IN EXCLUSIVE MODE"))
        connection.execute(text("LOCK TABLE cases, results IN SHARE ROW EXCLUSIVE MODE"))
    places = [*_by_ids(connection, ids), *_by_metadata(connection, metadata)]
    places = list(dict.fromkeys(places))
    for place in places:
        _erase_result(connection, place)
    hashes = {place.hash for place in places if place.hash is not None}
    for hash in sorted(hashes):
        _erase_case(connection, hash, places, at=at)
    touched = sum(_erase_words(connection, place) for place in places)
    if places:
        # Kept answers of the service may quote a reply; they only spare a second sending.
        connection.execute(delete(idempotency))
    numbers = sorted({place.run for place in places})
    for number in numbers:
        raise_revision(connection, number)
    names = [connection.scalar(select(runs.c.id).where(runs.c.number == number)) for number in numbers]
    return Forgotten(len(hashes), len(places), touched, tuple(name for name in names if name))


def _by_ids(connection: Connection, ids: Collection[str]) -> list[_Place]:
    columns = select(results.c.run, results.c.position, results.c.case_hash)
    return [
        _Place(*row)
        for id in dict.fromkeys(ids)
        for row in connection.execute(columns.where(results.c.case_id == id).order_by(results.c.run))
    ]


def _by_metadata(connection: Connection, metadata: Mapping[str, str]) -> list[_Place]:
    """Metadata has no index: every case is read, a page at a time."""
    if not metadata:
        return []
    found: list[_Place] = []
    after = ""
    while True:
        query = select(cases.c.hash, cases.c.body).where(cases.c.hash > after).order_by(cases.c.hash).limit(_CHUNK)
        page = connection.execute(query).all()
        for row in page:
            body = from_json(row.body)
            if all(name in body and str(body[name]) == value for name, value in metadata.items()):
                here = select(results.c.run, results.c.position).where(results.c.case_hash == row.hash)
                found += [_Place(each.run, each.position, row.hash) for each in connection.execute(here)]
        if len(page) < _CHUNK:
            return found
        after = page[-1].hash


def _erase_case(connection: Connection, hash: str, places: Sequence[_Place], *, at: str) -> None:
    """Under a new hash, so that the same case may come again, and as no hash of a text should outlive it."""
    body = from_json(connection.scalar(select(cases.c.body).where(cases.c.hash == hash)) or "{}")
    left = Case(
        id=body.get("id"),
        response="",
        category=body.get("category"),
        confidence=body.get("confidence"),
        metadata={ERASED_AT: at},
    )
    row = case_to_row(left)
    if not connection.scalar(select(exists().where(cases.c.hash == row["hash"]))):
        connection.execute(insert(cases), row)
    for place in places:
        if place.hash == hash:
            here = (results.c.run == place.run, results.c.position == place.position)
            connection.execute(update(results).where(*here).values(case_hash=row["hash"]))
    still_used = exists().where(results.c.case_hash == hash)
    if row["hash"] != hash:
        connection.execute(delete(cases).where(cases.c.hash == hash, ~still_used))


def _erase_result(connection: Connection, place: _Place) -> None:
    here = (bodies.c.run == place.run, bodies.c.position == place.position)
    body = connection.scalar(select(bodies.c.body).where(*here))
    if body is not None:
        left = to_json(result_to_dict(erase_result(result_from_body(body))))
        connection.execute(update(bodies).where(*here).values(body=left))
    row = (results.c.run == place.run, results.c.position == place.position)
    held = RecordReader().read(connection.execute(select(*RECORD_COLUMNS).where(*row)).one())
    record = replace(_erased(held), why=(ERASED,) if held.why else ())
    connection.execute(update(results).where(*row).values(**counted_columns(record)))


def erase_result(result: Result) -> Result:
    """The result with its numbers and kinds, and none of the text it was found in."""
    metrics = result.metrics or {}
    bounds = tuple(reason for reason in result.reasons if _BOUND.sub("", reason) in metrics)
    return replace(_erased(result), reasons=bounds)


def _erased(value: _Value) -> _Value:
    """Findings stay, since their kinds are counted; other quotations and lists of texts are emptied."""
    return map_texts(
        value,
        prose=lambda text: ERASED,
        quotation=lambda quoted: replace(quoted, text=ERASED) if isinstance(quoted, Finding) else None,
        listed=lambda text: None,
    )


def _erase_words(connection: Connection, place: _Place) -> int:
    """What people wrote about the reply; how many reviews and rulings that were."""
    of_run = select(queues.c.number).where(queues.c.run == place.run)
    here = (queue_items.c.queue.in_(of_run), queue_items.c.result == place.position)
    items = connection.execute(select(queue_items.c.queue, queue_items.c.position).where(*here)).all()
    count = 0
    for queue, position in items:
        connection.execute(delete(drafts).where(drafts.c.queue == queue, drafts.c.position == position))
        count += _erase_rows(connection, reviews, "note", queue, position)
        count += _erase_rows(connection, rulings, "reason", queue, position)
    on_result = (waivers.c.run == place.run, waivers.c.result == place.position)
    connection.execute(update(waivers).where(*on_result).values(reason=ERASED))
    return count


def _erase_rows(connection: Connection, table: Any, words: str, queue: int, position: int) -> int:
    here = (table.c.queue == queue, table.c.position == position)
    rows: Sequence[Row[Any]] = connection.execute(select(table).where(*here)).all()
    for row in rows:
        marked = violations_to_json(_erased(violations_from_json(row.violations)))
        said = ERASED if row._mapping[words] else ""
        connection.execute(update(table).where(table.c.number == row.number).values(violations=marked, **{words: said}))
    return len(rows)
