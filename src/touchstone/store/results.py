"""Scored replies <-> rows of a run: each reply once, in the order of their positions, as it counts after waivers.

A reply is two rows: a narrow one in `results` that figures, filters and pages are made from, as it counts after
waivers, and its whole text in `bodies`, as the judge gave it, which is read one at a time. A case is kept once, under
the hash of its content, however many runs score it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from touchstone.core.case import Case
from touchstone.core.codec import case_from_dict, case_to_dict, encode, result_from_dict
from touchstone.core.errors import StoreError
from touchstone.core.result import Result, ViolationKind, Waived
from touchstone.runs.record import Record, record
from touchstone.runs.tags import Tag
from touchstone.runs.waivers import Waiver, count_waivers
from touchstone.store.database import Database
from touchstone.store.tables import (
    CHUNK,
    Json,
    Words,
    from_json,
    from_row,
    keys,
    metadata,
    needed,
    runs,
    to_json,
    to_row,
)

cases = sa.Table(
    "cases",
    metadata,
    sa.Column("hash", sa.String(32), primary_key=True),
    sa.Column("body", sa.Text, nullable=False),
)

results = sa.Table(
    "results",
    metadata,
    sa.Column("run", sa.ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("case_id", Words, nullable=False),
    sa.Column("draft", sa.Integer, nullable=False),
    # None for a row that could not be read or drafted. Checked at the end of a transaction, so that a run can be
    # deleted after the cases that only it has.
    sa.Column("case_hash", sa.ForeignKey("cases.hash", deferrable=True, initially="DEFERRED"), index=True),
    sa.Column("category", Words),
    sa.Column("confidence", sa.Double),
    sa.Column("decision", sa.String(16), nullable=False),
    sa.Column("verdict", sa.String(16)),
    sa.Column("outcome", sa.String(16)),
    sa.Column("total", sa.Double),
    sa.Column("failed", sa.Boolean, nullable=False),
    sa.Column("grades", Json(Mapping[str, int | None], repeats=True), nullable=False),
    sa.Column("violations", Json(tuple[ViolationKind, ...], repeats=True), nullable=False),
    sa.Column("tags", Json(tuple[Tag, ...]), nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
    # Of a failed reply, what was wrong; of any other, what keeps it from being sent, as JSON: it may quote the reply.
    sa.Column("problem", Words),
    # Violations that people found to be none; the other columns are as they count without these.
    sa.Column("waived", Json(tuple[Waived, ...]), nullable=False, server_default="[]"),
    sa.Column("pass_probability", sa.Double),
    # Kept in the order of the key, so that a page is read from neighbouring places.
    sqlite_with_rowid=False,
)
# A page of a filtered list starts where the last one ended, without reading what lies before it.
sa.Index("results_by_outcome", results.c.run, results.c.outcome, results.c.position)
sa.Index("results_by_category", results.c.run, results.c.category, results.c.position)
sa.Index("results_by_decision", results.c.run, results.c.decision, results.c.position)
# PostgreSQL has the ids in the collation "C", so that those with one beginning are neighbours.
sa.Index("results_by_case_id", results.c.run, results.c.case_id, results.c.position)
# Led by the case, so that it also finds a case's results in all runs.
sa.Index(
    "results_one_case_run_draft",
    results.c.case_id,
    results.c.run,
    results.c.draft,
    unique=True,
    sqlite_where=results.c.case_hash.is_not(None),
    postgresql_where=results.c.case_hash.is_not(None),
)

# What the tags in `results` say, so that the replies with one tag are a page of their own.
result_tags = sa.Table(
    "result_tags",
    metadata,
    sa.Column("run", sa.Integer, primary_key=True),
    sa.Column("tag", Words, primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.ForeignKeyConstraint(["run", "position"], ["results.run", "results.position"], ondelete="CASCADE"),
    sqlite_with_rowid=False,
)
# A reply leaves with its tags: without this each would be looked for among all.
sa.Index("result_tags_by_reply", result_tags.c.run, result_tags.c.position)

bodies = sa.Table(
    "bodies",
    metadata,
    *keys(sa.Integer, "run", "position"),
    sa.Column("body", sa.Text, nullable=False),
    sa.ForeignKeyConstraint(["run", "position"], ["results.run", "results.position"], ondelete="CASCADE"),
)

waivers = sa.Table(
    "waivers",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("id", sa.String(64), nullable=False, unique=True),
    *needed(sa.Integer, "run", "result"),
    sa.Column("kind", sa.String(40), nullable=False),
    *needed(sa.Integer, "start", "end"),
    sa.Column("by", Words, nullable=False),
    sa.Column("made", sa.String(40), nullable=False),
    sa.Column("reason", Words, nullable=False),
    sa.Column("withdrawn", sa.Boolean, nullable=False),
    sa.ForeignKeyConstraint(["run", "result"], ["results.run", "results.position"], ondelete="CASCADE"),
    sqlite_autoincrement=True,
)
sa.Index("waivers_by_result", waivers.c.run, waivers.c.result)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One reply of a run as it is kept. `position` is its place in the run, whichever case and draft it is.

    `case` is None for a row that could not be read or a reply that could not be drafted.
    """

    position: int
    case: Case | None
    record: Record
    result: Result
    seconds: float = 0.0


