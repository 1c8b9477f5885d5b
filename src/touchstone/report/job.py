"""What a job came to, in all and by partition, and its most telling replies -> summary.json and the report."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from touchstone.core.case import Case
from touchstone.core.result import Result
from touchstone.report.figures import figure, interval, words
from touchstone.report.plain import one_line
from touchstone.report.run import charts
from touchstone.report.run.html import page_values
from touchstone.report.run.json import figures_to_dict, pattern_to_dict
from touchstone.report.run.page import render_page
from touchstone.report.run.view import Field, RunView, run_view
from touchstone.runs.counts import Tally
from touchstone.runs.patterns import Pattern
from touchstone.runs.record import Record
from touchstone.runs.run import Receipt, Run
from touchstone.runs.summary import Summary
from touchstone.stats.interval import Proportion
from touchstone.trust.measurement import JudgeStanding

MOST_PARTITIONS = 400
_PATTERNS_EACH = 3
ALL_ROWS = "the shards (part-…) beside this file"


@dataclass(frozen=True, slots=True)
class PartitionFigures:
    """One partition: replies that pass of those with an outcome, and unsafe replies of those inspected.

    `patterns` is how many failed replies show each pattern, the most frequent first.
    """

    partition: Mapping[str, str | None]
    tally: Tally
    passed: Proportion
    unsafe: Proportion
    patterns: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class JobSummary:
    """All rows of a job and each of its partitions, in the order they were read; what could not be read, and why.

    `failures` counts the failed rows by error; `summary` and `patterns` are what a run's report shows of its replies.
    """

    all: PartitionFigures
    partitions: tuple[PartitionFigures, ...]
    unread: Mapping[str, str]
    failures: Mapping[str, int]
    summary: Summary
    patterns: tuple[Pattern, ...]


def summary_to_dict(summary: JobSummary) -> dict[str, Any]:
    """The summary as one JSON object."""
    return {
        **_figures_dict(summary.all),
        "patterns": [pattern_to_dict(pattern) for pattern in summary.patterns],
        "failures": dict(summary.failures),
        "summary": figures_to_dict(summary.summary),
        "partitions": [
            {"partition": dict(each.partition), **_figures_dict(each), "patterns": dict(each.patterns)}
            for each in summary.partitions
        ],
        "unread": dict(summary.unread),
    }


def partition_name(figures: PartitionFigures) -> str:
    """What a partition is called: dt=2025-06-01/channel=chat."""
    pairs = (f"{name}={'–' if value is None else value}" for name, value in figures.partition.items())
    return "/".join(pairs) or "(none)"


def _figures_dict(figures: PartitionFigures) -> dict[str, Any]:
    return {
        **asdict(figures.tally),
        "pass_rate": _rate_dict(figures.passed),
        "safety_failures": _rate_dict(figures.unsafe),
    }


def _rate_dict(rate: Proportion) -> dict[str, Any]:
    interval = asdict(rate.interval) if rate.interval else None
    return {"count": rate.hits, "of": rate.of, "rate": rate.value, "interval": interval}


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
