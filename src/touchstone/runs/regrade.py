"""Result and another judge's Grading -> the Result under that judge; metrics and verdict stay as they are."""

from collections.abc import Sequence
from dataclasses import replace

from touchstone.core.result import Failure, Grading, Result
from touchstone.rubric.model import Rubric
from touchstone.runs.decision import decide_for_guard


def regrade(result: Result, grading: Grading, *, rubric: Rubric, failures: Sequence[Failure] = ()) -> Result:
    """The result with this grading and the decision that follows; what failed goes to a person."""
    decision = decide_for_guard(result.verdict, grading, rubric=rubric)
    if failures and decision == "send":
        decision = "review"
    return replace(result, rubric=grading, decision=decision, failures=(*result.failures, *failures))
