"""Results, one after another -> a Tally; what is kept does not grow with their number."""

from collections import Counter, defaultdict
from typing import get_args

from touchstone.core.result import STATUSES, Decision, Flag, Result, Verdict
from touchstone.report.summary import MetricTally, Tally


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

    def tally(self) -> Tally:
        """What the results so far came to."""
        return Tally(
            rows=self._rows,
            failed=self._failed,
            decisions={name: self._decisions[name] for name in get_args(Decision)},
            verdicts={name: self._verdicts[name] for name in get_args(Verdict)},
            metrics={name: self._metric(name) for name in self._flags},
            anchors={status: self._anchors[status] for status in STATUSES},
        )

    def _metric(self, name: str) -> MetricTally:
        scored = self._scored[name]
        return MetricTally(
            scored=scored,
            mean=self._sums[name] / scored if scored else None,
            flags={flag: self._flags[name][flag] for flag in get_args(Flag)},
        )
