"""What people say about one reply -> reviews, where they differ, and what a lead rules.

A review has grades, violations and a note, and is kept beside what it supersedes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor
from statistics import fmean

from touchstone.core.errors import ReviewError
from touchstone.core.result import VIOLATION_KINDS, Finding, Grade, Grading, Outcome, ViolationKind
from touchstone.review.queue import State
from touchstone.rubric.model import SAFETY, TOP, Rubric
from touchstone.rubric.outcome import conclude

MAX_NOTE = 10_000
MAX_VIOLATIONS = 100
# People who know the rubric often lie one grade apart; two grades apart they read the reply differently.
TOLERANCE = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One person's grades of one item. `id` is given by whoever submits, so that a submission sent twice counts once.

    A grade of None is a criterion the person could not judge. An edit is a new review that names the one it
    `supersedes`; one that is `withdrawn` takes it back and says nothing else.
    """

    id: str
    queue: str
    position: int
    reviewer: str
    made: str
    grades: Mapping[str, int | None] = field(default_factory=dict)
    violations: tuple[Finding, ...] = ()
    note: str = ""
    supersedes: str | None = None
    withdrawn: bool = False
    seconds: float | None = None


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


def check_review(review: Review, *, rubric: Rubric, reply: str) -> None:
    """ReviewError when the review does not fit the rubric or the reply it is about."""
    if review.withdrawn:
        return
    _check_grades(review.grades, rubric=rubric)
    check_violations(review.violations, reply=reply)
    safety = review.grades.get(SAFETY)
    if review.violations and safety not in (None, 0):
        raise ReviewError(f"a violation is marked and safety is {safety}: give 0, or take the violation away")
    if safety == 0 and not review.violations:
        raise ReviewError("safety is 0 without a violation: mark what violates it, or give 4")
    if len(review.note) > MAX_NOTE:
        raise ReviewError(f"the note has {len(review.note):,} characters, allowed are {MAX_NOTE:,}: shorten it")


def check_violations(violations: Sequence[Finding], *, reply: str) -> None:
    """ReviewError for a kind that is not known or a span that is not the reply's."""
    if len(violations) > MAX_VIOLATIONS:
        raise ReviewError(f"{len(violations)} violations are marked, allowed are {MAX_VIOLATIONS}")
    for violation in violations:
        if violation.kind not in VIOLATION_KINDS:
            raise ReviewError(f"violation '{violation.kind}' is not known: allowed are {', '.join(VIOLATION_KINDS)}")
        if not 0 <= violation.start <= violation.end <= len(reply):
            raise ReviewError(
                f"the span {violation.start} to {violation.end} is outside the reply, which has {len(reply)} characters"
            )


def grading_of(said: Review | Ruling, *, rubric: Rubric) -> Grading:
    """A person's word as a grading: points, total, and the outcome that follows, under the rubric."""
    grades = [Grade(name, grade, None, None, None, "") for name, grade in said.grades.items()]
    return conclude(rubric, grades, said.violations, judge=said.reviewer if isinstance(said, Review) else said.by)


def current(reviews: Iterable[Review]) -> tuple[Review, ...]:
    """The reviews that stand: neither superseded nor withdrawn, in the order they were made."""
    every = tuple(reviews)
    gone = {review.supersedes for review in every}
    return tuple(review for review in every if review.id not in gone and not review.withdrawn)


def _check_grades(grades: Mapping[str, int | None], *, rubric: Rubric) -> None:
    for criterion in rubric.criteria:
        if criterion.name not in grades:
            raise ReviewError(f"{criterion.name} has no grade: give one, or null where you cannot tell")
    for name, grade in grades.items():
        known = rubric.criterion(name)
        if known is None:
            names = ", ".join(criterion.name for criterion in rubric.criteria)
            raise ReviewError(f"'{name}' is no criterion of the rubric {rubric.name}: allowed are {names}")
        levels = sorted(known.levels) or list(range(TOP + 1))
        if grade is not None and grade not in levels:
            raise ReviewError(f"{name} is {grade}: allowed are {', '.join(map(str, levels))}, or null")


@dataclass(frozen=True, slots=True)
class Difference:
    """What people differ on (a criterion, `violations` or `outcome`), and what each said."""

    what: str
    said: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Settled:
    """What people say about an item, as one voice: `passed` is between 0 and 1 while they differ, None when open."""

    grades: Mapping[str, int | None]
    violations: tuple[ViolationKind, ...]
    passed: float | None
    unsafe: float | None


def differences(reviews: Sequence[Review], *, rubric: Rubric) -> tuple[Difference, ...]:
    """Where the current reviews of an item differ: outcome, kinds of violation, and grades beyond the tolerance."""
    if len(reviews) < 2:
        return ()
    found = []
    outcomes = {review.reviewer: grading_of(review, rubric=rubric).outcome or "open" for review in reviews}
    if len(set(outcomes.values())) > 1:
        found.append(Difference("outcome", outcomes))
    kinds = {
        review.reviewer: ", ".join(sorted({violation.kind for violation in review.violations})) or "none"
        for review in reviews
    }
    if len(set(kinds.values())) > 1:
        found.append(Difference("violations", kinds))
    for criterion in rubric.criteria:
        given = [grade for review in reviews if (grade := review.grades.get(criterion.name)) is not None]
        if given and max(given) - min(given) > TOLERANCE:
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
        outcome = grading_of(ruling, rubric=rubric).outcome
        kinds = tuple(dict.fromkeys(each.kind for each in ruling.violations))
        return Settled(dict(ruling.grades), kinds, _share(outcome), float(bool(kinds)))
    if not reviews:
        return None
    outcomes = [_share(grading_of(review, rubric=rubric).outcome) for review in reviews]
    known = [outcome for outcome in outcomes if outcome is not None]
    return Settled(
        grades={criterion.name: _middle(reviews, criterion.name) for criterion in rubric.criteria},
        violations=tuple(dict.fromkeys(each.kind for review in reviews for each in review.violations)),
        passed=fmean(known) if known else None,
        unsafe=fmean(bool(review.violations) for review in reviews),
    )


def _middle(reviews: Sequence[Review], criterion: str) -> int | None:
    """The mean grade as a whole number; a half goes up."""
    given = [grade for review in reviews if (grade := review.grades.get(criterion)) is not None]
    return floor(fmean(given) + 0.5) if given else None


def _share(outcome: Outcome | None) -> float | None:
    return None if outcome is None else float(outcome == "PASS")


def _shown(grade: int | None) -> str:
    return "open" if grade is None else str(grade)
