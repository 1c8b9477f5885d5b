"""A job and an engine -> shards, a manifest and a summary, each whole at every moment; what failed is named."""

import hashlib
import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from touchstone.app.jobs.job import Job
from touchstone.app.jobs.work import BatchNote, Part, ShardStream, ShardWork, SourceNote
from touchstone.core.codec import canonical_json
from touchstone.core.errors import ConfigError, InputError
from touchstone.core.result import Failure
from touchstone.engines.engine import Engine
from touchstone.io.locations import Location
from touchstone.io.shards import (
    FOLDER,
    Manifest,
    Shard,
    assemble,
    excerpt_bytes,
    excerpt_name,
    read_excerpt,
    shard_name,
)
from touchstone.report.html import MOST_ROWS
from touchstone.report.job import JobSummary, PartitionFigures, summary_to_dict
from touchstone.rubric.model import Rubric
from touchstone.runs.counts import Table, most_frequent, named, tally
from touchstone.runs.excerpt import Excerpt
from touchstone.runs.patterns import count_patterns
from touchstone.runs.redaction import redact
from touchstone.runs.summary import summarise_counts
from touchstone.stats.interval import proportion, rare_interval

SUMMARY = "summary.json"
# A manifest grows with its shards: of very small ones not each is worth a new one, and a lost one is scored again.
_BETWEEN_SAVES = 1.0
_PAGE = 4096
_PROCESSES = Path("/proc")


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job has come: rows and failures of this run, the share of all input, seconds left, bytes held."""

    rows: int
    failed: int
    share: float
    rate: float
    seconds_left: float | None
    memory: int | None


@dataclass(frozen=True, slots=True)
class RowFailure:
    """A row that failed, by file and line."""

    file: str
    line: int
    failure: Failure


class Log(Protocol):
    """Takes an event and plain values about it: names of files, counts, kinds of errors. No line quotes a customer."""

    def __call__(self, event: str, **values: Any) -> None: ...


def no_log(event: str, **values: Any) -> None:
    """Takes the place of a log."""


@contextmanager
def open_log(path: str | None) -> Iterator[Log]:
    """A log that is added to the file at `path` as lines of JSON with a time; None keeps none."""
    if path is None:
        yield no_log
        return
    try:
        stream = Path(path).open("a", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed below
    except OSError as error:
        raise ConfigError(f"--log {path} cannot be written ({error.strerror}): name another file") from error

    def write(event: str, **values: Any) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        stream.write(json.dumps({"time": now, "event": event, **values}, ensure_ascii=False) + "\n")
        stream.flush()

    with stream:
        yield write


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told what, as it happens."""

    on_progress: Callable[[JobProgress], None] = lambda progress: None
    on_failure: Callable[[RowFailure], None] = lambda failure: None
    log: Log = no_log


def run_job(job: Job, *, engine: Engine, watch: Watch) -> JobSummary:
    """Score what is left of the job. Stopped at any moment, it goes on from its shards when it is run again."""
    watch.log("job_started", sources=len(job.manifest.sources), shards_written=len(job.manifest.shards))
    writing = _Writing(job, watch)
    stream = ShardStream(job)
    work = ShardWork(job.settings, job.order.shard_format, job.order.keep)
    results = engine.map(work, stream.batches())
    try:
        for parts in results:
            writing.take_notes(stream.notes)
            writing.take_parts(parts)
            writing.tell()
        writing.take_notes(stream.notes)
    except BaseException:
        # What ends the job counts, not that a full disk takes no manifest either.
        with suppress(InputError):
            job.save()
        raise
    finally:
        results.close()
    job.save()
    writing.remove_strays()
    summary = summarise(job.manifest, read_excerpts(job.manifest, job.directory), rubric=job.settings.rubric)
    job.put(SUMMARY, json.dumps(summary_to_dict(summary), ensure_ascii=False, indent=1).encode())
    watch.log("job_ended", complete=job.manifest.is_complete, rows=summary.all.tally.rows)
    return summary


