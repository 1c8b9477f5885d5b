"""What a scoring came to, as plain values: the view that the summary table and its JSON are made from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class MetricTally:
    """One metric over all rows: how many it scored, their mean, and how often it raised which flag."""

    scored: int
    mean: float | None
    flags: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Tally:
    """All rows: how many, how many failed, and what was decided, found and measured about the others."""

    rows: int
    failed: int
    decisions: Mapping[str, int]
    verdicts: Mapping[str, int]
    metrics: Mapping[str, MetricTally]
    anchors: Mapping[str, int]


def tally_to_dict(tally: Tally) -> dict[str, Any]:
    """The tally as one JSON object."""
    metrics = {
        name: {"scored": metric.scored, "mean": metric.mean, "flags": dict(metric.flags)}
        for name, metric in tally.metrics.items()
    }
    return {
        "rows": tally.rows,
        "failed": tally.failed,
        "decisions": dict(tally.decisions),
        "verdicts": dict(tally.verdicts),
        "metrics": metrics,
        "anchors": dict(tally.anchors),
    }