# In the metadata of a case without its text: when it was erased.
ERASED_AT = "erased"
_ANEW = "start the run anew, its gold set is not the one it was begun with"
# The fields of a Record, in order: a hundred thousand are read at once.
RECORD_COLUMNS: tuple[sa.ColumnElement[Any], ...] = (
    results.c.case_id,
    *(results.c[name] for name in ("draft", "category", "confidence", "decision", "verdict", "outcome", "total")),
    *(results.c[name] for name in ("grades", "violations", "tags", "failed")),
    sa.case((results.c.failed, results.c.problem)),
    results.c.waived,
    sa.type_coerce(
        func.coalesce(sa.case((~results.c.failed, results.c.problem)), sa.literal_column("'[]'")), Json(tuple[str, ...])
    ),
    results.c.pass_probability,
)
SCORED_COLUMNS = (*RECORD_COLUMNS, results.c.position, results.c.seconds, cases.c.body, bodies.c.body)
WITH_TEXTS = results.join(bodies).outerjoin(cases)
# Made once: a run adds its results one at a time, and building a statement takes longer than the database does.
_HELD = select(results.c.position, results.c.case_id, results.c.draft).where(
    results.c.run == sa.bindparam("run"), results.c.position.in_(sa.bindparam("positions", expanding=True))
)
_INSERT_RESULTS = insert(results)
_INSERT_BODIES = insert(bodies)
_INSERT_TAGS = insert(result_tags)

# A reply's position and the judge's result -> the result as it counts.
Count = Callable[[int, Result], Result]


def insert_scored(database: Database, run: int, entries: Sequence[Scored]) -> set[int]:
    """Adds the replies that the run does not hold; the positions of the others, which stay as they were."""
    held = _held(database, run, entries)
    repeated: set[int] = set()
    new: list[Scored] = []
    for entry in entries:
        reply = (entry.record.id, entry.record.draft)
        if held.setdefault(entry.position, reply) is reply:
            new.append(entry)
        elif held[entry.position] == reply:
            repeated.add(entry.position)
        else:
            raise StoreError(
                f"the store {database.place} has another reply at position {entry.position} of the run: {_ANEW}"
            )
    try:
        _insert(database, run, new)
    except IntegrityError:
        # The one rule that is left to break: a case and draft have one place in a run.
        raise StoreError(f"the store {database.place} has one of the replies at another position: {_ANEW}") from None
    return repeated


def _held(database: Database, run: int, entries: Sequence[Scored]) -> dict[int, tuple[str, int]]:
    """Case and draft of the replies that the run has at the positions of these."""
    found: dict[int, tuple[str, int]] = {}
    with database.reading() as connection:
        for start in range(0, len(entries), CHUNK):
            positions = [entry.position for entry in entries[start : start + CHUNK]]
            held = connection.execute(_HELD, {"run": run, "positions": positions})
            found.update((row.position, (row.case_id, row.draft)) for row in held)
    return found


def _insert(database: Database, run: int, entries: Sequence[Scored]) -> None:
    if not entries:
        return
    kept = {entry.position: case_to_row(entry.case) for entry in entries if entry.case is not None}
    if kept:
        # In one order everywhere, so that two writers never wait for each other.
        found = {row["hash"]: row for row in kept.values()}
        database.add_missing(cases, [found[hash] for hash in sorted(found)])
    hashes = {position: row["hash"] for position, row in kept.items()}
    with database.writing() as connection:
        connection.execute(_INSERT_RESULTS, [_result_row(each, run, hashes.get(each.position)) for each in entries])
        connection.execute(_INSERT_BODIES, [_body_row(each, run) for each in entries])
        if tags := [row for entry in entries for row in _tag_rows(entry.record, run, entry.position)]:
            connection.execute(_INSERT_TAGS, tags)


def _result_row(scored: Scored, run: int, case_hash: str | None) -> dict[str, Any]:
    place = {"run": run, "position": scored.position, "seconds": scored.seconds}
    of_case = {"case_id": scored.record.id, "case_hash": case_hash}
    return to_row(results, scored.record, **place, **of_case, problem=_problem(scored.record))


def _body_row(scored: Scored, run: int) -> dict[str, Any]:
    return {"run": run, "position": scored.position, "body": body_of(scored.result)}


def _tag_rows(record: Record, run: int, position: int) -> list[dict[str, Any]]:
    return [{"run": run, "tag": name, "position": position} for name in dict.fromkeys(tag.name for tag in record.tags)]


