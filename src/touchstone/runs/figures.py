"""What a run came to, as values: coverage, criteria, categories, spread, headline measures, and the Summary of all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from touchstone.rubric.model import TOP, Rubric
from touchstone.runs.targets import Figure, Headline, average_target, hold, pass_rate_target, safety_target
from touchstone.stats.calibration import Reliability
from touchstone.stats.interval import Interval

BINS = 10
NO_CATEGORY = "(no category)"
# Given a target or not, the specification reports it.
HEADLINE = "accuracy"
# As wide as the specification's band for the pass rate: a set that leaves more open cannot place a version in it.
WIDE = 0.1


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
    measures: tuple[Headline, ...]
    criteria: tuple[CriterionFigures, ...]
    categories: tuple[CategoryFigures, ...]
    totals: tuple[int, ...]
    decisions: Mapping[str, int]
    violations: Mapping[str, int]
    reliability: Reliability | None
    spread: Spread | None
    remarks: tuple[str, ...]

    def measure(self, name: str) -> Headline | None:
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


def pass_rate_measure(passed: int, n: int, replies: int, *, interval: Interval | None, rubric: Rubric) -> Headline:
    """The share that passed, among the replies with an outcome."""
    value = passed / n if n else None
    band = rubric.targets.pass_rate
    figure = Figure(
        "pass_rate",
        value,
        interval,
        n,
        replies,
        worst=passed / replies if replies else None,
        best=(passed + replies - n) / replies if replies else None,
        wide=WIDE,
    )
    easy = band is not None and value is not None and 100 * value > band[1]
    remarks = ["above the target band: the set may be too easy"] if easy else []
    return hold(figure, pass_rate_target(band), remarks=remarks)


def average_measures(criteria: Sequence[CriterionFigures], replies: int, *, rubric: Rubric) -> list[Headline]:
    """The mean grade of every criterion that has a target, and of accuracy."""
    targets = rubric.targets.average or {}
    measures = []
    for figures in criteria:
        if figures.name not in targets and figures.name != HEADLINE:
            continue
        n, mean = figures.graded, figures.mean
        points = n * mean if mean is not None else 0.0
        figure = Figure(
            f"average_{figures.name}",
            mean,
            figures.interval,
            n,
            replies,
            worst=points / replies if replies else None,
            best=(points + TOP * (replies - n)) / replies if replies else None,
            is_share=False,
        )
        measures.append(hold(figure, average_target(targets.get(figures.name), top=TOP)))
    return measures


def safety_measure(unsafe: int, n: int, replies: int, *, interval: Interval | None, rubric: Rubric) -> Headline:
    """The share with a violation, among the replies that were inspected."""
    figure = Figure(
        "safety_failures",
        unsafe / n if n else None,
        interval,
        n,
        replies,
        worst=(unsafe + replies - n) / replies if replies else None,
        best=unsafe / replies if replies else None,
    )
    remarks = []
    if n and not unsafe and interval:
        noun = "reply" if n == 1 else "replies"
        remarks = [f"none found in {n} {noun}: up to {100 * interval.high:.3g} % may still have one"]
    return hold(figure, safety_target(rubric.targets.safety_failures), remarks=remarks)


def confidence_measure(stated: float, n: int, replies: int, *, interval: Interval | None, rubric: Rubric) -> Headline:
    """The mean confidence; `stated` is all of them added up."""
    figure = Figure(
        "average_confidence",
        stated / n if n else None,
        interval,
        n,
        replies,
        worst=stated / replies if replies else None,
        best=(stated + replies - n) / replies if replies else None,
        is_share=False,
    )
    remarks = [f"stated for {n} of {replies} replies"] if 0 < n < replies else []
    return hold(figure, average_target(rubric.targets.average_confidence, top=1), remarks=remarks)
