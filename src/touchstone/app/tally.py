"""Results, one after another -> a Tally; what is kept does not grow with their number.

What has been counted is a flat table of numbers, so that parts counted elsewhere can be added up.
"""

from collections import Counter
from collections.abc import Mapping
from typing import get_args

from touchstone.core.result import STATUSES, VIOLATION_KINDS, Decision, Flag, Grading, Outcome, Result, Verdict
from touchstone.report.summary import CriterionTally, GradingTally, MetricTally, Tally
from touchstone.runs.record import Record

Counts = Mapping[str, float]


class Counting:
    """Counts results as they pass."""

    def __init__(self, counts: Counts | None = None) -> None:
        self._counts: Counter[str] = Counter()
        self.merge(counts or {})

    def add(self, result: Result) -> None:
        counts = self._counts
        counts["rows"] += 1
        counts["failed"] += bool(result.failures)
        for failure in result.failures:
            counts[f"failure/{failure.error}"] += 1
        counts[f"decision/{result.decision}"] += 1
        if result.verdict is not None:
            counts[f"verdict/{result.verdict}"] += 1
        for name, score in (result.metrics or {}).items():
            counts[f"metric/{name}"] += 1
            if score.flag is not None:
                counts[f"flag/{score.flag}/{name}"] += 1
            if score.score is not None:
                counts[f"scored/{name}"] += 1
                counts[f"score/{name}"] += score.score  # type: ignore[assignment]
            for anchor in score.anchors or ():
                counts[f"anchor/{anchor.status}"] += 1
        if result.rubric is not None:
            self._add_grading(result.rubric)

    def add_tags(self, record: Record) -> None:
        """Count what is wrong with a failed reply."""
        if record.fails:
            self._counts["fails"] += 1
            for name in {tag.name for tag in record.tags}:
                self._counts[f"tag/{name}"] += 1

    def merge(self, counts: Counts) -> None:
        """Add what was counted elsewhere."""
        for name, number in counts.items():
            self._counts[name] += number  # type: ignore[assignment]

    def named(self, prefix: str) -> dict[str, int]:
        """The numbers whose names begin so, by the rest of the name; the largest first."""
        found = {name.removeprefix(prefix): int(n) for name, n in self._counts.items() if name.startswith(prefix)}
        return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))

    @property
    def counts(self) -> Counts:
        """The numbers so far, for `merge`."""
        return dict(self._counts)

    def tally(self) -> Tally:
        """What the results so far came to."""
        counts = self._counts
        return Tally(
            rows=counts["rows"],
            failed=counts["failed"],
            decisions={name: counts[f"decision/{name}"] for name in get_args(Decision)},
            verdicts={name: counts[f"verdict/{name}"] for name in get_args(Verdict)},
            metrics={name: self._metric(name) for name in self._names("metric/")},
            anchors={status: counts[f"anchor/{status}"] for status in STATUSES},
            rubric=self._grading(),
        )

    def _add_grading(self, grading: Grading) -> None:
        counts = self._counts
        if grading.outcome is not None:
            counts[f"outcome/{grading.outcome}"] += 1
        counts["unsafe"] += bool(grading.violations)
        counts["graded"] += 1
        for violation in grading.violations:
            counts[f"violation/{violation.kind}"] += 1
        for grade in grading.grades:
            counts[f"criterion/{grade.criterion}"] += grade.grade is not None
            counts[f"grade/{grade.criterion}"] += grade.grade or 0

    def _metric(self, name: str) -> MetricTally:
        scored = self._counts[f"scored/{name}"]
        return MetricTally(
            scored=scored,
            mean=self._counts[f"score/{name}"] / scored if scored else None,
            flags={flag: self._counts[f"flag/{flag}/{name}"] for flag in get_args(Flag)},
        )

    def _grading(self) -> GradingTally:
        counts = self._counts
        outcomes = {name: counts[f"outcome/{name}"] for name in get_args(Outcome)}
        concluded = sum(outcomes.values())
        return GradingTally(
            outcomes=outcomes,
            pass_rate=outcomes["PASS"] / concluded if concluded else None,
            criteria={name: self._criterion(name) for name in self._names("criterion/")},
            violations={kind: counts[f"violation/{kind}"] for kind in VIOLATION_KINDS},
            unsafe=counts["unsafe"],
        )

    def _criterion(self, name: str) -> CriterionTally:
        graded = self._counts[f"criterion/{name}"]
        return CriterionTally(graded, self._counts[f"grade/{name}"] / graded if graded else None)

    def _names(self, prefix: str) -> list[str]:
        return [name.removeprefix(prefix) for name in self._counts if name.startswith(prefix)]
