"""Hallucination is the share of anchors no source supports, or the penalty for drifting from the evidence."""

import pytest

import touchstone as ts
from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.result import STATUSES, Anchor
from touchstone.metrics.hallucination import hallucination, ngram_overlap
from touchstone.text.reading import read, read_text

SAME = {"response": "The kettle is blue.", "context": ["The kettle is blue."]}


def anchors(*statuses):
    return tuple(Anchor("number", "1", at, at + 1, "1", status, "") for at, status in enumerate(statuses))


def hallucination_of(checked, *, case=SAME, **settings):
    return hallucination(read(Case(**case)), checked, plan=Plan(**settings))


SHARES = [
    ((), 0.0),
    (("supported",), 0.0),
    (("derived",), 0.0),
    (("unsupported",), 1.0),
    (("contradicted",), 1.0),
    (("supported", "unsupported"), 0.5),
    (("supported", "derived", "contradicted", "unsupported"), 0.5),
    (("supported", "contradicted", "unsupported"), 2 / 3),
]


@pytest.mark.parametrize(("statuses", "share"), SHARES)
def test_the_score_is_the_share_of_unsupported_and_contradicted_anchors(statuses, share):
    score = hallucination_of(anchors(*statuses))
    assert (score.score, score.parts["s_claims"], score.parts["p_drift"]) == (share, share, 0.0)


def test_every_status_is_counted_in_the_reason():
    reason = hallucination_of(anchors(*STATUSES)).reason
    assert reason == "4 anchors: 1 supported, 1 derived, 1 contradicted, 1 unsupported"


def test_a_reply_without_anchors_says_so():
    assert hallucination_of(()).reason == "the reply states no checkable fact"


FLAGS = [(3, 5, None), (2, 3, "FAIL"), (7, 10, "FAIL"), (1, 2, None), (0, 1, None)]


@pytest.mark.parametrize(("bad", "total", "flag"), FLAGS)
def test_only_a_score_above_six_tenths_raises_the_metric_s_own_flag(bad, total, flag):
    score = hallucination_of(anchors(*["unsupported"] * bad, *["supported"] * (total - bad)))
    assert (score.score, score.flag) == (bad / total, flag)


WORDS = "kettle lamp chair table mirror carpet curtain pillow blanket towel"
DRIFTS = [
    ("kettle", 0.2, 0.1),
    ("kettle lamp", 0.0, 0.2),
    ("kettle lamp chair", 0.0, 0.3),
    ("sofa", 0.2, 0.0),
]


@pytest.mark.parametrize(("context", "penalty", "shared"), DRIFTS)
def test_only_an_overlap_below_two_tenths_is_drift(context, penalty, shared):
    score = hallucination_of((), case={"response": WORDS, "context": [context]})
    assert score.parts == {"s_claims": 0.0, "p_drift": penalty, "ngram_overlap": shared}
    assert score.score == penalty


@pytest.mark.parametrize(("bad", "score"), [(0, 0.2), (1, 0.2), (2, 0.2), (3, 0.3), (10, 1.0)])
def test_the_greater_of_share_and_penalty_counts(bad, score):
    checked = anchors(*["unsupported"] * bad, *["supported"] * (10 - bad))
    assert hallucination_of(checked, case={"response": WORDS, "context": ["sofa"]}).score == score


@pytest.mark.parametrize("reply", ["", "...", "😀"])
def test_a_reply_without_tokens_does_not_drift(reply):
    score = hallucination_of((), case={"response": reply, "context": ["sofa"]})
    assert score.parts == {"s_claims": 0.0, "p_drift": 0.0, "ngram_overlap": None}
    assert score.score == 0.0


def test_retrieval_that_found_nothing_is_evidence_that_holds_nothing():
    score = hallucination_of((), case={"response": WORDS, "context": []})
    assert (score.score, score.parts["ngram_overlap"]) == (0.2, 0.0)


def test_without_context_and_expected_output_there_is_no_score_but_a_reason():
    score = hallucination_of(None, case={"response": "The kettle is blue.", "input": "Is it blue?"})
    assert (score.score, score.flag, score.anchors) == (None, None, ())
    assert score.parts == {"s_claims": None, "p_drift": None, "ngram_overlap": None}
    assert score.reason == "neither context nor expected_output to check against"


NGRAMS = [
    ("kettle lamp chair", ["kettle lamp chair"], 2, 1.0),
    ("kettle lamp chair", ["lamp kettle chair"], 2, 0.0),
    ("kettle lamp chair", ["kettle lamp", "lamp chair"], 2, 1.0),
    ("kettle lamp chair", ["chair kettle lamp"], 2, 0.5),
    ("kettle lamp kettle lamp", ["kettle lamp"], 2, 0.5),
    ("kettle kettle lamp", ["kettle"], 1, 0.5),
    ("kettle", ["kettle lamp"], 2, None),
    ("the Parcels", ["a package"], 1, 1.0),
]


@pytest.mark.parametrize(("reply", "sources", "n", "share"), NGRAMS)
def test_the_overlap_is_the_share_of_distinct_ngrams_found_in_any_source(reply, sources, n, share):
    assert ngram_overlap(read_text("response", reply), [read_text("s", s) for s in sources], n=n) == share


def test_the_thresholds_are_settings_with_the_specification_s_defaults():
    plan = Plan()
    defaults = (plan.hallucination_flag, plan.hallucination_fail, plan.drift_overlap, plan.drift_penalty)
    assert (*defaults, plan.drift_ngram) == (0.6, 0.5, 0.2, 0.2, 1)
    drifting = {"response": WORDS, "context": ["kettle lamp chair"]}
    assert hallucination_of((), case=drifting, drift_overlap=0.5, drift_penalty=0.9).flag == "FAIL"


def test_what_could_not_be_read_is_named_beside_the_score():
    score = ts.score(ts.Case(input="How much?", response="It costs £5.", context=['{"price": 5, "items": ["Mu']))
    hallucination = score.metrics["hallucination"]
    note = "context[0]: the record is not understood from character 24 on"
    assert hallucination.parts["not_understood"] == [note]
    assert hallucination.reason.endswith(f"; not all read: {note}")


def test_values_beyond_those_checked_are_counted_and_keep_a_reply_from_being_sent():
    reply = " ".join(f"Item {n} costs £{n}.50." for n in range(400))
    result = ts.score(ts.Case(input="How much?", response=reply, context=["Prices vary."]))
    assert result.metrics["hallucination"].parts["unchecked"] >= 100
    assert result.decision != "send"
