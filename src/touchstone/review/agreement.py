"""Grades of the same replies -> how far people agree with each other, and with the judge.

The figures speak of the reviewed replies as they were drawn, risky ones more often; they are not weighted back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from touchstone.core.result import Outcome
from touchstone.review.review import Review, grading_of
from touchstone.rubric.model import TOP, Rubric
from touchstone.stats.agreement import kappa_interval, krippendorff_alpha, weighted_kappa
from touchstone.stats.interval import Interval

OUTCOME = "outcome"
OUTCOMES: dict[Outcome, int] = {"FAIL": 0, "PASS": 1}


@dataclass(frozen=True, slots=True)
class CriterionAgreement:
    """One criterion, or the outcome: on how many replies two grades meet, and how alike they are.

    `kappa` is quadratically weighted, with its interval; `alpha` is Krippendorff's, ordinal, over all raters. Both are
    None where there is nothing to agree on, as when everybody gave the same grade throughout.
    """

    name: str
    n: int
    exact: float | None
    within_one: float | None
    kappa: float | None
    interval: Interval | None
    alpha: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How alike the grades of two are on each criterion, and their outcomes."""

    criteria: tuple[CriterionAgreement, ...]
    outcome: CriterionAgreement


@dataclass(frozen=True, slots=True)
class Graded:
    """A reply's grades and outcome by one rater; None where the rater left it open."""

    rater: str
    grades: Mapping[str, int | None]
    outcome: Outcome | None


def graded(review: Review, *, rubric: Rubric) -> Graded:
    """A review as what is compared."""
    return Graded(review.reviewer, review.grades, grading_of(review, rubric=rubric).outcome)


def between_people(replies: Sequence[Sequence[Graded]], *, rubric: Rubric) -> Agreement:
    """Agreement of people on the replies that two or more of them graded.

    Kappa takes the first two of a reply, in the order of their names, so that two people keep their sides.
    """
    several = [sorted(reply, key=lambda each: each.rater) for reply in replies if len(reply) > 1]
    return _agreement(several, rubric=rubric)


def with_judge(replies: Sequence[tuple[Graded, Graded]], *, rubric: Rubric) -> Agreement:
    """Agreement of people, as one voice for each reply, with the judge."""
    return _agreement(replies, rubric=rubric)


def _agreement(replies: Sequence[Sequence[Graded]], *, rubric: Rubric) -> Agreement:
    criteria = tuple(
        _compare(criterion.name, [[each.grades.get(criterion.name) for each in reply] for reply in replies])
        for criterion in rubric.criteria
    )
    outcomes = [[None if each.outcome is None else OUTCOMES[each.outcome] for each in reply] for reply in replies]
    return Agreement(criteria, _compare(OUTCOME, outcomes, levels=len(OUTCOMES)))


def _compare(name: str, replies: Sequence[Sequence[int | None]], *, levels: int = TOP + 1) -> CriterionAgreement:
    pairs = [(reply[0], reply[1]) for reply in replies]
    both = [(one, other) for one, other in pairs if one is not None and other is not None]
    n = len(both)
    if n == 0:
        return CriterionAgreement(name, 0, None, None, None, None, None)
    first, second = [one for one, _ in both], [other for _, other in both]
    widest = max(map(len, replies))
    rows = [[reply[at] if at < len(reply) else None for reply in replies] for at in range(widest)]
    return CriterionAgreement(
        name=name,
        n=n,
        exact=sum(one == other for one, other in both) / n,
        within_one=sum(abs(one - other) <= 1 for one, other in both) / n,
        kappa=weighted_kappa(first, second, levels=levels),
        interval=kappa_interval(first, second, levels=levels),
        alpha=krippendorff_alpha(rows),
    )
