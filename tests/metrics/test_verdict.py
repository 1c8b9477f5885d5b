"""The verdict looks at hallucination first, relevance second and completeness third; what is unscored never passes."""

from math import nextafter

import pytest

from touchstone.core.plan import Plan
from touchstone.core.result import Score
from touchstone.metrics.verdict import decide


def ruling(*, hallucination=0.0, relevance=1.0, completeness=1.0, **settings):
    values = {"relevance": relevance, "completeness": completeness, "hallucination": hallucination}
    scores = {name: Score(name, value, "because") for name, value in values.items()}
    return decide(scores, plan=Plan(**settings))


def after(value):
    return nextafter(value, 2.0)


def before(value):
    return nextafter(value, -1.0)


BOUNDARIES = [
    ({"hallucination": 0.5}, "PASS"),
    ({"hallucination": after(0.5)}, "FAIL"),
    ({"hallucination": 0.6}, "FAIL"),
    ({"relevance": 0.1}, "PASS"),
    ({"relevance": before(0.1)}, "FAIL"),
    ({"completeness": 0.6}, "PASS"),
    ({"completeness": before(0.6)}, "WARN"),
    ({"hallucination": 0.5, "relevance": 0.1, "completeness": 0.6}, "PASS"),
    ({"hallucination": 0.0, "relevance": 1.0, "completeness": 0.0}, "WARN"),
]


@pytest.mark.parametrize(("scores", "verdict"), BOUNDARIES)
def test_each_threshold_holds_to_the_last_bit(scores, verdict):
    assert ruling(**scores).verdict == verdict


ORDER = [
    ({"hallucination": 1.0, "relevance": 0.0, "completeness": 0.0}, "FAIL",
     ["hallucination", "relevance", "completeness"]),
    ({"hallucination": 1.0, "completeness": 0.0}, "FAIL", ["hallucination", "completeness"]),
    ({"relevance": 0.0, "completeness": 0.0}, "FAIL", ["relevance", "completeness"]),
    ({"completeness": 0.0}, "WARN", ["completeness"]),
    ({}, "PASS", []),
]  # fmt: skip


@pytest.mark.parametrize(("scores", "verdict", "named"), ORDER)
def test_the_gravest_decides_and_every_reason_is_named_in_order(scores, verdict, named):
    found = ruling(**scores)
    assert found.verdict == verdict
    assert [reason.split()[0] for reason in found.reasons] == named


def test_a_reason_shows_value_and_threshold():
    assert ruling(hallucination=2 / 3).reasons == ("hallucination 0.67 > 0.50",)
    assert ruling(relevance=0.04).reasons == ("relevance 0.04 < 0.10",)
    assert ruling(completeness=0.5).reasons == ("completeness 0.50 < 0.60",)


def test_a_reason_near_its_threshold_reads_true():
    assert ruling(hallucination=0.5001).reasons == ("hallucination 0.5001 > 0.50",)
    assert ruling(relevance=0.0996).reasons == ("relevance 0.0996 < 0.10",)
    assert ruling(completeness=0.597).reasons == ("completeness 0.597 < 0.60",)


UNSCORED = [
    ({"hallucination": None}, None),
    ({"relevance": None, "completeness": None}, None),
    ({"completeness": None}, None),
    ({"hallucination": None, "completeness": 0.0}, None),
    ({"relevance": None, "completeness": None, "hallucination": 1.0}, "FAIL"),
    ({"hallucination": None, "relevance": 0.0}, "FAIL"),
    ({"hallucination": None, "relevance": None, "completeness": None}, None),
]


@pytest.mark.parametrize(("scores", "verdict"), UNSCORED)
def test_a_missing_score_is_never_a_pass_but_hides_no_failure(scores, verdict):
    found = ruling(**scores)
    assert found.verdict == verdict
    missing = {name for name, value in scores.items() if value is None}
    assert {r.split()[0] for r in found.reasons if "not scored: because" in r} == missing


SETTINGS = [
    ({"hallucination": 0.6, "hallucination_fail": 0.6}, "PASS"),
    ({"relevance": 0.1, "relevance_fail": 0.2}, "FAIL"),
    ({"completeness": 0.6, "completeness_warn": 0.7}, "WARN"),
]


@pytest.mark.parametrize(("given", "verdict"), SETTINGS)
def test_thresholds_are_settings_of_the_plan(given, verdict):
    assert ruling(**given).verdict == verdict