def case_to_row(case: Case) -> dict[str, Any]:
    """Equal cases give equal rows. Twice the hash that names cases, since here two under one would lose text."""
    body = to_json(case_to_dict(case), sorts=True)
    return {"hash": hashlib.sha256(body.encode()).hexdigest()[:32], "body": body}


def body_of(result: Result) -> str:
    """The result as it is kept, which is the line that `results.jsonl` has and `touchstone score` writes."""
    return to_json(encode(result), is_spaced=True)


def result_of(body: str) -> Result:
    return result_from_dict(from_json(body))


def scored_from_row(row: Sequence[Any], *, count: Count) -> Scored:
    """A row of SCORED_COLUMNS -> the reply as it counts."""
    *columns, position, seconds, case, body = row
    return Scored(
        position=position,
        case=None if case is None else case_from_dict(from_json(case)),
        record=Record(*columns),
        result=count(position, result_of(body)),
        seconds=seconds,
    )


def fetch_at(database: Database, run: int, position: int) -> Scored | None:
    """The reply at one place of a run."""
    here = (results.c.run == run, results.c.position == position)
    row = database.first(select(*SCORED_COLUMNS).select_from(WITH_TEXTS).where(*here))
    return None if row is None else scored_from_row(row, count=counting(database, run, position=position))


def stream(
    database: Database,
    columns: Sequence[sa.ColumnElement[Any]],
    source: sa.FromClause,
    *conditions: sa.ColumnElement[bool],
) -> Iterator[sa.Row[Any]]:
    """A run's rows in order, a page at a time: memory stays small, and no transaction is open between pages."""
    query = select(*columns).select_from(source).where(*conditions).order_by(results.c.position).limit(CHUNK)
    after = -1
    while True:
        page = database.rows(query.where(results.c.position > after))
        yield from page
        if len(page) < CHUNK:
            return
        after = page[-1].position


def recount(database: Database, run: int, position: int) -> None:
    """The columns and tags of a reply as they follow from its result and the waivers of its violations.

    Of a reply whose text was erased the tags stay as long as it fails: there is nothing to find them in.
    """
    scored = fetch_at(database, run, position)
    if scored is None:
        return
    case = None if scored.case is None or _is_erased(scored.case) else scored.case
    counted = record(case, scored.result, draft=scored.record.draft)
    if case is None and counted.fails:
        counted = replace(counted, tags=scored.record.tags)
    update_counted(database, run, position, counted)
    database.write(delete(result_tags).where(result_tags.c.run == run, result_tags.c.position == position))
    if tags := _tag_rows(counted, run, position):
        database.write(_INSERT_TAGS, tags)
    raise_revision(database, run)


def recount_waived(database: Database) -> None:
    """Every reply with a waiver, in all runs."""
    for run, position in database.rows(select(waivers.c.run, waivers.c.result).distinct()):
        recount(database, run, position)


def update_counted(database: Database, run: int, position: int, counted: Record) -> None:
    """Sets the columns that waivers and an erasure change."""
    names = ("decision", "outcome", "total", "grades", "violations", "tags", "waived", "pass_probability")
    values = {name: getattr(counted, name) for name in names} | {"problem": _problem(counted)}
    database.write(update(results).where(results.c.run == run, results.c.position == position).values(**values))


def raise_revision(database: Database, run: int) -> None:
    """Tells those who keep what was made of a run that it says something else now."""
    database.write(update(runs).where(runs.c.number == run).values(revision=runs.c.revision + 1))


def counting(database: Database, run: int, *, position: int | None = None) -> Count:
    """How the results of a run count, or that of one reply; every result that is read for judging goes through it.

    What the judge said stays in `bodies` as it was.
    """
    given = fetch_waivers(database, run, position=position)
    if not given:
        return lambda _, result: result
    from touchstone.rubric.parse import parse_rubric

    found = database.rows(select(runs.c.id, runs.c.rubric).where(runs.c.number == run))[0]
    rubric = parse_rubric(found.rubric, name=f"the rubric of run {found.id}")
    return lambda position, result: count_waivers(result, given.get(position, ()), rubric=rubric)


def fetch_waivers(database: Database, run: int, *, position: int | None = None) -> dict[int, list[Waiver]]:
    """Every word on a run's violations, or on those of one reply, by position and in the order they were given."""
    query = select(waivers, runs.c.id.label("run_id")).join(runs, runs.c.number == waivers.c.run)
    query = query.where(waivers.c.run == run).order_by(waivers.c.number)
    found: dict[int, list[Waiver]] = defaultdict(list)
    for row in database.rows(query if position is None else query.where(waivers.c.result == position)):
        found[row.result].append(from_row(Waiver, row, run=row.run_id))
    return dict(found)


def _problem(record: Record) -> str | None:
    if record.failed:
        return record.problem
    return to_json(record.why) if record.why else None


def _is_erased(case: Case) -> bool:
    """Whether `touchstone store forget` took the case's text."""
    return ERASED_AT in case.metadata and not case.response
