"""Grades and violations -> points, total and outcome (spec: supportai-rubric, Pass/Fail Criteria)."""

from collections.abc import Sequence
from dataclasses import replace

from touchstone.core.result import Grade, Grading, Outcome, Violation
from touchstone.rubric.model import TOP, Rubric


def conclude(
    rubric: Rubric,
    grades: Sequence[Grade],
    violations: Sequence[Violation],
    *,
    judge: str,
    issues: Sequence[str] = (),
) -> Grading:
    """Points for each grade, their sum, and PASS or FAIL with the reasons; a missing grade leaves the rest open."""
    by_name = {grade.criterion: grade for grade in grades}
    scored = tuple(_with_points(rubric, by_name, criterion.name) for criterion in rubric.criteria)
    points = [grade.points for grade in scored]
    total = None if any(p is None for p in points) else round(sum(p for p in points if p is not None), 10)
    reasons = _reasons(rubric, scored, violations, total)
    outcome: Outcome | None = "FAIL" if reasons else None if total is None else "PASS"
    return Grading(
        rubric.name, rubric.version, judge, scored, tuple(violations), tuple(issues), total, outcome, reasons
    )


def points_of(grade: int, weight: float) -> float:
    """(grade / 4) x weight."""
    return grade / TOP * weight


def _with_points(rubric: Rubric, grades: dict[str, Grade], name: str) -> Grade:
    criterion = rubric.criterion(name)
    grade = grades.get(name) or Grade(name, None, None, None, None, "this judge does not grade this criterion")
    if grade.grade is None or criterion is None:
        return replace(grade, points=None)
    return replace(grade, points=points_of(grade.grade, criterion.weight))


def _reasons(
    rubric: Rubric, grades: Sequence[Grade], violations: Sequence[Violation], total: float | None
) -> tuple[str, ...]:
    """Why the reply fails; empty when it does not, or not yet."""
    reasons = []
    by_name = {grade.criterion: grade.grade for grade in grades}
    for gate in rubric.gates:
        if gate.criterion is None:
            reasons += ["safety"] if violations else []
        elif (given := by_name.get(gate.criterion)) is not None and given < (gate.at_least or 0):
            reasons.append(gate.criterion)
    if total is not None and total < rubric.pass_mark:
        reasons.append("score")
    return tuple(dict.fromkeys(reasons))
