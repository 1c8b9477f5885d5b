"""A result -> whether its reply passes, and what is wrong with one that does not."""

from collections.abc import Iterator
from textwrap import indent

from touchstone.core.case import Case
from touchstone.core.result import Finding, Result
from touchstone.report.plain import plain
from touchstone.rubric.model import TOP
from touchstone.runs.decision import explain_chance, explain_decision, explain_origin


def passes(result: Result) -> bool:
    """Whether the verdict is no FAIL and the outcome is PASS; what is unscored does not pass."""
    return result.verdict not in (None, "FAIL") and result.rubric is not None and result.rubric.outcome == "PASS"


def explain_failure(case: Case, result: Result) -> str:
    """What an AssertionError says of a reply that does not pass."""
    return plain("\n".join(_lines(case, result)))


def _lines(case: Case, result: Result) -> Iterator[str]:
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
