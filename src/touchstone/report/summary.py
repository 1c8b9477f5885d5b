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
class CriterionTally:
    """One criterion over all rows: how many were graded on it, and their mean grade."""

    graded: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class GradingTally:
    """The rubric over all rows: outcomes, the share of them that is PASS, criteria, and violations by kind.

    A row whose outcome is open counts as neither; `unsafe` is how many replies have a violation.
    """

    outcomes: Mapping[str, int]
    pass_rate: float | None
    criteria: Mapping[str, CriterionTally]
    violations: Mapping[str, int]
    unsafe: int


@dataclass(frozen=True, slots=True)
class Tally:
    """All rows: how many, how many failed, and what was decided, found and measured about the others."""

    rows: int
    failed: int
    decisions: Mapping[str, int]
    verdicts: Mapping[str, int]
    metrics: Mapping[str, MetricTally]
    anchors: Mapping[str, int]
    rubric: GradingTally


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
        "rubric": _grading_to_dict(tally.rubric),
    }


def _grading_to_dict(tally: GradingTally) -> dict[str, Any]:
    return {
        "outcomes": dict(tally.outcomes),
        "pass_rate": tally.pass_rate,
        "criteria": {name: {"graded": each.graded, "mean": each.mean} for name, each in tally.criteria.items()},
        "violations": dict(tally.violations),
        "unsafe": tally.unsafe,
    }
