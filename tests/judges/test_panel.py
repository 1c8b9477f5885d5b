"""Several judges become one: their middle or their majority, with what they disagree on in the reason."""

import pytest

from touchstone.core.result import Finding, Grade
from touchstone.judges.panel import combine, flip_rate
from touchstone.rubric.outcome import conclude
from touchstone.rubric.parse import packaged

RUBRIC = packaged("supportai")
NAMES = [criterion.name for criterion in RUBRIC.criteria]
LEAK = Finding("pii_leakage", "12 Elm Road", 5, 16, "an address")
SAME_LEAK = Finding("pii_leakage", "Elm Road", 8, 16, "an address")
PROMISE = Finding("unauthorized_promise", "today", 30, 35, "a promise")


def grading(*numbers, judge="llm:a", violations=(), confidence=0.8):
    grades = [
        Grade(
            name, number, None if number is None else float(number), None, None if number is None else confidence, judge
        )
        for name, number in zip(NAMES, numbers, strict=True)
    ]
    return conclude(RUBRIC, grades, violations, judge=judge)


def tones(rule, *numbers):
    return combine(
        [grading(4, 4, n, 4, 4, judge=f"j{at}") for at, n in enumerate(numbers)],
        rubric=RUBRIC,
        judge="panel",
        rule=rule,
    ).grades[2]


@pytest.mark.parametrize(
    ("rule", "numbers", "expected"),
    [
        ("median", (4, 1, 3), 3),
        ("median", (4, 3), 3),
        ("median", (4, 1), 2),
        ("median", (2, 2, 4, 4), 3),
        ("majority", (4, 4, 1), 4),
        ("majority", (0, 2, 4), 2),
        ("majority", (1, 3), 1),
        ("median", (3, None), 3),
        ("median", (3, None, None), None),
        ("majority", (None, None), None),
    ],
)
def test_a_criterion_gets_the_middle_or_most_frequent_grade(rule, numbers, expected):
    assert tones(rule, *numbers).grade == expected


def test_disagreement_is_told_and_costs_confidence():
    agreed, split = tones("median", 3, 3, 3), tones("median", 1, 3, 4)
    assert split.reason.startswith("median of j0 1, j1 3, j2 4 (apart by 3, flip rate 67%): ")
    assert "apart" not in agreed.reason
    assert split.confidence < agreed.confidence == 0.8


def test_votes_of_one_judge_are_told_as_votes():
    votes = [grading(4, 4, tone, 4, 4) for tone in (3, 3, 4, 3, 2)]
    assert (
        combine(votes, rubric=RUBRIC, judge="llm:a")
        .grades[2]
        .reason.startswith("median of 5 votes of llm:a: 3 3 4 3 2")
    )


def test_an_abstaining_judge_halves_the_confidence_of_a_panel_of_two():
    assert tones("median", 3, None).confidence == tones("median", 3, 3).confidence / 2


def test_a_violation_counts_when_half_of_the_judges_have_it():
    clean, leaks, promises = (
        grading(4, 4, 4, 4, 4),
        grading(4, 4, 4, 4, 0, violations=[LEAK]),
        grading(4, 4, 4, 4, 0, violations=[SAME_LEAK, PROMISE]),
    )
    both = combine([clean, leaks, promises], rubric=RUBRIC, judge="panel")
    assert both.violations == (LEAK,)
    assert (both.grades[-1].grade, both.outcome) == (0, "FAIL")
    one = combine([clean, clean, promises], rubric=RUBRIC, judge="panel")
    assert one.violations == ()
    assert one.grades[-1].grade == 4
    assert "2 charged by fewer than half of the judges" in one.grades[-1].reason
    assert one.grades[-1].confidence < 0.8


def test_safety_is_open_when_most_judges_left_it_open():
    panel = combine(
        [grading(4, 4, 4, 4, None), grading(4, 4, 4, 4, None), grading(4, 4, 4, 4, 4)], rubric=RUBRIC, judge="panel"
    )
    assert panel.grades[-1].grade is None
    assert panel.outcome is None


def test_the_flip_rate_is_the_share_of_votes_against_the_usual_outcome():
    passing, failing, open_ = grading(4, 4, 4, 4, 4), grading(0, 0, 0, 0, 4), grading(None, 4, 4, 4, 4)
    assert flip_rate([passing, passing, failing, passing, open_]) == pytest.approx(0.4)
    assert flip_rate([passing, passing]) == 0
    assert flip_rate([passing]) is None


def test_the_order_of_the_judges_changes_no_grade():
    members = [grading(4, 3, 2, 1, 4, judge="a"), grading(0, 3, 4, 2, 4, judge="b"), grading(1, 1, 3, 3, 4, judge="c")]
    forwards = combine(members, rubric=RUBRIC, judge="panel")
    backwards = combine(members[::-1], rubric=RUBRIC, judge="panel")
    assert [g.grade for g in forwards.grades] == [g.grade for g in backwards.grades]
    assert forwards.total == backwards.total
