"""A sign's confidence: a logistic function of its inputs, as the packaged file says."""

import json
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.safety.noticing import read_reply

from touchstone.core import resource
from touchstone.core.errors import ResourceError
from touchstone.core.result import Evidence, Finding
from touchstone.safety.signs import Logistic, Sign, confidence, finding, has_context, is_chat, rules

CHAT = [{"role": "agent", "content": "Hi"}, {"role": "user", "content": "Hi"}]
PLACE = Evidence("context[0]", 0, 4, "Five")


@pytest.fixture
def packaged(monkeypatch):
    """Sets what the packaged file holds."""

    kept = resource.text

    def put(content):
        rules.cache_clear()
        monkeypatch.setattr(resource, "text", lambda name: content if name == "rules.json" else kept(name))

    yield put
    rules.cache_clear()


def sign_of(rule, **inputs):
    return Sign("hallucination", rule, 4, 8, "says five", inputs, (PLACE,))


@pytest.mark.parametrize(
    ("inputs", "total"),
    [({}, -1.0), ({"a": 1.0}, 1.0), ({"a": 0.5, "b": 1.0}, -3.0), ({"unknown": 9.0}, -1.0)],
)
def test_a_confidence_is_the_logistic_of_base_and_weighted_inputs(inputs, total):
    assert Logistic(-1.0, {"a": 2.0, "b": -3.0}).of(inputs) == pytest.approx(1 / (1 + exp(-total)))


def test_a_sum_however_low_is_no_overflow():
    assert Logistic(-1e9, {}).of({}) == 0.0
    assert Logistic(-31.0, {}).of({}) == 0.0
    assert Logistic(-29.0, {}).of({}) > 0.0
    assert Logistic(1e9, {}).of({}) == 1.0


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 1))
def test_a_confidence_is_a_probability(base, weight, value):
    assert 0 <= Logistic(base, {"a": weight}).of({"a": value}) <= 1


def test_the_packaged_weights_are_used(packaged):
    packaged(json.dumps({"rules": {"value.wrong": {"base": 0.5, "weights": {"a": 1.5}}}}))
    assert confidence(sign_of("value.wrong", a=1.0)) == pytest.approx(1 / (1 + exp(-2)))


def test_a_rule_that_the_file_does_not_know_has_earned_nothing():
    assert confidence(sign_of("value.nonsense", a=1.0)) == 0.0


BROKEN = ["", "{", "[]", "{}", '{"rules": {"a": {}}}', '{"rules": 3}', '{"rules": {"a": 1}}']


@pytest.mark.parametrize("content", BROKEN)
def test_a_broken_file_is_an_error_that_names_it(packaged, content):
    packaged(content)
    with pytest.raises(ResourceError, match=r"data/rules\.json is broken .*make fit"):
        rules()


def test_a_finding_shows_the_place_reason_rule_and_confidence(packaged):
    packaged(json.dumps({"rules": {"value.wrong": {"base": 1.0, "weights": {}}}}))
    reading, _ = read_reply("Say five now.")
    assert finding(sign_of("value.wrong"), reading) == Finding(
        "hallucination", "five", 4, 8, "says five", (PLACE,), "value.wrong", 0.7311
    )


def test_every_packaged_rule_has_finite_weights():
    assert rules()
    assert all(0 <= rule.of(dict.fromkeys(rule.weights, 1.0)) <= 1 for rule in rules().values())


@pytest.mark.parametrize(
    ("fields", "chat", "context"),
    [
        ({}, False, False),
        ({"input": "Where is it?"}, False, False),
        ({"context": []}, False, False),
        ({"context": [" "]}, False, False),
        ({"context": ["It is here."]}, False, True),
        ({"expected_output": "It is here."}, False, True),
        ({"input": CHAT}, True, False),
        ({"input": CHAT, "context": []}, True, False),
    ],
)
def test_what_was_given_with_a_reply(fields, chat, context):
    reading, _ = read_reply("It is here.", **fields)
    assert (is_chat(reading), has_context(reading)) == (chat, context)
