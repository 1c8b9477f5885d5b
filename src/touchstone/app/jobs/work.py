"""The sources of a job -> batches for an engine, with notes on them; a batch -> the encoded part of a shard."""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from typing import Any

from touchstone.app.config import Settings
from touchstone.app.jobs.job import Job
from touchstone.app.score import BATCH_ROWS, Kept, load_models, lost_result, score_together, without_personal_data
from touchstone.app.verifier import find_verifier
from touchstone.core.case import CASE_FIELDS, Case
from touchstone.core.codec import canonical_json, case_to_dict, result_to_dict
from touchstone.core.errors import InputError
from touchstone.core.result import Failure, Result
from touchstone.io.cases import Entry, read_cases
from touchstone.io.columns import SeenColumns
from touchstone.io.files import Source, known_format, open_rows
from touchstone.io.formats import TABLES
from touchstone.io.rows import UNREADABLE, Row
from touchstone.io.shards import ShardFormat, SourceState, encode
from touchstone.runs.excerpt import Excerpt, candidates, excerpt
from touchstone.runs.record import record

MOST_NAMED = 20
# Long replies make a batch of their own, so that memory stays within bounds.
BATCH_CHARACTERS = 1_000_000


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry of a job with the columns of text that its result is to have beside it, the same for a whole file."""

    entry: Entry
    beside: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class BatchNote:
    """A batch that was handed out: whose it is, whether its shard ends with it, and how much of all was read."""

    source: int
    shard: int
    is_last: bool
    share: float


@dataclass(frozen=True, slots=True)
class SourceNote:
    """A source that has come to its end, or that could not be read."""

    source: int
    state: SourceState
    message: str | None = None


class ShardStream:
    """Reads the sources that are not done. `notes` grows as batches are asked for; its reader takes them off."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._ends = list(accumulate(source.size for source in job.manifest.sources))
        self.notes: deque[BatchNote | SourceNote] = deque()

    def batches(self) -> Iterator[Sequence[Placed]]:
        """The rows that are not in a shard yet, batch by batch; a source that cannot be read costs only itself."""
        for at, source in enumerate(self._job.manifest.sources):
            if self._job.manifest.states[at] == "pending":
                try:
                    yield from self._source(at, source)
                except InputError as error:
                    self.notes.append(SourceNote(at, "failed", str(error)))

    def _source(self, at: int, source: Source) -> Iterator[Sequence[Placed]]:
        job = self._job
        written = {shard.number for shard in job.manifest.shards_of(at)}
        beside = {"source": source.name, **{name: source.partition.get(name) for name in job.columns[1:]}}
        damage: str | None = None
        with open_rows(source.address or source.name, format=job.order.format) as rows:
            columns = job.settings.columns
            table = (job.order.format or known_format(source.name)) in TABLES
            partitioned = _with_partition(_checked(rows, columns) if table else rows, source.partition)
            entries = read_cases(partitioned, file=source.name, columns=columns, may_be_empty=True)
            for shard, is_last, batch in _cut(entries, shard_rows=job.order.shard_rows):
                failures = (entry.case for entry in batch if isinstance(entry.case, Failure))
                damage = next((each.message for each in failures if each.error == UNREADABLE), damage)
                if shard not in written:
                    self.notes.append(BatchNote(at, shard, is_last, self._share(at, rows.share_read())))
                    yield [Placed(entry, beside) for entry in batch]
        self.notes.append(SourceNote(at, "damaged" if damage else "done", damage))

    def _share(self, at: int, share_read: float | None) -> float:
        before = self._ends[at - 1] if at else 0
        return (before + (share_read or 0.0) * (self._ends[at] - before)) / max(1, self._ends[-1])


def _cut(entries: Iterable[Entry], *, shard_rows: int) -> Iterator[tuple[int, bool, list[Entry]]]:
    """(shard, whether it ends here, entries) for each batch; no batch is in two shards."""
    batch: list[Entry] = []
    characters = 0
    shard, row = 0, 0
    for entry in entries:
        # Only the entry behind a batch tells that the source goes on.
        if batch and (row == shard_rows or len(batch) == BATCH_ROWS or characters > BATCH_CHARACTERS):
            yield shard, row == shard_rows, batch
            batch, characters = [], 0
            if row == shard_rows:
                shard, row = shard + 1, 0
        batch.append(entry)
        row += 1
        characters += len(entry.case.response) if isinstance(entry.case, Case) else 0
    if batch:
        yield shard, True, batch


def _checked(rows: Iterable[Row], columns: Mapping[str, str]) -> Iterator[Row]:
    """The rows of a table; InputError at its start when no column of it can hold the reply."""
    seen = None
    for row in rows:
        if seen is None and isinstance(row.content, Mapping):
            seen = SeenColumns()
            seen.note(row.content)
            seen.check_reply(file=row.file, columns=columns)
        yield row


def _with_partition(rows: Iterable[Row], partition: Mapping[str, str | None]) -> Iterator[Row]:
    """The rows with what their path says of them, where they do not say it themselves."""
    given = {name: value for name, value in partition.items() if name == "category" or name not in CASE_FIELDS}
    for row in rows:
        yield row if isinstance(row.content, Failure) else replace(row, content={**given, **row.content})


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
        load_models()
        find_verifier(self.settings.verifier)

    def __call__(self, items: Sequence[Placed]) -> Part:
        return self._part(items, score_together([item.entry for item in items], settings=self.settings))

    def lost(self, item: Placed, *, reason: str) -> Part:
        return self._part([item], [lost_result(item.entry, reason=reason)])

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
