"""Runs and scored replies <-> the columns they are kept in."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from sqlalchemy import ColumnElement, Row

from touchstone.core.case import Case
from touchstone.core.codec import (
    case_from_dict,
    case_to_dict,
    reader,
    result_from_dict,
    result_to_dict,
    writer,
)
from touchstone.core.result import Result, Waived
from touchstone.runs.record import Record, Tag
from touchstone.runs.run import Receipt, Run, Terms
from touchstone.store.columns import from_json, to_json
from touchstone.store.schema import bodies, cases, results, runs


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


RECORD_COLUMNS: tuple[ColumnElement[Any], ...] = (
    results.c.case_id,
    results.c.draft,
    results.c.category,
    results.c.confidence,
    results.c.decision,
    results.c.verdict,
    results.c.outcome,
    results.c.total,
    results.c.failed,
    results.c.grades,
    results.c.violations,
    results.c.tags,
    results.c.problem,
    results.c.waived,
)
SCORED_COLUMNS = (*RECORD_COLUMNS, results.c.position, results.c.seconds, cases.c.body, bodies.c.body)
RUN_COLUMNS = (
    runs.c.number,
    runs.c.id,
    runs.c.kind,
    runs.c.started,
    runs.c.finished,
    runs.c.seconds,
    runs.c.receipt,
    runs.c.revision,
    runs.c.terms,
)

# A reply's position and the judge's result -> the result as it counts.
Count = Callable[[int, Result], Result]

_WAIVED = tuple[Waived, ...]
_RECEIPT_FIELDS = frozenset(field.name for field in fields(Receipt))


class RecordReader:
    """Rows of RECORD_COLUMNS -> records. Grades and violations repeat: each combination is read once and shared."""

    def __init__(self) -> None:
        self._grades: dict[str, Mapping[str, int | None]] = {}
        self._violations: dict[str, tuple[Any, ...]] = {}

    def read(self, row: Sequence[Any]) -> Record:
        id, draft, category, confidence, decision, verdict, outcome, total, failed, grades, violations, *rest = row
        tags, problem, waived = rest
        if grades not in self._grades:
            self._grades[grades] = from_json(grades)
        if violations not in self._violations:
            self._violations[violations] = tuple(from_json(violations))
        return Record(
            id,
            draft,
            category,
            confidence,
            decision,
            verdict,
            outcome,
            total,
            self._grades[grades],
            self._violations[violations],
            () if tags == "[]" else tuple(Tag(*tag) for tag in from_json(tags)),
            failed,
            problem if failed else None,
            () if waived == "[]" else reader(_WAIVED)(from_json(waived)),
            () if failed or problem is None else tuple(from_json(problem)),
        )


def scored_from_row(row: Sequence[Any], *, reader: RecordReader, count: Count) -> Scored:
    """A row of SCORED_COLUMNS -> the reply as it counts."""
    *record, position, seconds, case, body = row
    return Scored(
        position=position,
        case=None if case is None else case_from_dict(from_json(case)),
        record=reader.read(record),
        result=count(position, result_from_body(body)),
        seconds=seconds,
    )


def result_from_body(body: str) -> Result:
    return result_from_dict(from_json(body))


def result_to_row(scored: Scored, *, run: int, case_hash: str | None) -> dict[str, Any]:
    record = scored.record
    return {
        "run": run,
        "position": scored.position,
        "case_id": record.id,
        "draft": record.draft,
        "case_hash": case_hash,
        "category": record.category,
        "confidence": record.confidence,
        "verdict": record.verdict,
        "failed": record.failed,
        "seconds": scored.seconds,
        **counted_columns(record),
    }


def counted_columns(record: Record) -> dict[str, Any]:
    """The columns that waivers change."""
    return {
        "decision": record.decision,
        "outcome": record.outcome,
        "total": record.total,
        "grades": to_json(dict(record.grades)),
        "violations": to_json(record.violations),
        "tags": to_json([(tag.name, tag.owner, tag.detail) for tag in record.tags]) if record.tags else "[]",
        "waived": to_json(writer(_WAIVED)(record.waived)) if record.waived else "[]",
        "problem": record.problem if record.failed else to_json(record.why) if record.why else None,
    }


def tag_rows(scored: Scored, *, run: int) -> list[dict[str, Any]]:
    names = dict.fromkeys(tag.name for tag in scored.record.tags)
    return [{"run": run, "tag": name, "position": scored.position} for name in names]


def body_to_row(scored: Scored, *, run: int) -> dict[str, Any]:
    return {"run": run, "position": scored.position, "body": to_json(result_to_dict(scored.result))}


def case_to_row(case: Case) -> dict[str, Any]:
    """Equal cases give equal rows. Twice the hash that names cases, since here two under one would lose text."""
    body = to_json(case_to_dict(case), sorts=True)
    return {"hash": hashlib.sha256(body.encode()).hexdigest()[:32], "body": body}


def run_to_row(run: Run, *, rubric: str) -> dict[str, Any]:
    return {
        "id": run.id,
        "kind": run.kind,
        "started": run.started,
        "finished": run.finished,
        "seconds": run.seconds,
        "goldset": run.receipt.goldset,
        "receipt": to_json(asdict(run.receipt)),
        "receipt_hash": receipt_hash(run.receipt),
        "rubric": rubric,
    }


def run_from_row(row: Row[Any], *, labels: Mapping[str, str]) -> Run:
    """A row of RUN_COLUMNS -> Run. What a later version noted in the receipt is passed over."""
    receipt = {name: value for name, value in from_json(row.receipt).items() if name in _RECEIPT_FIELDS}
    return Run(
        id=row.id,
        started=row.started,
        finished=row.finished,
        seconds=row.seconds,
        receipt=Receipt(**receipt),
        labels=labels,
        kind=row.kind,
        revision=row.revision,
        terms=None if row.terms is None else Terms(**from_json(row.terms)),
    )


def receipt_hash(receipt: Receipt) -> str:
    """A name for what determined a run. A verifier that nobody used is left out, as it was before there was one."""
    row = {name: value for name, value in asdict(receipt).items() if name != "verifier" or value is not None}
    return hashlib.sha256(to_json(row, sorts=True).encode()).hexdigest()[:32]
