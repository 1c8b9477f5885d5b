"""Where two people differ, what state that leaves an item in, and what counts meanwhile."""

import pytest
from tests.store.review_samples import BAD, GOOD, PROMISE, UNSAFE, review_of, ruling_on
from tests.store.review_samples import RUBRIC as rubric

from touchstone.review.review import Difference, differences, settle, state_of

DIFFERENCES = [
    (review_of(0, by="ben"), []),
    (review_of(0, by="ben", grades={**GOOD, "tone": 3}), []),
    (review_of(0, by="ben", grades={**GOOD, "tone": 1}), ["tone"]),
    (review_of(0, by="ben", grades={**GOOD, "tone": None}), ["outcome"]),
    (review_of(0, by="ben", grades=UNSAFE, violations=(PROMISE,)), ["outcome", "violations", "safety"]),
    (review_of(0, by="ben", grades=BAD), ["outcome", "accuracy", "completeness", "tone", "actionability"]),
]


@pytest.mark.parametrize(("other", "named"), DIFFERENCES)
def test_people_differ_by_outcome_by_violations_and_by_more_than_one_grade(other, named):
    assert [each.what for each in differences([review_of(0), other], rubric=rubric)] == named


def test_a_difference_says_who_said_what():
    found = differences([review_of(0), review_of(0, by="ben", grades={**GOOD, "tone": 0})], rubric=rubric)
    assert found == (Difference("tone", {"ann": "4", "ben": "0"}),)


STATES = [
    ([], None, 1, "waiting"),
    ([review_of(0)], None, 1, "done"),
    ([review_of(0)], None, 2, "partly"),
    ([review_of(0), review_of(0, by="ben")], None, 2, "done"),
    ([review_of(0), review_of(0, by="ben", grades=BAD)], None, 2, "differs"),
    ([review_of(0), review_of(0, by="ben", grades=BAD)], None, 1, "differs"),
    ([], ruling_on(0), 2, "settled"),
]


@pytest.mark.parametrize(("reviews", "ruling", "needed", "state"), STATES)
def test_an_item_s_state_follows_from_what_people_said(reviews, ruling, needed, state):
    assert state_of(reviews, ruling, needed=needed, rubric=rubric) == state


def test_a_ruling_counts_in_place_of_what_it_settles():
    two = [review_of(0), review_of(0, by="ben", grades=UNSAFE, violations=(PROMISE,))]
    divided = settle(two, None, rubric=rubric)
    assert (divided.passed, divided.unsafe, divided.grades["safety"]) == (0.5, 0.5, 2)
    ruled = settle(two, ruling_on(0, grades=UNSAFE, violations=(PROMISE,)), rubric=rubric)
    assert (ruled.passed, ruled.unsafe) == (0.0, 1.0)


def test_nothing_is_said_where_nobody_spoke_and_an_open_grade_leaves_the_outcome_open():
    assert settle([], None, rubric=rubric) is None
    assert settle([review_of(0, grades={**GOOD, "tone": None})], None, rubric=rubric).passed is None
