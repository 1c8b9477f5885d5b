"""The sources of a job -> batches for an engine, and a note on each batch and source in the same order."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from touchstone.app.jobs.job import Job
from touchstone.app.score import BATCH_ROWS
from touchstone.app.work import Placed
from touchstone.core.case import CASE_FIELDS, Case
from touchstone.core.errors import InputError
from touchstone.core.result import Failure
from touchstone.io.cases import Entry, read_cases
from touchstone.io.columns import SeenColumns
from touchstone.io.files import TABLES, known_format, open_rows
from touchstone.io.manifest import SourceState
from touchstone.io.rows import UNREADABLE, Row
from touchstone.io.sources import Source

# Long replies make a batch of their own, so that memory stays within bounds.
BATCH_CHARACTERS = 1_000_000


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
