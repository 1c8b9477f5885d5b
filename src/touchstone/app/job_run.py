"""A job and an engine -> shards, a manifest and a summary, each whole at every moment; what failed is named."""

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from touchstone.app.job import Job
from touchstone.app.job_log import Log, no_log
from touchstone.app.job_summary import read_excerpts, summarise
from touchstone.app.memory import resident
from touchstone.app.shard_stream import BatchNote, ShardStream, SourceNote
from touchstone.app.tally import Counting
from touchstone.app.work import Part, ShardWork
from touchstone.core.errors import InputError
from touchstone.core.result import Failure
from touchstone.engines.engine import Engine
from touchstone.io.manifest import Shard
from touchstone.io.shards import FOLDER, assemble, excerpt_bytes, excerpt_name, shard_name
from touchstone.report.job import JobSummary, summary_to_dict
from touchstone.runs.excerpt import Excerpt
from touchstone.runs.redaction import redact

SUMMARY = "summary.json"
# A manifest grows with its shards: of very small ones not each is worth a new one, and a lost one is scored again.
_BETWEEN_SAVES = 1.0


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
            self._rows += int(part.counts["rows"])
            self._failed += int(part.counts["failed"])
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
        counting, telling = Counting(), Excerpt()
        for part in self._parts:
            counting.merge(part.counts)
            telling.merge(part.excerpt)
        format = self._job.order.shard_format
        content = assemble([part.content for part in self._parts], format=format)
        name = shard_name(source=note.source, number=note.shard, format=format)
        self._job.put(f"{FOLDER}/{excerpt_name(name)}", excerpt_bytes(telling))
        self._job.put(name, content)
        rows, digest = int(counting.counts["rows"]), hashlib.sha256(content).hexdigest()
        shard = Shard(name, note.source, note.shard, rows, len(content), digest, counting.counts)
        self._job.manifest.shards[name] = shard
        self._parts = []
        self._watch.log("shard_written", shard=name, rows=rows, failed=int(counting.counts["failed"]))
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
