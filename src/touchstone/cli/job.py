"""A job at the command line: what a person sees of it while it runs, when it ends, and before it starts."""

import json
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.text import Text

from touchstone.app.config import Settings
from touchstone.app.estimate import Estimate, estimate
from touchstone.app.jobs.job import Job, Order, open_job
from touchstone.app.jobs.run import JobProgress, Log, RowFailure, Watch, open_log, run_job
from touchstone.app.work import WORKER_LOST
from touchstone.cli.exits import INTERRUPTED, SOME_ROW_FAILED
from touchstone.cli.screen import MOST_NAMED, print_page
from touchstone.engines.engine import Event
from touchstone.engines.engine import engine as choose
from touchstone.report.figures import count
from touchstone.report.job import JobSummary, summary_to_dict
from touchstone.report.plain import one_line
from touchstone.report.terminal.job import show_job

if TYPE_CHECKING:
    from touchstone.engines.engine import Engine

# Where no bar can be drawn, a line now and then says that it goes on.
_BETWEEN_LINES = 60.0


def score_job(
    order: Order,
    *,
    settings: Settings,
    engine: str,
    workers: int | None,
    address: str | None,
    log: str | None,
    shows_summary: bool,
    as_json: bool,
    is_quiet: bool,
) -> None:
    """Run the job, or go on with it, and end with the command's exit code."""
    with open_log(log) as write_log:
        screen = JobScreen(is_quiet=is_quiet, log=write_log)
        chosen = choose(engine, workers=workers, address=address, on_event=screen.event)
        with open_job(order, settings=settings) as job:
            screen.opened(job)
            summary = _run(job, chosen, screen)
    if shows_summary or as_json:
        if as_json:
            typer.echo(json.dumps(summary_to_dict(summary)))
        else:
            print_page(lambda console: show_job(summary, console=console), to_stderr=False)
    if summary.all.tally.failed or summary.unread:
        raise typer.Exit(SOME_ROW_FAILED)


def show_estimate(
    order: Order, *, settings: Settings, engine: str, workers: int | None, price: float, as_json: bool
) -> None:
    """Say what the job would take."""
    chosen = choose(engine, workers=workers)
    found = estimate(order, settings=settings, workers=chosen.workers, price=price)
    if as_json:
        typer.echo(json.dumps(asdict(found)))
        return
    for line in _estimate_lines(found, engine=engine, price=price):
        typer.echo(line)


def _run(job: Job, engine: "Engine", screen: "JobScreen") -> JobSummary:
    try:
        with screen:
            summary = run_job(job, engine=engine, watch=Watch(screen.progress, screen.failure, screen.log))
    except KeyboardInterrupt:
        kept = len(job.manifest.shards)
        screen.notice(f"interrupted; {kept:,} shards are kept, and the same command goes on from there")
        screen.log("job_interrupted", shards_written=kept)
        raise typer.Exit(INTERRUPTED) from None
    screen.ended(job, summary)
    return summary


class JobScreen:
    """Follows a job: a bar with rate, time left, failures and memory on a terminal, a line a minute elsewhere."""

    def __init__(self, *, is_quiet: bool, log: Log) -> None:
        self.log = log
        self._is_quiet = is_quiet
        self._console = Console(stderr=True, soft_wrap=True, highlight=False)
        self._bar = _bar(self._console) if sys.stderr.isatty() and not is_quiet else None
        self._task = self._bar.add_task("", total=1.0, done="starting") if self._bar else None
        self._said = self._logged = time.monotonic()
        self._failures = 0

    def __enter__(self) -> "JobScreen":
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar:
            self._bar.stop()
        if self._failures > MOST_NAMED:
            self.notice(f"… and {self._failures - MOST_NAMED:,} more failed rows")

    def notice(self, message: str) -> None:
        """One line on stderr, unless all is to be quiet."""
        if not self._is_quiet:
            self._console.print(Text(one_line(message)))

    def opened(self, job: Job) -> None:
        """Say what is left to do when some is done."""
        if job.manifest.shards:
            done = sum(shard.rows for shard in job.manifest.shards.values())
            there = f"{done:,} rows in {len(job.manifest.shards):,} shards are there"
            self.notice(f"going on with {job.directory.name}: {there}")

    def progress(self, progress: JobProgress) -> None:
        """Show how far it has come."""
        now = time.monotonic()
        line = _progress_line(progress)
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=progress.share, done=line)
        elif now - self._said > _BETWEEN_LINES:
            self._said = now
            self.notice(f"{progress.share:.1%}, {line}")
        if now - self._logged > _BETWEEN_LINES:
            self._logged = now
            self.log("progress", **asdict(progress))

    def failure(self, row: RowFailure) -> None:
        """Name a failed row, the first of them in words."""
        self._failures += 1
        if self._failures <= MOST_NAMED:
            self.notice(f"{row.file}:{row.line}: {row.failure.message}"[:400])
        self.log("row_failed", file=row.file, line=row.line, stage=row.failure.stage, error=row.failure.error)

    def event(self, event: Event) -> None:
        """Name what happened to a worker."""
        self.notice(f"{event.kind.replace('_', ' ')}: {event.detail}")
        self.log(event.kind, detail=event.detail)

    def ended(self, job: Job, summary: JobSummary) -> None:
        """Say what is there now, and what is not."""
        for name, message in summary.unread.items():
            self.notice(message if name in message else f"{name}: {message}")
        where, shards, failed = job.directory.name, len(job.manifest.shards), summary.all.tally.failed
        of_them = f", {failed:,} of them failed rows" if failed else ""
        self.notice(
            f"{count(summary.all.tally.rows, 'result')} in {count(shards, 'shard')} written to {where}{of_them}"
        )
        if unread := len(summary.unread):
            inputs, them = count(unread, "input"), "it" if unread == 1 else "them"
            self.notice(f"{inputs} could not be read to the end: mend {them} and run the same command again")
        if lost := summary.failures.get(WORKER_LOST, 0):
            rows, them = count(lost, "row"), "it" if lost == 1 else "them"
            self.notice(f"{rows} lost with every worker that tried {them}: the same command tries {them} again")
        self.notice(f"for the report: touchstone report {where}")


def _progress_line(progress: JobProgress) -> str:
    left = "" if progress.seconds_left is None else f", {_duration(progress.seconds_left)} left"
    memory = "" if progress.memory is None else f", {progress.memory / 1e6:,.0f} MB"
    return f"{progress.rows:,} rows, {progress.rate:,.1f}/s{left}, {progress.failed:,} failed{memory}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


def _estimate_lines(found: Estimate, *, engine: str, price: float) -> list[str]:
    return [
        f"{found.sources:,} files, {found.input_bytes / 1e6:,.1f} MB, about {found.rows:,} rows",
        f"{found.sampled:,} rows scored as a sample: {1000 * found.seconds_each:.1f} ms of one core each, "
        f"{found.failed:,} failed",
        f"about {found.core_hours:,.2f} core-hours, {_duration(3600 * found.hours)} with {found.workers} "
        f"worker{'' if found.workers == 1 else 's'} ({engine})",
        f"about ${found.cost:,.2f} at ${price:g} a core-hour; about {found.output_bytes / 1e6:,.1f} MB of results",
    ]


def _bar(console: Console) -> Progress:
    return Progress(
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TextColumn("{task.fields[done]}"),
        console=console,
        transient=True,
    )
