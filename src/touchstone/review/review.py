"""What a person says about one reply -> a Review: grades, violations, a note; kept beside what it supersedes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from touchstone.core.errors import ReviewError
from touchstone.core.result import VIOLATION_KINDS, Finding, Grade, Grading
from touchstone.rubric.model import SAFETY, TOP, Rubric
from touchstone.rubric.outcome import conclude

MAX_NOTE = 10_000
MAX_VIOLATIONS = 100


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


def grading_of(review: Review, *, rubric: Rubric) -> Grading:
    """The review as a grading: points, total, and the outcome that follows, under the rubric."""
    grades = [Grade(name, grade, None, None, None, "") for name, grade in review.grades.items()]
    return conclude(rubric, grades, review.violations, judge=review.reviewer)


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
