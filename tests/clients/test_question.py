"""A bot is given what a drafting model would have, and never the answer."""

import json
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.clients.bot.question import question
from touchstone.core.case import Case, Label, Passage

CASE = Case(
    id="c-1",
    input="Where is it?",
    response="SECRET reply",
    context=["One.", Passage("Two.", "p2")],
    expected_output="SECRET answer",
    category="orders",
    confidence=0.123,
    labels=[Label("SECRET rater", {"accuracy": 4}, reason="SECRET reason")],
    metadata={"channel": "mail"},
)


def test_a_bot_is_given_the_case_and_the_number_of_the_draft():
    assert json.loads(question(CASE, draft=3)) == {
        "id": "c-1",
        "draft": 3,
        "input": "Where is it?",
        "context": ["One.", {"id": "p2", "text": "Two."}],
        "category": "orders",
        "metadata": {"channel": "mail"},
    }


def test_a_bot_never_sees_the_answer():
    body = question(CASE, draft=1)
    assert b"SECRET" not in body
    assert b"0.123" not in body


@pytest.mark.parametrize(("context", "given"), [(None, None), ([], [])])
def test_no_context_is_null_and_an_empty_one_stays_empty(context, given):
    assert json.loads(question(Case(response="", context=context), draft=1))["context"] == given


def test_a_chat_is_given_as_turns():
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    assert json.loads(question(Case(response="", input=turns), draft=1))["input"] == turns


METADATA = {
    "a date": (date(2025, 3, 3), "2025-03-03"),
    "a decimal": (Decimal("1.50"), "1.50"),
    "not a number": (float("nan"), None),
    "bytes": (b"x", "b'x'"),
    "a mapping with numbers as keys": ({1: (2, None)}, {"1": [2, None]}),
}


@pytest.mark.parametrize(("value", "given"), METADATA.values(), ids=METADATA.keys())
def test_metadata_of_any_kind_can_be_sent(value, given):
    body = question(Case(response="", metadata={"x": value}), draft=1)
    assert json.loads(body)["metadata"] == {"x": given}


@given(st.text(), st.dictionaries(st.text(), st.floats() | st.text() | st.binary() | st.integers()))
def test_every_case_becomes_strict_json(input, metadata):
    body = question(Case(response="", input=input, metadata=metadata), draft=1)
    assert json.loads(body.decode("ascii"), parse_constant=pytest.fail)["input"] == input