class _Writing:
    """Puts parts together to shards and keeps the manifest."""

    def __init__(self, job: Job, watch: Watch) -> None:
        self._job = job
        self._watch = watch
        self._batch: BatchNote | None = None
        self._parts: list[Part] = []
        self._start = self._saved = time.monotonic()
        self._rows = self._failed = 0
        self._first_share: float | None = None

    def take_notes(self, notes: "deque[BatchNote | SourceNote]") -> None:
        """The note of the batch whose parts come next, and all that is to be said of sources before it."""
        while notes:
            note = notes.popleft()
            if isinstance(note, BatchNote):
                self._batch = note
                return
            self._end_source(note)

    def take_parts(self, parts: Sequence[Part]) -> None:
        """What a batch came to; with the last batch of a shard, the shard is written."""
        note = self._batch
        assert note is not None
        self._parts.extend(parts)
        for part in parts:
            self._rows += part.excerpt.counts.results["rows"]
            self._failed += part.excerpt.counts.results["failed"]
            for line, failure in part.failures:
                self._watch.on_failure(RowFailure(self._job.manifest.sources[note.source].name, line, failure))
        if note.is_last:
            self._write(note)

    def tell(self) -> None:
        """Say how far it has come."""
        note, seconds = self._batch, time.monotonic() - self._start
        assert note is not None
        if self._first_share is None:
            self._first_share = note.share
        done = note.share - self._first_share
        left = seconds * (1 - note.share) / done if done > 0 else None
        progress = JobProgress(self._rows, self._failed, note.share, self._rows / max(seconds, 1e-9), left, resident())
        self._watch.on_progress(progress)

    def remove_strays(self) -> None:
        """Remove what belongs to no source any more: shards of a file that was longer when it was damaged."""
        directory, shards = self._job.directory, self._job.manifest.shards
        known = {*shards, *map(excerpt_name, shards)}
        for info in directory.files():
            if info.base_name.startswith("part-") and info.base_name not in known:
                directory.system.delete_file(info.path)

    def _write(self, note: BatchNote) -> None:
        telling = Excerpt()
        for part in self._parts:
            telling.merge(part.excerpt)
        format = self._job.order.shard_format
        content = assemble([part.content for part in self._parts], format=format)
        name = shard_name(source=note.source, number=note.shard, format=format)
        self._job.put(f"{FOLDER}/{excerpt_name(name)}", excerpt_bytes(telling))
        self._job.put(name, content)
        counts, digest = telling.counts.results, hashlib.sha256(content).hexdigest()
        shard = Shard(name, note.source, note.shard, counts["rows"], len(content), digest, dict(counts))
        self._job.manifest.shards[name] = shard
        self._parts = []
        self._watch.log("shard_written", shard=name, rows=counts["rows"], failed=counts["failed"])
        self._save()

    def _end_source(self, note: SourceNote) -> None:
        manifest = self._job.manifest
        source = manifest.sources[note.source]
        manifest.states[note.source] = note.state
        if note.message:
            manifest.messages[note.source] = self._said(note.message)
        if note.state == "failed":
            # What was read before it failed is no whole shard.
            self._parts = []
        self._watch.log("source_ended", source=source.name, state=note.state)
        self._save()

    def _said(self, message: str) -> str:
        """What is said of an input may quote it."""
        return redact(message).text if self._job.settings.redacts else message

    def _save(self) -> None:
        if time.monotonic() - self._saved > _BETWEEN_SAVES:
            self._job.save()
            self._saved = time.monotonic()


def resident(pid: str = "self") -> int | None:
    """Bytes held in memory by a process and its descendants; None where the system does not tell."""
    home = _PROCESSES / pid
    try:
        own = int((home / "statm").read_text().split()[1]) * _PAGE
        children = [child for task in (home / "task").iterdir() for child in (task / "children").read_text().split()]
    except (OSError, IndexError, ValueError):
        return None
    return own + sum(resident(child) or 0 for child in children)


def read_excerpts(manifest: Manifest, directory: Location) -> Excerpt:
    """What the excerpts beside the shards come to together."""
    whole = Excerpt()
    for shard in _in_order(manifest):
        whole.merge(read_excerpt(directory, shard.name), most_rows=MOST_ROWS)
    return whole


def summarise(manifest: Manifest, telling: Excerpt, *, rubric: Rubric) -> JobSummary:
    """What all shards came to: their counts and excerpts added up, in all and by partition.

    No result is read again; memory grows with the partitions and, up to a bound, with the categories.
    """
    everything: Table = Counter()
    tables: dict[str, Table] = {}
    first: dict[str, int] = {}
    for shard in _in_order(manifest):
        key = canonical_json(dict(manifest.sources[shard.source].partition))
        everything.update(shard.counts)
        tables.setdefault(key, Counter()).update(shard.counts)
        first.setdefault(key, shard.source)
    partitions = (_figures(table, manifest.sources[first[key]].partition) for key, table in tables.items())
    unread = {manifest.sources[at].name: message for at, message in manifest.messages.items()}
    return JobSummary(
        all=_figures(everything, {}),
        partitions=tuple(partitions),
        unread=unread,
        failures=most_frequent(named(everything, "failure/")),
        summary=summarise_counts(telling.counts, rubric=rubric),
        patterns=count_patterns(telling.counts),
    )


def _in_order(manifest: Manifest) -> list[Shard]:
    return sorted(manifest.shards.values(), key=lambda shard: (shard.source, shard.number))


def _figures(table: Table, partition: Mapping[str, str | None]) -> PartitionFigures:
    found = tally(table)
    unsafe, inspected = found.rubric.unsafe, table["graded"]
    return PartitionFigures(
        partition=dict(partition),
        tally=found,
        passed=proportion(found.rubric.outcomes["PASS"], sum(found.rubric.outcomes.values())),
        unsafe=proportion(unsafe, inspected, by=rare_interval),
        patterns=most_frequent(named(table, "tag/")),
    )
