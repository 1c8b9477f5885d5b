"""How far a judge can be trusted: its agreement, errors, bias and calibration, and what it never gets credit for."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

import touchstone as ts
from touchstone.core.case import Label
from touchstone.core.result import Grade
from touchstone.rubric.outcome import conclude
from touchstone.rubric.parse import packaged
from touchstone.trust.pairs import certainty, pair
from touchstone.trust.trust import SENT, coverage, coverage_sentence, trust

RUBRIC = packaged("supportai")
NAMES = ("accuracy", "completeness", "tone", "actionability")


def label(*grades, violations=(), rater="A"):
    return Label(rater, dict(zip(NAMES, grades, strict=True)), tuple(violations))


def grading(*grades, confidence=0.8, safety=4):
    given = [
        Grade(name, grade, None if grade is None else float(grade), None, None if grade is None else confidence, "")
        for name, grade in zip((*NAMES, "safety"), (*grades, safety), strict=True)
    ]
    concluded = conclude(RUBRIC, given, [], judge="some")
    passes = concluded.outcome == "PASS"
    # As sure of the outcome as of its grades.
    return replace(concluded, pass_probability=(1 + confidence) / 2 if passes else (1 - confidence) / 2)


def made(people, judge, *, id="c", category=None, words=10, confidence=0.8):
    labels = people if isinstance(people, tuple) and people and isinstance(people[0], Label) else (label(*people),)
    case = ts.Case(id=id, response=" ".join(["word"] * words), category=category, labels=labels)
    return pair(case, grading(*judge, confidence=confidence), rubric=RUBRIC)


def unlabelled(judge, id):
    return pair(ts.Case(id=id, response="x"), grading(*judge), rubric=RUBRIC)


GOOD, BAD, OPEN = (4, 4, 4, 4), (0, 0, 0, 0), (None, 4, 4, 4)


def test_a_judge_that_says_what_people_say_agrees_in_full():
    found = trust(
        [made(GOOD, GOOD, id="a"), made(BAD, BAD, id="b"), made((2, 1, 3, 4), (2, 1, 3, 4), id="c")],
        judge="j",
        rubric=RUBRIC,
    )
    assert found.outcome.agreement == 1
    assert [each.kappa for each in found.criteria[:4]] == [1, 1, 1, 1]
    assert [each.lean for each in found.criteria[:4]] == [0, 0, 0, 0]


def test_kappa_and_confusion_are_those_of_the_pairs():
    draw = random.Random(3)
    both = [(draw.randint(0, 4), draw.randint(0, 4)) for _ in range(60)]
    pairs = [made((p, 4, 4, 4), (j, 4, 4, 4), id=str(at)) for at, (p, j) in enumerate(both)]
    accuracy = trust(pairs, judge="j", rubric=RUBRIC).criteria[0]
    people, judge = zip(*both, strict=True)
    assert accuracy.kappa == pytest.approx(cohen_kappa_score(people, judge, weights="quadratic"))
    assert accuracy.interval.low <= accuracy.kappa <= accuracy.interval.high
    assert accuracy.confusion[3][1] == sum(pair == (3, 1) for pair in both)
    assert sum(map(sum, accuracy.confusion)) == 60


def test_both_kinds_of_error_are_counted_apart():
    pairs = [made(BAD, GOOD, id="a"), made(BAD, GOOD, id="b"), made(GOOD, BAD, id="c"), made(GOOD, GOOD, id="d")]
    outcome = trust(pairs, judge="j", rubric=RUBRIC).outcome
    assert (outcome.false_pass, outcome.false_fail, outcome.agreement) == (2, 1, 0.25)


def test_what_the_judge_left_open_is_never_agreement():
    pairs = [made(GOOD, OPEN, id="a"), made(GOOD, GOOD, id="b")]
    found = trust(pairs, judge="j", rubric=RUBRIC)
    assert (found.outcome.n, found.outcome.left_open) == (1, 1)
    assert found.criteria[0].left_open == 1
    assert pairs[0].certainty == 0
    assert found.coverage[0].agreement == 0.5


def test_several_raters_count_as_one_by_their_mean_and_the_lower_of_two_levels():
    two = made((label(4, 3, 4, 4), label(3, 3, 4, 4, rater="B")), GOOD)
    assert two.people_grades == {"accuracy": 3, "completeness": 3, "tone": 4, "actionability": 4, "safety": 4}
    half = made((label(*GOOD, violations=["pii_leakage"]), label(*GOOD, rater="B")), GOOD)
    assert half.people_grades["safety"] == 0
    assert half.people_outcome is None


def test_bias_is_told_by_category_and_by_length():
    kind = [made((2, 2, 2, 1 + at % 2), GOOD, id=f"k{at}", category="billing", words=60 + at) for at in range(9)]
    fair = [made(GOOD, GOOD, id=f"f{at}", category="orders", words=5 + at) for at in range(18)]
    found = trust([*kind, *fair], judge="j", rubric=RUBRIC)
    billing, orders = found.categories
    assert (billing.name, billing.lean, orders.lean) == ("billing", pytest.approx(46.4, abs=0.1), 0)
    assert billing.lean_interval.low > 0
    assert [group.n for group in found.lengths] == [9, 9, 9]
    assert found.lengths[2].lean == billing.lean
    assert found.lengths[2].name == "long replies, 60 to 68 words"


def test_sending_the_least_certain_to_people_raises_agreement_when_the_judge_knows_its_limits():
    sure = [made(GOOD, GOOD, id=f"s{at}", confidence=0.9) for at in range(16)]
    unsure = [made(BAD, GOOD, id=f"u{at}", confidence=0.3) for at in range(4)]
    points = coverage([*unsure, *sure])
    assert [point.sent for point in points] == list(SENT)
    assert (
        coverage_sentence(points)
        == "send the 20 % least certain to people and agreement on the rest rises from 0.80 to 1.00"
    )


def test_a_confidence_that_misleads_or_tells_nothing_is_said():
    wrong_way = [made(GOOD, GOOD, id=f"s{at}", confidence=0.2) for at in range(16)] + [
        made(BAD, GOOD, id=f"u{at}", confidence=0.9) for at in range(4)
    ]
    assert "falls from 0.80 to 0.75: its confidence misleads" in coverage_sentence(coverage(wrong_way))
    assert "stays at 1.00" in coverage_sentence(coverage([made(GOOD, GOOD, id=str(at)) for at in range(10)]))


def test_the_pass_rate_is_corrected_by_those_that_people_labelled():
    judged = [unlabelled(GOOD, f"n{at}") for at in range(60)]
    labelled = [made(BAD if at % 2 else GOOD, GOOD, id=f"l{at}") for at in range(40)]
    found = trust([*judged, *labelled], judge="j", rubric=RUBRIC)
    assert found.pass_rate == 1
    assert found.corrected.rate == pytest.approx(0.5)
    assert (found.corrected.n_all, found.corrected.n_reviewed) == (100, 40)
    assert found.corrected.interval.high < 1


def test_stated_confidence_is_held_against_grades_that_equal_people_s():
    found = trust([made(GOOD, (4, 4, 4, 0), confidence=0.75)], judge="j", rubric=RUBRIC).confidence
    assert found.n == 5
    assert found.accuracy == pytest.approx(4 / 5)
    assert found.mean_confidence == pytest.approx(0.75)


def test_a_probability_near_one_half_is_less_certain_and_none_is_not_certain_at_all():
    given = grading(4, 4, 4, 4)
    sure, torn, unknown = (replace(given, pass_probability=chance) for chance in (0.05, 0.55, None))
    assert certainty(sure) == pytest.approx(0.9)
    assert certainty(torn) == pytest.approx(0.1)
    assert certainty(unknown) == 0


grades = st.tuples(*[st.sampled_from([None, 0, 1, 2, 3, 4])] * 4)


@given(st.lists(st.tuples(grades, grades, st.floats(0, 1)), max_size=12))
def test_any_judge_on_any_set_has_figures_within_their_ranges(rows):
    pairs = [
        made(people, judge, id=str(at), confidence=sure, category="x") for at, (people, judge, sure) in enumerate(rows)
    ]
    found = trust(pairs, judge="j", rubric=RUBRIC)
    assert all(each.kappa is None or -1 <= each.kappa <= 1 for each in found.criteria)
    assert all(0 <= point.agreement <= 1 for point in found.coverage)
    assert found.outcome.agreement is None or 0 <= found.outcome.agreement <= 1
    shuffled = trust([replace(each) for each in reversed(pairs)], judge="j", rubric=RUBRIC)
    assert shuffled.outcome == found.outcome
    assert shuffled.coverage == found.coverage
