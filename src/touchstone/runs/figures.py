"""What a run came to, as values: coverage, criteria, categories, spread, and all of it as a Summary."""

from collections.abc import Mapping
from dataclasses import dataclass

from touchstone.runs.targets import Measure
from touchstone.stats.calibration import Reliability
from touchstone.stats.interval import Interval

BINS = 10
NO_CATEGORY = "(no category)"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many replies there are, and how many were scored, left open by the judge, and could not be scored."""

    replies: int
    scored: int
    abstained: int
    failed: int


@dataclass(frozen=True, slots=True)
class CriterionFigures:
    """One criterion: how often each grade was given, how many grades there are, their mean and its interval."""

    name: str
    counts: Mapping[int, int]
    graded: int
    mean: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class CategoryFigures:
    """One category: its replies, the pass rate, mean total, unsafe replies and mean grades."""

    name: str
    coverage: Coverage
    passed: int
    pass_rate: float | None
    interval: Interval | None
    mean_total: float | None
    unsafe: int
    criteria: tuple[CriterionFigures, ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """How much a bot varies that drafted several replies for each case.

    `unsteady` are the ids of the cases of which some drafts pass and some fail.
    """

    cases: int
    drafts: int
    unsteady: tuple[str, ...]
    agreement: float
    mean_deviation: float


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to. `totals` counts the replies with a total of 0–10, 10–20 … 90–100 points."""

    cases: int
    coverage: Coverage
    measures: tuple[Measure, ...]
    criteria: tuple[CriterionFigures, ...]
    categories: tuple[CategoryFigures, ...]
    totals: tuple[int, ...]
    decisions: Mapping[str, int]
    violations: Mapping[str, int]
    reliability: Reliability | None
    spread: Spread | None
    remarks: tuple[str, ...]

    def measure(self, name: str) -> Measure | None:
        return next((measure for measure in self.measures if measure.name == name), None)


def remarks(coverage: Coverage, spread: Spread | None, *, waived: int = 0) -> list[str]:
    """What is to be said of all figures."""
    said = []
    if not coverage.replies:
        said.append("there is nothing to count: the run has no replies")
    left = coverage.abstained + coverage.failed
    if left:
        said.append(
            f"without an outcome: {left} of {coverage.replies} replies ({coverage.abstained} left open by the judge, "
            f"{coverage.failed} could not be scored), counted neither as passed nor as failed"
        )
    if waived:
        said.append(f"waived by people, and not counted: {waived} violation{'s' if waived > 1 else ''}")
    if spread:
        said.append("several drafts for each case: intervals draw whole cases, as drafts of one case are alike")
    return said


def total_bin(total: float) -> int:
    """Which tenth of the points a total lies in."""
    return min(BINS - 1, int(total // BINS))
