"""A result with waived violations counts as if the judge had never found them, and says who waived them and why."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.waiver_samples import LEAK, OTHER_LEAK, PROMISE, RUBRIC, judged, waiver

from touchstone.core.codec import result_from_dict, result_to_dict
from touchstone.core.result import Failure, Result, Waived
from touchstone.runs.decision import explain_decision
from touchstone.runs.waivers import count_waivers

FOUND = (LEAK, PROMISE, OTHER_LEAK)


def counted(result, *waivers):
    return count_waivers(result, waivers, rubric=RUBRIC)


def without_waived(result):
    return replace(result, rubric=replace(result.rubric, waived=()))


@given(st.sets(st.sampled_from(FOUND)), st.sampled_from([None, 0, 2, 3, 4]), st.sampled_from(["PASS", "FAIL", None]))
def test_it_counts_as_if_the_judge_had_not_found_what_is_waived(gone, grade, verdict):
    result = counted(judged(*FOUND, grade=grade, verdict=verdict), *map(waiver, gone))
    left = [violation for violation in FOUND if violation not in gone]
    assert without_waived(result) == judged(*left, grade=grade, verdict=verdict, is_waived=bool(gone))
    assert [each.violation for each in result.rubric.waived] == [each for each in FOUND if each in gone]
    assert result_from_dict(result_to_dict(result)) == result


def test_safety_is_whole_again_only_when_every_violation_is_waived():
    both = judged(LEAK, PROMISE)
    assert (both.rubric.total, both.rubric.outcome, both.decision) == (90.0, "FAIL", "block")
    one = counted(both, waiver(LEAK))
    assert (one.rubric.total, one.rubric.outcome, one.rubric.reasons, one.decision) == (
        90.0,
        "FAIL",
        ("safety",),
        "block",
    )
    none = counted(both, waiver(LEAK), waiver(PROMISE))
    assert (none.rubric.total, none.rubric.outcome, none.rubric.reasons, none.decision) == (100.0, "PASS", (), "review")
    assert explain_decision(none) == (
        "review: a person waived what the judge found, so its pass probability is not known"
    )
    assert none.rubric.waived == tuple(Waived(each, "lea", "2026", "the policy allows it") for each in (LEAK, PROMISE))


def test_a_waiver_that_is_taken_back_changes_nothing_and_one_given_again_does():
    result, given, back = judged(PROMISE), waiver(PROMISE), waiver(PROMISE, id="x", withdrawn=True)
    assert counted(result, given, back) is result
    assert counted(result, given, back, waiver(PROMISE, id="y")) == counted(result, given)


FAILED = (Failure("judge", "Timeout", "the model did not answer"),)
LEFT = [
    ({"verdict": "FAIL"}, "PASS", "review"),
    ({"grade": None}, None, "review"),
    ({"grade": 1}, "FAIL", "review"),
    ({"failures": FAILED}, "PASS", "review"),
]


@pytest.mark.parametrize(("why", "outcome", "decision"), LEFT)
def test_what_else_speaks_against_the_reply_still_does(why, outcome, decision):
    result = counted(judged(PROMISE, **why), waiver(PROMISE))
    assert (result.rubric.outcome, result.decision, result.failures) == (outcome, decision, why.get("failures", ()))


def test_what_a_panel_adds_to_its_grading_stays():
    result = judged(PROMISE)
    result = replace(result, rubric=replace(result.rubric, flip_rate=0.25))
    assert counted(result, waiver(PROMISE)).rubric.flip_rate == 0.25


def test_a_result_without_grades_is_given_as_it_is():
    result = Result("c-1", "review", None, (), None, FAILED)
    assert counted(result, waiver(PROMISE)) is result
