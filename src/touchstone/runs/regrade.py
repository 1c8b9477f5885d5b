"""Result and another judge's Grading -> the Result under that judge; metrics and verdict stay as they are."""

from collections.abc import Sequence
from dataclasses import replace

from touchstone.core.plan import Plan
from touchstone.core.result import Failure, Grading, Result
from touchstone.runs.decision import decide_for_guard


def regrade(result: Result, grading: Grading, *, plan: Plan, failures: Sequence[Failure] = ()) -> Result:
    """The result with this grading and the decision that follows; what failed goes to a person."""
    decision = decide_for_guard(result.verdict, grading, result.metrics, plan=plan)
    if failures and decision == "send":
        decision = "review"
    return replace(result, rubric=grading, decision=decision, failures=(*result.failures, *failures))
