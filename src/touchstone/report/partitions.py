"""What a job came to, in all and by partition, as plain values: the view behind its table and summary.json."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from touchstone.report.run.json import figures_to_dict, pattern_to_dict
from touchstone.report.summary import Tally, tally_to_dict
from touchstone.runs.patterns import Pattern
from touchstone.runs.summary import Summary
from touchstone.stats.interval import Interval


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of how many; no rate where nothing was counted."""

    count: int
    of: int
    interval: Interval | None

    @property
    def value(self) -> float | None:
        return self.count / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class PartitionFigures:
    """One partition: replies that pass of those with an outcome, and unsafe replies of those inspected.

    `patterns` is how many failed replies show each pattern, the most frequent first.
    """

    partition: Mapping[str, str | None]
    tally: Tally
    passed: Rate
    unsafe: Rate
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
        **_figures(summary.all),
        "patterns": [pattern_to_dict(pattern) for pattern in summary.patterns],
        "failures": dict(summary.failures),
        "summary": figures_to_dict(summary.summary),
        "partitions": [
            {"partition": dict(each.partition), **_figures(each), "patterns": dict(each.patterns)}
            for each in summary.partitions
        ],
        "unread": dict(summary.unread),
    }


def partition_name(figures: PartitionFigures) -> str:
    """What a partition is called: dt=2025-06-01/channel=chat."""
    pairs = (f"{name}={'–' if value is None else value}" for name, value in figures.partition.items())
    return "/".join(pairs) or "(none)"


def _figures(figures: PartitionFigures) -> dict[str, Any]:
    return {
        **tally_to_dict(figures.tally),
        "pass_rate": _rate(figures.passed),
        "safety_failures": _rate(figures.unsafe),
    }


def _rate(rate: Rate) -> dict[str, Any]:
    interval = asdict(rate.interval) if rate.interval else None
    return {"count": rate.count, "of": rate.of, "rate": rate.value, "interval": interval}
