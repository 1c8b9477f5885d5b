"""Several reviews of one item -> where they differ, the item's state, and what a lead rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor
from statistics import fmean

from touchstone.core.result import Finding, Grade, Grading, Outcome
from touchstone.review.queue import State
from touchstone.review.review import Review, grading_of
from touchstone.rubric.model import Rubric
from touchstone.rubric.outcome import conclude

# People who know the rubric often lie one grade apart; two grades apart they read the reply differently.
TOLERANCE = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A lead's word on an item that people graded differently. A later ruling supersedes an earlier one."""

    id: str
    queue: str
    position: int
    by: str
    made: str
    grades: Mapping[str, int | None] = field(default_factory=dict)
    violations: tuple[Finding, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """What people differ on (a criterion, `violations` or `outcome`), and what each said."""

    what: str
    said: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Settled:
    """What people say about an item, as one voice: `passed` is between 0 and 1 while they differ, None when open."""

    grades: Mapping[str, int | None]
    violations: tuple[str, ...]
    passed: float | None
    unsafe: float | None


def differences(reviews: Sequence[Review], *, rubric: Rubric, tolerance: int = TOLERANCE) -> tuple[Difference, ...]:
    """Where the current reviews of an item differ: outcome, kinds of violation, and grades beyond the tolerance."""
    if len(reviews) < 2:
        return ()
    found = []
    outcomes = {review.reviewer: grading_of(review, rubric=rubric).outcome or "open" for review in reviews}
    if len(set(outcomes.values())) > 1:
        found.append(Difference("outcome", outcomes))
    kinds = {review.reviewer: ", ".join(_kinds(review.violations)) or "none" for review in reviews}
    if len(set(kinds.values())) > 1:
        found.append(Difference("violations", kinds))
    for criterion in rubric.criteria:
        given = [grade for review in reviews if (grade := review.grades.get(criterion.name)) is not None]
        if given and max(given) - min(given) > tolerance:
            said = {review.reviewer: _shown(review.grades.get(criterion.name)) for review in reviews}
            found.append(Difference(criterion.name, said))
    return tuple(found)


def state_of(reviews: Sequence[Review], ruling: Ruling | None, *, needed: int, rubric: Rubric) -> State:
    """The state of an item with these current reviews."""
    if ruling is not None:
        return "settled"
    if len(reviews) < needed:
        return "partly" if reviews else "waiting"
    return "differs" if differences(reviews, rubric=rubric) else "done"


def settle(reviews: Sequence[Review], ruling: Ruling | None, *, rubric: Rubric) -> Settled | None:
    """The ruling, or what the current reviews say on average; None when there is neither."""
    if ruling is not None:
        grading = ruling_grading(ruling, rubric=rubric)
        kinds = _kinds(ruling.violations)
        return Settled(dict(ruling.grades), kinds, _share(grading.outcome), float(bool(kinds)))
    if not reviews:
        return None
    outcomes = [_share(grading_of(review, rubric=rubric).outcome) for review in reviews]
    known = [outcome for outcome in outcomes if outcome is not None]
    return Settled(
        grades={criterion.name: _middle(reviews, criterion.name) for criterion in rubric.criteria},
        violations=tuple(dict.fromkeys(kind for review in reviews for kind in _kinds(review.violations))),
        passed=fmean(known) if known else None,
        unsafe=fmean(bool(review.violations) for review in reviews),
    )


def ruling_grading(ruling: Ruling, *, rubric: Rubric) -> Grading:
    """The ruling as a grading, with points and the outcome that follows."""
    grades = [Grade(name, grade, None, None, None, "") for name, grade in ruling.grades.items()]
    return conclude(rubric, grades, ruling.violations, judge=ruling.by)


def _middle(reviews: Sequence[Review], criterion: str) -> int | None:
    """The mean grade as a whole number; a half goes up."""
    given = [grade for review in reviews if (grade := review.grades.get(criterion)) is not None]
    return floor(fmean(given) + 0.5) if given else None


def _share(outcome: Outcome | None) -> float | None:
    return None if outcome is None else float(outcome == "PASS")


def _kinds(violations: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(sorted({violation.kind for violation in violations}))


def _shown(grade: int | None) -> str:
    return "open" if grade is None else str(grade)
