"""A case -> an AssertionError that says what is wrong with its reply, unless the reply passes."""

from collections.abc import Iterator
from os import PathLike
from textwrap import indent

from touchstone import score
from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.core.result import Finding, Result
from touchstone.report.plain import plain
from touchstone.rubric.model import TOP, Rubric
from touchstone.runs.decision import explain_chance, explain_decision, explain_origin


def assert_passes(
    case: Case,
    *,
    plan: Plan | None = None,
    rubric: Rubric | None = None,
    policy: Policy | None = None,
    verifier: str | PathLike[str] | None = None,
) -> Result:
    """The case's result when its verdict is no FAIL and its outcome is PASS; what is unscored does not pass."""
    __tracebackhide__ = True
    result = score(case, plan=plan, rubric=rubric, policy=policy, verifier=verifier)
    if not passes(result):
        raise AssertionError(plain("\n".join(_told(case, result))))
    return result


def passes(result: Result) -> bool:
    """Whether the reply is good enough by the metrics and by the rubric."""
    return result.verdict not in (None, "FAIL") and result.rubric is not None and result.rubric.outcome == "PASS"


def _told(case: Case, result: Result) -> Iterator[str]:
    grading = result.rubric
    outcome = (grading.outcome if grading else None) or "not scored"
    yield f"case {case.id or '(no id)'} does not pass: verdict {result.verdict or 'open'}, rubric {outcome}"
    yield f"  {explain_decision(result)}"
    yield f"  {explain_chance(result)}"
    yield from (f"  {failure.message}" for failure in result.failures)
    yield from (f"  {reason}" for reason in result.reasons)
    if case.expected_output is not None:
        yield indent(case.expected_output, "- ", lambda line: True)
    yield indent(case.response, "+ ", lambda line: True)
    if grading is None:
        return
    total = "no total" if grading.total is None else f"{grading.total:g} points"
    yield f"{grading.rubric} {grading.version}: {total}" + (
        f", fails by {' and '.join(grading.reasons)}" if grading.reasons else ""
    )
    for grade in grading.grades:
        if grade.grade != TOP:
            given = "not graded" if grade.grade is None else f"{grade.grade}/{TOP}"
            yield f"  {grade.criterion} {given}: {grade.reason}"
    yield from (line for violation in grading.violations for line in _found(violation))
    if grading.suspicions:
        yield "  suspected, for a person to look at:"
        yield from (line for suspicion in grading.suspicions for line in _found(suspicion))
    yield from (f"  {issue}" for issue in grading.issues)


def _found(finding: Finding) -> Iterator[str]:
    origin = explain_origin(finding)
    yield f"  {finding.kind} in '{finding.text}': {finding.reason}{f' ({origin})' if origin else ''}"
    yield from (f"      {each.source}: {each.text}" for each in finding.evidence)
