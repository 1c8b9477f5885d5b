"""Completeness is the share of the question's keywords that the reply takes up."""

import pytest

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.metrics.completeness import completeness
from touchstone.text.reading import read


def completeness_of(question, reply, **settings):
    return completeness(read(Case(input=question, response=reply)), plan=Plan(**settings))


KEYWORDS = [
    ("Hi, please help! Where is my refund?", ["refund"]),
    ("I want to know the delivery fee for order 48213.", ["delivery", "fee", "order", "48213"]),
    ("Refund? When do I get the refund, the refunds?", ["refund"]),
    ("My bill, the invoice", ["bill"]),
    ("Hello, thanks!", []),
    ("What is it?", []),
    ("???", []),
]


@pytest.mark.parametrize(("question", "keywords"), KEYWORDS)
def test_keywords_are_the_question_s_terms_without_filler(question, keywords):
    assert completeness_of(question, "").parts["keywords"] == keywords


COVERED = [
    ("The parcel and the fee?", "Your package has no fees.", 1.0, []),
    ("The parcel and the fee?", "Your package is late.", 0.5, ["fee"]),
    ("The parcel and the fee?", "", 0.0, ["parcel", "fee"]),
    ("Is order 48213 for 1,200 points?", "Order 48213 earned 1200 points", 1.0, []),
]


@pytest.mark.parametrize(("question", "reply", "share", "missing"), COVERED)
def test_the_score_is_the_share_of_keywords_taken_up(question, reply, share, missing):
    score = completeness_of(question, reply)
    assert (score.score, score.parts["missing"]) == (share, missing)


@pytest.mark.parametrize("question", ["Hello, thanks!", "???", "What is it?"])
def test_a_question_without_keywords_is_covered_and_the_reason_says_so(question):
    score = completeness_of(question, "Anything.")
    assert (score.score, score.flag, score.reason) == (1.0, None, "the question has no keywords")


FIVE = "kettle lamp chair table mirror"
BOUNDARY = [("kettle lamp chair", 0.6, None), ("kettle lamp", 0.4, "WARN"), ("kettle lamp chair table", 0.8, None)]


@pytest.mark.parametrize(("reply", "share", "flag"), BOUNDARY)
def test_three_of_five_keywords_are_enough_and_fewer_warn(reply, share, flag):
    score = completeness_of(FIVE, reply)
    assert (score.score, score.flag) == (share, flag)


def test_the_threshold_is_a_setting_with_the_specification_s_default():
    assert Plan().completeness_warn == 0.6
    assert completeness_of(FIVE, "kettle lamp", completeness_warn=0.4).flag is None


@pytest.mark.parametrize("question", ["", " \n", []])
def test_without_a_question_there_is_no_score_but_a_reason(question):
    score = completeness_of(question, "Anything.")
    assert (score.score, score.flag) == (None, None)
    assert score.parts == {"keywords": None, "missing": None}
    assert score.reason == "no customer message to cover"
