"""Counts of a run's replies -> its headline measures, held against the rubric's targets."""

from collections.abc import Sequence

from touchstone.rubric.model import TOP, Rubric
from touchstone.runs.figures import CriterionFigures
from touchstone.runs.targets import Figure, Measure, average_target, hold, pass_rate_target, safety_target
from touchstone.stats.interval import Interval

# Given a target or not, the specification reports it.
HEADLINE = "accuracy"
# As wide as the specification's band for the pass rate: a set that leaves more open cannot place a version in it.
WIDE = 0.1


def pass_rate_measure(passed: int, n: int, replies: int, *, interval: Interval | None, rubric: Rubric) -> Measure:
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


def average_measures(criteria: Sequence[CriterionFigures], replies: int, *, rubric: Rubric) -> list[Measure]:
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


def safety_measure(unsafe: int, n: int, replies: int, *, interval: Interval | None, rubric: Rubric) -> Measure:
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


def confidence_measure(stated: float, n: int, replies: int, *, interval: Interval | None, rubric: Rubric) -> Measure:
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
