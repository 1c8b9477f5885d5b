"""A customer's right to erasure: their text goes from every table, counts and grades stay.

What is left of a case is its id, category and confidence; of a result its scores, grades and kinds of violation.
A text stays only where it cannot quote the customer, the bot or a source.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

from sqlalchemy import Row, Table, and_, delete, exists, select, text, update

from touchstone.core.case import Case
from touchstone.core.result import Finding, Result
from touchstone.core.texts import map_texts
from touchstone.runs.record import Record
from touchstone.store.database import Database
from touchstone.store.queues import queue_items, queues, reviews
from touchstone.store.results import (
    ERASED_AT,
    RECORD_COLUMNS,
    bodies,
    body_of,
    case_to_row,
    cases,
    raise_revision,
    result_of,
    results,
    update_counted,
    waivers,
)
from touchstone.store.reviews import drafts, rulings
from touchstone.store.tables import CHUNK, from_json, runs
from touchstone.store.users import idempotency

ERASED = "(erased)"
_Value = TypeVar("_Value")
# `hallucination 0.67 > 0.50`: why a verdict is FAIL, with the name of a metric.
_BOUND = re.compile(r" [\d.]+ [<>]=? [\d.]+$")
# One reply: its run, its position, and the hash of its case.
_REPLIES = select(results.c.run, results.c.position, results.c.case_hash)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many cases, replies, reviews and rulings lost their text, and in which runs."""

    cases: int
    results: int
    reviews: int
    runs: tuple[str, ...]


def forget_cases(database: Database, *, ids: Collection[str], metadata: Mapping[str, str], at: str) -> Forgotten:
    """Erases the cases of these ids, and those whose metadata has all of these values."""
    with database.writing() as connection:
        if connection.dialect.name == "postgresql":
            # No other process may add a case that is on its way out. Whoever writes to a run locks its row first.
            connection.execute(text("LOCK TABLE runs IN EXCLUSIVE MODE"))
            connection.execute(text("LOCK TABLE cases, results IN SHARE ROW EXCLUSIVE MODE"))
        named = (database.rows(_REPLIES.where(results.c.case_id == id).order_by(results.c.run)) for id in ids)
        hashes = _hashes_with(database, metadata) if metadata else ()
        described = (database.rows(_REPLIES.where(results.c.case_hash == hash)) for hash in hashes)
        # Rows of equal values are equal: each reply once.
        replies = list(dict.fromkeys(chain.from_iterable(chain(named, described))))
        for reply in replies:
            _erase_result(database, reply)
        erased = {reply.case_hash for reply in replies if reply.case_hash is not None}
        for hash in sorted(erased):
            _erase_case(database, hash, [reply for reply in replies if reply.case_hash == hash], at=at)
        touched = sum(_erase_words(database, reply) for reply in replies)
        if replies:
            # Kept answers of the service may quote a reply; they only spare a second sending.
            database.write(delete(idempotency))
        numbers = sorted({reply.run for reply in replies})
        for number in numbers:
            raise_revision(database, number)
        names = [database.scalar(select(runs.c.id).where(runs.c.number == number)) for number in numbers]
    return Forgotten(len(erased), len(replies), touched, tuple(names))


def _hashes_with(database: Database, metadata: Mapping[str, str]) -> Iterable[str]:
    """Metadata has no index: every case is read, a page at a time."""
    query = select(cases.c.hash, cases.c.body).order_by(cases.c.hash).limit(CHUNK)
    after = ""
    while page := database.rows(query.where(cases.c.hash > after)):
        for row in page:
            body = from_json(row.body)
            if all(name in body and str(body[name]) == value for name, value in metadata.items()):
                yield row.hash
        after = page[-1].hash


def _erase_case(database: Database, hash: str, replies: Iterable[Row[Any]], *, at: str) -> None:
    """Under a new hash, so that the same case may come again, and as no hash of a text should outlive it."""
    body = from_json(database.scalar(select(cases.c.body).where(cases.c.hash == hash)) or "{}")
    kept = {name: body.get(name) for name in ("id", "category", "confidence")}
    row = case_to_row(Case(**kept, response="", metadata={ERASED_AT: at}))
    database.add_missing(cases, row)
    for reply in replies:
        database.write(update(results).where(_here(results, reply)).values(case_hash=row["hash"]))
    still_used = exists().where(results.c.case_hash == hash)
    if row["hash"] != hash:
        database.write(delete(cases).where(cases.c.hash == hash, ~still_used))


def _erase_result(database: Database, reply: Row[Any]) -> None:
    body = database.scalar(select(bodies.c.body).where(_here(bodies, reply)))
    if body is not None:
        left = body_of(erase_result(result_of(body)))
        database.write(update(bodies).where(_here(bodies, reply)).values(body=left))
    for row in database.rows(select(*RECORD_COLUMNS).where(_here(results, reply))):
        held = Record(*row)
        left_over = replace(_erased(held), why=(ERASED,) if held.why else ())
        update_counted(database, reply.run, reply.position, left_over)


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


def _erase_words(database: Database, reply: Row[Any]) -> int:
    """What people wrote about the reply; how many reviews and rulings that were."""
    of_run = select(queues.c.number).where(queues.c.run == reply.run)
    here = (queue_items.c.queue.in_(of_run), queue_items.c.result == reply.position)
    count = 0
    for item in database.rows(select(queue_items.c.queue, queue_items.c.position).where(*here)):
        of_item = (drafts.c.queue == item.queue, drafts.c.position == item.position)
        database.write(delete(drafts).where(*of_item))
        count += _erase_rows(database, reviews, "note", item) + _erase_rows(database, rulings, "reason", item)
    of_reply = (waivers.c.run == reply.run, waivers.c.result == reply.position)
    database.write(update(waivers).where(*of_reply).values(reason=ERASED))
    return count


def _erase_rows(database: Database, table: Table, words: str, item: Row[Any]) -> int:
    rows = database.rows(select(table).where(table.c.queue == item.queue, table.c.position == item.position))
    for row in rows:
        left = {"violations": _erased(row.violations), words: ERASED if row._mapping[words] else ""}
        database.write(update(table).where(table.c.number == row.number).values(**left))
    return len(rows)


def _here(table: Table, reply: Row[Any]) -> Any:
    return and_(table.c.run == reply.run, table.c.position == reply.position)
