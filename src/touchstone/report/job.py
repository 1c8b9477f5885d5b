"""JobSummary and the most telling replies of a job -> the report that a run has, with a table of partitions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from touchstone.core.case import Case
from touchstone.core.result import Result
from touchstone.report.figures import figure, interval, words
from touchstone.report.partitions import JobSummary, PartitionFigures, partition_name
from touchstone.report.plain import one_line
from touchstone.report.run import charts
from touchstone.report.run.html import page_values
from touchstone.report.run.page import render_page
from touchstone.report.run.view import Field, RunView, run_view
from touchstone.runs.record import Record
from touchstone.runs.run import Receipt, Run
from touchstone.runs.trust.measurement import JudgeStanding

MOST_PARTITIONS = 400
_PATTERNS_EACH = 3
ALL_ROWS = "the shards (part-…) beside this file"


@dataclass(frozen=True, slots=True)
class PartitionLine:
    """One partition in words; `figures` is what its drawing is made from."""

    name: str
    rows: str
    failed: str
    pass_rate: str
    interval: str
    unsafe: str
    unsafe_interval: str
    patterns: str
    figures: PartitionFigures


@dataclass(frozen=True, slots=True)
class JobView:
    """What a job's report shows: a run's view, and what only a job has."""

    run: RunView
    partitions: tuple[PartitionLine, ...]
    more_partitions: int
    failures: tuple[Field, ...]
    unread: tuple[str, ...]


def job_view(
    name: str,
    summary: JobSummary,
    rows: Sequence[Record],
    *,
    receipt: Receipt,
    judge: JudgeStanding,
    inputs: int,
    is_finished: bool,
    best: Sequence[tuple[Case, Result]],
    worst: Sequence[tuple[Case, Result]],
) -> JobView:
    """The view of the job in a directory of that name."""
    run = Run(id=name, started="", receipt=receipt, finished="" if is_finished else None, kind="production")
    view = run_view(run, summary.summary, summary.patterns, rows, gate=None, judge=judge, best=best, worst=worst)
    several = len(summary.partitions) > 1
    return JobView(
        run=replace(view, facts=_facts(view, inputs=inputs), receipt=_receipt(view, inputs=inputs)),
        partitions=tuple(map(_line, summary.partitions[:MOST_PARTITIONS])) if several else (),
        more_partitions=max(0, len(summary.partitions) - MOST_PARTITIONS) if several else 0,
        failures=tuple(Field(one_line(error), f"{number:,}") for error, number in summary.failures.items()),
        unread=tuple(one_line(text if name in text else f"{name}: {text}") for name, text in summary.unread.items()),
    )


def render_job_html(view: JobView) -> str:
    """The whole page."""
    from markupsafe import Markup

    strips = [
        Markup(
            charts.rate_strip(
                each.figures.passed.value, each.figures.passed.interval, name=f"part{at}", label=each.name
            )
        )
        for at, each in enumerate(view.partitions)
    ]
    return render_page("job.html", job=view, strips=strips, all_rows=ALL_ROWS, **page_values(view.run))


def _facts(view: RunView, *, inputs: int) -> tuple[Field, ...]:
    receipt = view.run.receipt
    return (
        Field("inputs", f"{inputs:,}"),
        Field("replies", f"{view.summary.coverage.replies:,}"),
        Field("rubric", one_line(f"{receipt.rubric} {receipt.rubric_version}")),
        Field("judge", one_line(receipt.judge)),
    )


def _receipt(view: RunView, *, inputs: int) -> tuple[Field, ...]:
    """A job has no times: it may be stopped and gone on with, and its files are the same whenever it ran."""
    unknown = ("run", "started", "finished", "took", "gold set", "drafts per case")
    kept = (each for each in view.receipt if each.name not in unknown)
    return (Field("directory", view.id), Field("inputs", f"{inputs:,}"), *kept)


def _line(figures: PartitionFigures) -> PartitionLine:
    passed, unsafe, tally = figures.passed, figures.unsafe, figures.tally
    often = list(figures.patterns.items())[:_PATTERNS_EACH]
    return PartitionLine(
        name=one_line(partition_name(figures)),
        rows=f"{tally.rows:,}",
        failed=f"{tally.failed:,}",
        pass_rate=figure(passed.value, "share"),
        interval=interval(passed.interval, "share"),
        unsafe=figure(unsafe.value, "share"),
        unsafe_interval=interval(unsafe.interval, "share"),
        patterns=", ".join(f"{words(name)} {number:,}" for name, number in often),
        figures=figures,
    )
