"""A job at the command line: what a person sees of it while it runs, when it ends, and before it starts."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict

import typer
from rich.progress import BarColumn, TaskProgressColumn, TextColumn

from touchstone.app.config import Settings
from touchstone.app.jobs.estimate import Estimate, estimate
from touchstone.app.jobs.job import Job, Order, open_job
from touchstone.app.jobs.run import JobProgress, Log, RowFailure, Watch, open_log, run_job
from touchstone.app.score import WORKER_LOST
from touchstone.cli import INTERRUPTED, SOME_ROW_FAILED
from touchstone.cli.options import STDOUT
from touchstone.cli.screen import Screen, print_json, print_page
from touchstone.core.errors import ConfigError
from touchstone.engines.choice import engine as choose
from touchstone.engines.engine import Engine, Event
from touchstone.report.figures import count
from touchstone.report.job import JobSummary, summary_to_dict
from touchstone.report.plain import one_line
from touchstone.report.terminal.job import show_job

# Where no bar can be drawn, a line now and then says how far it is.
_BETWEEN_LINES = 60.0


def check_job(sources: Sequence[str], *, settings: Settings, shows_cases: bool) -> None:
    """ConfigError for what only a single file can have."""
    if settings.judge.kind != "offline":
        raise ConfigError(f"a directory is graded by the offline judge, not by '{settings.judge.kind}': give -o FILE")
    if shows_cases:
        raise ConfigError(
            "--id and --explain show single cases, and a directory takes all: give -o FILE, or leave it out"
        )
    if STDOUT in sources:
        raise ConfigError("stdin cannot be read again when a job is resumed: save it as a file, or give -o FILE")


def score_job(
    order: Order,
    *,
    settings: Settings,
    engine: Callable[..., Engine],
    log: str | None,
    shows_summary: bool,
    as_json: bool,
    is_quiet: bool,
) -> None:
    """Run or resume the job, and end with the command's exit code."""
    with open_log(log) as write_log:
        following = JobFollower(is_quiet=is_quiet, log=write_log)
        chosen = engine(on_event=following.event)
        with open_job(order, settings=settings) as job:
            following.opened(job)
            summary = _run(job, chosen, following)
    if as_json:
        print_json(summary_to_dict(summary), indent=None)
    elif shows_summary:
        print_page(show_job, summary)
    if summary.all.tally.failed or summary.unread:
        raise typer.Exit(SOME_ROW_FAILED)


def estimate_job(
    order: Order, *, settings: Settings, engine: str, workers: int | None, price: float, as_json: bool
) -> None:
    """Print what the job would cost."""
    found = estimate(order, settings=settings, workers=choose(engine, workers=workers).workers, price=price)
    if as_json:
        print_json(asdict(found), indent=None)
    else:
        typer.echo("\n".join(_estimate_lines(found, engine=engine, price=price)))


def _run(job: Job, engine: Engine, following: "JobFollower") -> JobSummary:
    try:
        with following.screen:
            watch = Watch(following.progress, following.failure, following.log)
            summary = run_job(job, engine=engine, watch=watch)
    except KeyboardInterrupt:
        kept = len(job.manifest.shards)
        following.notice(f"interrupted; {kept:,} shards are kept, and the same command resumes from there")
        following.log("job_interrupted", shards_written=kept)
        raise typer.Exit(INTERRUPTED) from None
    following.ended(job, summary)
    return summary


class JobFollower:
    """Follows a job: a bar with rate, time left, failures and memory on a terminal, a line a minute elsewhere."""

    def __init__(self, *, is_quiet: bool, log: Log) -> None:
        self.log = log
        columns = (BarColumn(bar_width=24), TaskProgressColumn(), TextColumn("{task.fields[done]}"))
        self.screen = Screen(*columns, is_quiet=is_quiet)
        self.screen.advance(0.0, total=1.0, text="starting")
        self._said = self._logged = time.monotonic()

    def notice(self, message: str) -> None:
        """One line on stderr."""
        self.screen.notice(one_line(message))

    def opened(self, job: Job) -> None:
        """Say what a resumed job holds already."""
        if job.manifest.shards:
            done = sum(shard.rows for shard in job.manifest.shards.values())
            self.notice(f"resuming {job.directory.name}: {done:,} rows in {len(job.manifest.shards):,} shards are done")

    def progress(self, progress: JobProgress) -> None:
        """Show how far it has come."""
        now = time.monotonic()
        line = _progress_line(progress)
        self.screen.advance(progress.share, total=1.0, text=line)
        if self.screen.bar is None and now - self._said > _BETWEEN_LINES:
            self._said = now
            self.notice(f"{progress.share:.1%}, {line}")
        if now - self._logged > _BETWEEN_LINES:
            self._logged = now
            self.log("progress", **asdict(progress))

    def failure(self, row: RowFailure) -> None:
        """Name a failed row, the first of them in words."""
        self.screen.name_failed(f"{row.file}:{row.line}", row.failure)
        self.log("row_failed", file=row.file, line=row.line, stage=row.failure.stage, error=row.failure.error)

    def event(self, event: Event) -> None:
        """Name what happened to a worker."""
        self.notice(f"{event.kind.replace('_', ' ')}: {event.detail}")
        self.log(event.kind, detail=event.detail)

    def ended(self, job: Job, summary: JobSummary) -> None:
        """Say what was written, and what was not."""
        for name, message in summary.unread.items():
            self.notice(message if name in message else f"{name}: {message}")
        where, shards, failed = job.directory.name, len(job.manifest.shards), summary.all.tally.failed
        of_them = f", {failed:,} of them failed rows" if failed else ""
        self.notice(
            f"{count(summary.all.tally.rows, 'result')} in {count(shards, 'shard')} written to {where}{of_them}"
        )
        if unread := len(summary.unread):
            inputs, them = count(unread, "input"), "it" if unread == 1 else "them"
            self.notice(f"{inputs} could not be read to the end: fix {them} and run the same command again")
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
