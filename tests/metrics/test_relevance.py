"""Relevance is the mean of TF-IDF cosine and Jaccard overlap of question and reply."""

from math import nextafter, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.metrics.relevance import overlap, relevance, tfidf_cosine
from touchstone.text.reading import read

EQUAL = 1e-9


def relevance_of(question, reply, **settings):
    return relevance(read(Case(input=question, response=reply)), plan=Plan(**settings))


def reference_cosine(question, reply):
    """What scikit-learn makes of the same tokens."""
    vectors = TfidfVectorizer(analyzer=list).fit_transform([question, reply])
    return float((vectors[0] @ vectors[1].T).toarray()[0, 0])


words = st.sampled_from(["refund", "fee", "parcel", "1200", "é", "a", "day", "late"]) | st.text(min_size=1, max_size=3)
terms = st.lists(words, max_size=30)


@given(terms, terms)
def test_the_cosine_equals_scikit_learn_s_on_the_same_tokens(question, reply):
    if not question and not reply:
        assert tfidf_cosine(question, reply) == 0.0
    else:
        assert tfidf_cosine(question, reply) == pytest.approx(reference_cosine(question, reply), abs=EQUAL)


@given(terms, terms)
def test_the_cosine_is_a_share_and_the_same_both_ways(question, reply):
    assert 0.0 <= tfidf_cosine(question, reply) <= 1.0
    assert tfidf_cosine(question, reply) == pytest.approx(tfidf_cosine(reply, question), abs=EQUAL)


@given(terms.filter(bool))
def test_a_text_is_wholly_like_itself_in_any_order(question):
    assert tfidf_cosine(question, question[::-1]) == pytest.approx(1.0, abs=EQUAL)


OVERLAPS = [("a b", "b c", 1 / 3), ("a b", "a b", 1.0), ("a", "b", 0.0), ("a", "", 0.0), ("", "", 0.0)]


@pytest.mark.parametrize(("left", "right", "share"), OVERLAPS)
def test_the_overlap_is_shared_terms_over_all_terms(left, right, share):
    assert overlap(frozenset(left.split()), frozenset(right.split())) == share


PARTLY = ("Where is my refund for the kettle?", "The refund for the lamp is late.")


def test_the_score_is_the_mean_of_its_parts():
    score = relevance_of(*PARTLY)
    shared, own = 1.0, 1.4054651081081644  # smoothed IDF of a term in both and in one of the two texts
    cosine = shared**2 / (sqrt(shared**2 + own**2) * sqrt(shared**2 + 2 * own**2))
    assert score.parts["s_cosine"] == pytest.approx(cosine, abs=EQUAL)
    assert score.parts["s_jaccard"] == 1 / 4
    assert score.score == pytest.approx((cosine + 1 / 4) / 2, abs=EQUAL)


def test_the_same_terms_are_compared_whatever_form_they_take():
    assert relevance_of("Cancelled parcels?", "cancelling the package").score == pytest.approx(1.0)


def test_only_a_score_below_the_threshold_fails():
    score = relevance_of(*PARTLY).score
    at, above = (relevance_of(*PARTLY, relevance_fail=limit) for limit in (score, nextafter(score, 1)))
    assert (at.flag, above.flag) == (None, "FAIL")


def test_the_threshold_is_the_specification_s():
    assert Plan().relevance_fail == 0.1


@pytest.mark.parametrize("reply", ["", "...", "Kindly wait."])
def test_a_reply_that_shares_nothing_is_irrelevant(reply):
    score = relevance_of("Where is my refund?", reply)
    assert (score.score, score.flag) == (0.0, "FAIL")


@pytest.mark.parametrize("question", ["", "  \n", []])
def test_without_a_question_there_is_no_score_but_a_reason(question):
    score = relevance_of(question, "Your refund is on its way.")
    assert (score.score, score.flag, score.parts) == (None, None, {"s_cosine": None, "s_jaccard": None})
    assert score.reason == "no customer message to compare with"
