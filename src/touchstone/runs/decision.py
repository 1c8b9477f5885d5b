"""Verdict and grading -> decision: the one answer a guard needs. Unscored or unsure is never sent."""

from touchstone.core.result import Decision, Grading, Verdict
from touchstone.rubric.model import TOP, Rubric

# So close to the pass mark, one grade more or less on a light criterion turns the outcome.
NARROW = 5.0
# Below this a grade is a guess.
GUESS = 0.25


def decide_for_guard(verdict: Verdict | None, grading: Grading, *, rubric: Rubric) -> Decision:
    """block on FAIL; review when in doubt or when anything is open; send otherwise."""
    if verdict == "FAIL" or grading.outcome == "FAIL":
        return "block"
    if verdict != "PASS" or grading.outcome != "PASS" or is_unsure(grading, rubric=rubric):
        return "review"
    return "send"


def is_unsure(grading: Grading, *, rubric: Rubric) -> bool:
    """Whether a grade is a guess, or the unrounded total so near the pass mark that rounding decided."""
    if any(grade.confidence is None or grade.confidence < GUESS for grade in grading.grades):
        return True
    weights = {criterion.name: criterion.weight for criterion in rubric.criteria}
    unrounded = sum((grade.value or 0.0) / TOP * weights[grade.criterion] for grade in grading.grades)
    return abs(unrounded - rubric.pass_mark) < NARROW
