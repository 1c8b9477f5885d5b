"""Entries -> what a worker sends back: results, or the encoded part of a shard with what it came to."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from touchstone.app.config import Settings
from touchstone.app.score import Kept, score_together, without_personal_data
from touchstone.app.verifying import find_verifier
from touchstone.core import resource
from touchstone.core.case import Case
from touchstone.core.codec import canonical_json, case_to_dict, result_to_dict
from touchstone.core.result import Failure, Result
from touchstone.io.cases import Entry
from touchstone.io.shards import ShardFormat, encode
from touchstone.runs.evaluate import failed
from touchstone.runs.excerpt import Excerpt, candidates, excerpt
from touchstone.runs.record import record

# A row whose worker was lost each time; rows like it are tried again when a job is run again.
WORKER_LOST = "WorkerLost"
MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class EntryWork:
    """Entries to their results."""

    settings: Settings

    def prepare(self) -> None:
        _load_models()
        find_verifier(self.settings.verifier)

    def __call__(self, items: Sequence[Entry]) -> list[Result]:
        return score_together(items, settings=self.settings)

    def lost(self, item: Entry, *, reason: str) -> list[Result]:
        return [_lost(item, reason=reason)]


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry of a job with the columns of text that its result is to have beside it, the same for a whole file."""

    entry: Entry
    beside: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Part:
    """Encoded results of some rows, their excerpt, and the first rows that failed."""

    content: bytes
    excerpt: Excerpt
    failures: tuple[tuple[int, Failure], ...] = ()


@dataclass(frozen=True, slots=True)
class ShardWork:
    """Placed entries to a part of a shard; `keep` names metadata to be kept beside each result."""

    settings: Settings
    format: ShardFormat
    keep: tuple[str, ...] = field(default=())

    def prepare(self) -> None:
        _load_models()
        find_verifier(self.settings.verifier)

    def __call__(self, items: Sequence[Placed]) -> Part:
        return self._part(items, score_together([item.entry for item in items], settings=self.settings))

    def lost(self, item: Placed, *, reason: str) -> Part:
        return self._part([item], [_lost(item.entry, reason=reason)])

    def _part(self, items: Sequence[Placed], results: Sequence[Result]) -> Part:
        rows = [self._kept(item.entry, result) for item, result in zip(items, results, strict=True)]
        names = dict.fromkeys(name for item in items for name in item.beside)
        beside = {name: [item.beside.get(name) for item in items] for name in names}
        kept = {name: [_text(row.case.metadata.get(name) if row.case else None) for row in rows] for name in self.keep}
        failures = ((row.result.line or 0, failure) for row in rows for failure in row.result.failures)
        content = encode([row.result for row in rows], beside={**beside, **kept}, format=self.format)
        telling = excerpt([row.record for row in rows], _examples(rows))
        for row in rows:
            telling.counts.add_result(row.result)
        return Part(content, telling, tuple(islice(failures, MOST_NAMED)))

    def _kept(self, entry: Entry, result: Result) -> Kept:
        """A row as it is written; one that could not be read is named by its place."""
        case = entry.case if isinstance(entry.case, Case) else None
        found = Kept(case, result, record(case, result))
        kept = without_personal_data(found) if self.settings.redacts else found
        if kept.result.id is not None:
            return kept
        return replace(kept, record=replace(kept.record, id=f"{entry.file}:{entry.line}"))


def _load_models() -> None:
    resource.parser()
    resource.embeddings()


def _lost(entry: Entry, *, reason: str) -> Result:
    """The result of a row that cost every worker that tried it."""
    id = entry.case.id if isinstance(entry.case, Case) else None
    message = f"the row could not be scored, its worker was lost each time ({reason}): shorten it, or give more memory"
    return failed(id, Failure("score", WORKER_LOST, message), line=entry.line)


def _examples(rows: Sequence[Kept]) -> dict[int, str]:
    """Case and result of the replies that a report may show in full, by their place."""
    shown = {id(record) for record in candidates(row.record for row in rows)}
    return {
        at: json.dumps([case_to_dict(row.case), result_to_dict(row.result)], ensure_ascii=False, default=str)
        for at, row in enumerate(rows)
        if row.case is not None and id(row.record) in shown
    }


def _text(value: Any) -> str | None:
    """A kept value as text: files of one job may give it different types."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int | float | list | dict):
        return canonical_json(value)
    return str(value)
