"""What a job came to, in all and by partition, and its most telling replies -> summary.json and the report."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from touchstone.report.html import render_run
from touchstone.report.run import RunReport, pattern_to_dict
from touchstone.runs.counts import Tally
from touchstone.runs.patterns import Pattern
from touchstone.runs.summary import Summary
from touchstone.stats.interval import Proportion

MOST_PARTITIONS = 400
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
        "summary": asdict(summary.summary),
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
    counts = {
        name: {
            "count": rate.hits,
            "of": rate.of,
            "rate": rate.value,
            "interval": rate.interval and asdict(rate.interval),
        }
        for name, rate in (("pass_rate", figures.passed), ("safety_failures", figures.unsafe))
    }
    return asdict(figures.tally) | counts


@dataclass(frozen=True, slots=True)
class JobView:
    """What a job's report shows: a run's report, and what only a job has."""

    run: RunReport
    inputs: int
    summary: JobSummary

    @property
    def partitions(self) -> list[tuple[str, PartitionFigures]]:
        """Each partition with its name; of a single one all figures are shown already."""
        found = self.summary.partitions
        return [(partition_name(each), each) for each in found[:MOST_PARTITIONS]] if len(found) > 1 else []

    @property
    def more_partitions(self) -> int:
        return max(0, len(self.summary.partitions) - MOST_PARTITIONS)

    @property
    def unread(self) -> list[str]:
        """What could not be read, and why."""
        return [text if name in text else f"{name}: {text}" for name, text in self.summary.unread.items()]


def render_job_html(view: JobView) -> str:
    """The whole page."""
    return render_run(view.run, template="job.html", job=view, all_rows=ALL_ROWS)
