"""Result and waivers -> the result as it counts: the judge's word less the violations that people found to be none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from touchstone.core.result import Finding, Grade, Grading, Result, ViolationKind, Waived
from touchstone.rubric.model import SAFETY, Rubric
from touchstone.rubric.outcome import conclude


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A person's word that a violation the judge found in a reply is none, and why. It is kept beside the violation.

    The violation is named by its kind and span; `withdrawn` takes the waiver of the same violation back.
    """

    id: str
    run: str
    result: int
    kind: ViolationKind
    start: int
    end: int
    by: str
    made: str
    reason: str
    withdrawn: bool = False


def count_waivers(result: Result, waivers: Iterable[Waiver], *, rubric: Rubric) -> Result:
    """The result without its waived violations: safety, total, outcome, reasons, issues and decision follow.

    Of several words on one violation, the last counts. A result that nothing is waived in is given as it is. The pass
    probability heeded the violation and is no longer known: a reply that nothing else blocks goes to a person.
    """
    grading = result.rubric
    last = {(waiver.kind, waiver.start, waiver.end): waiver for waiver in waivers}
    said = {place: waiver for place, waiver in last.items() if not waiver.withdrawn}
    waived = [(v, said[_place(v)]) for v in grading.violations if _place(v) in said] if grading else []
    if grading is None or not waived:
        return result
    apart = tuple(Waived(violation, w.by, w.made, w.reason) for violation, w in waived)
    grading = _regraded(grading, apart, rubric=rubric)
    return replace(result, rubric=grading, decision="block" if grading.violations else "review")


def _place(violation: Finding) -> tuple[ViolationKind, int, int]:
    return violation.kind, violation.start, violation.end


def _regraded(grading: Grading, waived: tuple[Waived, ...], *, rubric: Rubric) -> Grading:
    gone = {each.violation for each in waived}
    left = tuple(violation for violation in grading.violations if violation not in gone)
    grades = [_grade(grade, left, rubric=rubric) for grade in grading.grades]
    concluded = conclude(rubric, grades, left, judge=grading.judge, issues=_issues(grading, left))
    return replace(
        grading,
        grades=concluded.grades,
        violations=left,
        issues=concluded.issues,
        total=concluded.total,
        outcome=concluded.outcome,
        pass_probability=None,
        reasons=concluded.reasons,
        waived=(*grading.waived, *waived),
    )


def _grade(grade: Grade, violations: Sequence[Finding], *, rubric: Rubric) -> Grade:
    """Safety anew; every other grade as the judge gave it."""
    from touchstone.rubric.outcome import grade_safety

    criterion = rubric.criterion(SAFETY)
    return grade_safety(criterion, violations) if criterion and grade.criterion == SAFETY else grade


def _issues(grading: Grading, left: Sequence[Finding]) -> list[str]:
    """The judge's issues, but for those that only a waived violation gave rise to."""
    from touchstone.judges.reasons import violation_issue

    gone = {violation_issue(violation) for violation in grading.violations} - set(map(violation_issue, left))
    return [issue for issue in grading.issues if issue not in gone]
