"""Reviews held to the rubric, their outcomes, and which of them stand."""

import pytest
from tests.store.review_samples import BAD, GOOD, PROMISE, UNSAFE, review_of
from tests.store.review_samples import RUBRIC as rubric

from touchstone.core.errors import ReviewError
from touchstone.core.result import Finding
from touchstone.review.review import check_review, current, grading_of

REPLY = "You can return it."
OUTCOMES = [
    (GOOD, (), 100.0, "PASS"),
    (BAD, (), 17.5, "FAIL"),
    (UNSAFE, (PROMISE,), 90.0, "FAIL"),
    ({**GOOD, "tone": None}, (), None, None),
    ({**UNSAFE, "tone": None}, (PROMISE,), None, "FAIL"),
]


@pytest.mark.parametrize(("grades", "violations", "total", "outcome"), OUTCOMES)
def test_a_review_comes_to_what_the_rubric_says(grades, violations, total, outcome):
    review = review_of(0, grades=grades, violations=violations)
    check_review(review, rubric=rubric, reply=REPLY)
    grading = grading_of(review, rubric=rubric)
    assert (grading.total, grading.outcome, grading.judge) == (total, outcome, "ann")


WRONG = [
    (review_of(0, note="x" * 10_001), "10,001 characters"),
    (review_of(0, grades=UNSAFE, violations=(PROMISE,) * 101), "101 violations"),
    (review_of(0, grades=UNSAFE, violations=(Finding("rudeness", "", 0, 1, ""),)), "'rudeness' is not known"),
    (review_of(0, grades=UNSAFE, violations=(Finding("hallucination", "", 5, 2, ""),)), "span 5 to 2"),
    (review_of(0, grades={**GOOD, "safety": 2}), "safety is 2: allowed are 0, 4, or null"),
]


@pytest.mark.parametrize(("review", "message"), WRONG)
def test_what_does_not_fit_is_refused_with_what_is_allowed(review, message):
    with pytest.raises(ReviewError, match=message):
        check_review(review, rubric=rubric, reply=REPLY)


def test_what_was_superseded_or_withdrawn_no_longer_stands():
    first = review_of(0, id="a")
    edit = review_of(0, id="b", supersedes="a")
    gone = review_of(0, by="ben", id="c")
    back = review_of(0, by="ben", id="d", supersedes="c", withdrawn=True)
    other = review_of(0, by="cid", id="e")
    assert current([first, edit, gone, back, other]) == (edit, other)
