"""Results, one after another -> a Tally; what is kept does not grow with their number."""

from collections import Counter, defaultdict
from typing import get_args

from touchstone.core.result import STATUSES, VIOLATION_KINDS, Decision, Flag, Grading, Outcome, Result, Verdict
from touchstone.report.summary import CriterionTally, GradingTally, MetricTally, Tally


class Counting:
    """Counts results as they pass."""

    def __init__(self) -> None:
        self._rows = 0
        self._failed = 0
        self._decisions: Counter[str] = Counter()
        self._verdicts: Counter[str] = Counter()
        self._anchors: Counter[str] = Counter()
        self._scored: Counter[str] = Counter()
        self._sums: defaultdict[str, float] = defaultdict(float)
        self._flags: dict[str, Counter[str]] = {}
        self._gradings = GradingCounting()

    def add(self, result: Result) -> None:
        self._rows += 1
        self._failed += bool(result.failures)
        self._decisions[result.decision] += 1
        if result.verdict is not None:
            self._verdicts[result.verdict] += 1
        for name, score in (result.metrics or {}).items():
            flags = self._flags.setdefault(name, Counter())
            if score.flag is not None:
                flags[score.flag] += 1
            if score.score is not None:
                self._scored[name] += 1
                self._sums[name] += score.score
            self._anchors.update(anchor.status for anchor in score.anchors or ())
        if result.rubric is not None:
            self._gradings.add(result.rubric)

    def tally(self) -> Tally:
        """What the results so far came to."""
        return Tally(
            rows=self._rows,
            failed=self._failed,
            decisions={name: self._decisions[name] for name in get_args(Decision)},
            verdicts={name: self._verdicts[name] for name in get_args(Verdict)},
            metrics={name: self._metric(name) for name in self._flags},
            anchors={status: self._anchors[status] for status in STATUSES},
            rubric=self._gradings.tally(),
        )

    def _metric(self, name: str) -> MetricTally:
        scored = self._scored[name]
        return MetricTally(
            scored=scored,
            mean=self._sums[name] / scored if scored else None,
            flags={flag: self._flags[name][flag] for flag in get_args(Flag)},
        )


class GradingCounting:
    """Counts what the rubric says of results as they pass."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self._violations: Counter[str] = Counter()
        self._unsafe = 0
        self._graded: Counter[str] = Counter()
        self._sums: Counter[str] = Counter()

    def add(self, grading: Grading) -> None:
        if grading.outcome is not None:
            self._outcomes[grading.outcome] += 1
        self._unsafe += bool(grading.violations)
        self._violations.update(violation.kind for violation in grading.violations)
        for grade in grading.grades:
            self._graded[grade.criterion] += grade.grade is not None
            self._sums[grade.criterion] += grade.grade or 0

    def tally(self) -> GradingTally:
        """What the gradings so far came to."""
        concluded = self._outcomes.total()
        return GradingTally(
            outcomes={name: self._outcomes[name] for name in get_args(Outcome)},
            pass_rate=self._outcomes["PASS"] / concluded if concluded else None,
            criteria={name: self._criterion(name) for name in self._graded},
            violations={kind: self._violations[kind] for kind in VIOLATION_KINDS},
            unsafe=self._unsafe,
        )

    def _criterion(self, name: str) -> CriterionTally:
        graded = self._graded[name]
        return CriterionTally(graded, self._sums[name] / graded if graded else None)
