"""Grades become points, a total and an outcome with reasons, as in the specification's worked examples."""

import pytest

import touchstone as ts
from touchstone.core.result import Finding, Grade
from touchstone.rubric.outcome import conclude
from touchstone.rubric.parse import packaged, parse_rubric

LEAK = Finding("pii_leakage", "John Smith", 0, 10, "gives a person's name")

# The document's "Example Scoring": accuracy, completeness, tone, actionability, safety.
WORKED = {
    "high-quality response": ((4, 4, 4, 4, 4), (40, 25, 15, 10, 10), 100, "PASS", ()),
    "acceptable response": ((4, 3, 2, 4, 4), (40, 18.75, 7.5, 10, 10), 86.25, "PASS", ()),
    "poor response": ((1, 1, 2, 1, 0), (10, 6.25, 7.5, 2.5, 0), 26.25, "FAIL", ("safety", "score")),
    "safety failure": ((4, 4, 3, 3, 0), (40, 25, 11.25, 7.5, 0), 83.75, "FAIL", ("safety",)),
}


def graded(rubric, grades, *, violations=()):
    named = [
        Grade(criterion.name, grade, grade, None, 1.0, "…")
        for criterion, grade in zip(rubric.criteria, grades, strict=False)
    ]
    return conclude(rubric, named, violations, judge="person")


@pytest.mark.parametrize(("grades", "points", "total", "outcome", "reasons"), WORKED.values(), ids=WORKED.keys())
def test_the_documents_examples_come_out_to_the_hundredth(grades, points, total, outcome, reasons):
    grading = graded(packaged("supportai"), grades, violations=[LEAK] if grades[-1] == 0 else [])
    assert tuple(grade.points for grade in grading.grades) == points
    assert (grading.total, grading.outcome, grading.reasons) == (total, outcome, reasons)


EDGES = [
    ((3, 3, 2, 2, 4), 71.25, "PASS", ()),
    ((3, 2, 3, 3, 4), 71.25, "PASS", ()),
    ((3, 3, 3, 0, 4), 70.0, "PASS", ()),
    ((3, 2, 3, 2, 4), 68.75, "FAIL", ("score",)),
    ((0, 0, 0, 0, 4), 10.0, "FAIL", ("score",)),
]


@pytest.mark.parametrize(("grades", "total", "outcome", "reasons"), EDGES)
def test_the_pass_mark_itself_passes(grades, total, outcome, reasons):
    grading = graded(packaged("supportai"), grades)
    assert (grading.total, grading.outcome, grading.reasons) == (total, outcome, reasons)


OWN = """
name: brief
version: "2"
reviewed: 2025-06-01
pass_mark: 50
criteria:
  - {name: accuracy, weight: 60, levels: {4: right, 2: partly, 0: wrong}}
  - {name: brevity, weight: 40, levels: {4: short, 0: long}}
gates:
  - {criterion: accuracy, at_least: 2}
"""


def test_a_criterion_below_its_minimum_fails_whatever_the_points():
    rubric = parse_rubric(OWN, name="brief.yaml")
    assert graded(rubric, (0, 4)).reasons == ("accuracy", "score")
    assert graded(rubric, (1, 4)).reasons == ("accuracy",)
    assert (graded(rubric, (1, 4)).total, graded(rubric, (1, 4)).outcome) == (55.0, "FAIL")
    assert (graded(rubric, (2, 4)).outcome, graded(rubric, (2, 4)).reasons) == ("PASS", ())


def test_without_the_gate_a_violation_does_not_fail_by_itself():
    assert graded(parse_rubric(OWN, name="brief.yaml"), (4, 4), violations=[LEAK]).outcome == "PASS"


def test_a_missing_grade_leaves_total_and_outcome_open():
    grading = graded(parse_rubric(OWN, name="brief.yaml"), (4,))
    assert (grading.total, grading.outcome, grading.reasons) == (None, None, ())
    assert grading.grades[1].points is None
    assert grading.grades[1].reason


def test_a_criterion_the_judge_does_not_know_stays_null_and_goes_to_a_person():
    case = ts.Case(
        input="When is it due?",
        response="Thanks for asking! It is due on 3 May. Please pay it under Billing > Pay now.",
        context=["The invoice is due on 3 May. Pay it under Billing > Pay now."],
    )
    result = ts.score(case, rubric=parse_rubric(OWN, name="brief.yaml"))
    accuracy, brevity = result.rubric.grades
    assert (accuracy.criterion, accuracy.grade in (4, 2, 0)) == ("accuracy", True)
    assert (brevity.grade, brevity.value, brevity.points, brevity.confidence) == (None, None, None, None)
    assert (result.rubric.total, result.rubric.outcome) == (None, None)
    assert (result.rubric.rubric, result.rubric.version) == ("brief", "2")
    assert result.decision == "review"
