"""A bot is given what a drafting model would have, and never the answer; what it writes is a reply or a failure.

A reply comes with what the bot says of it. No failure quotes what it wrote.
"""

import json
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import over

from touchstone.clients.bot_protocol import LONGEST_ANSWER, question, read_answer
from touchstone.core.case import Case, Draft, Label, Passage
from touchstone.core.result import Failure

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


REPLIES = {
    "text": ("Hello.\n", Draft("Hello.")),
    "text of several lines": ("Hi,\n\nyes.\n", Draft("Hi,\n\nyes.")),
    "text with a byte order mark": ("\ufeffHello.", Draft("Hello.")),
    "text that starts with a brace": ("{name}, thank you.", Draft("{name}, thank you.")),
    "text that starts with a bracket": ("[1] Refunds take a day.", Draft("[1] Refunds take a day.")),
    "text with markup inside": ("Use <html> tags.", Draft("Use <html> tags.")),
    "an object": ('{"response": "Hello."}', Draft("Hello.")),
    "an object with all": (
        '{"response": "Hello.", "confidence": 0.8, "context": ["One.", {"id": 2, "text": "Two."}], "model": "m"}',
        Draft("Hello.", 0.8, (Passage("One."), Passage("Two.", "2"))),
    ),
    "an object with nulls": ('{"response": "Hello.", "confidence": null, "context": null}', Draft("Hello.")),
    "an object that found nothing": ('{"response": "Hello.", "context": []}', Draft("Hello.", None, ())),
    "a confidence that is whole": ('{"response": "Hello.", "confidence": 1}', Draft("Hello.", 1.0)),
}


@pytest.mark.parametrize(("written", "draft"), REPLIES.values(), ids=REPLIES.keys())
def test_a_reply_is_text_or_an_object(written, draft):
    assert read_answer(written.encode()) == draft


FAILURES = {
    "nothing": (b"", "EmptyReply", "no text at all"),
    "white space": (b" \n\t", "EmptyReply", "no text at all"),
    "an object with an empty reply": (b'{"response": " "}', "EmptyReply", "no text at all"),
    "a page": (b"\n<!DOCTYPE html><title>Sign in", "HtmlReply", "login or an error page"),
    "a page without a doctype": (b"<HTML lang=en>", "HtmlReply", "login or an error page"),
    "a page inside an object": (b'{"response": "<html>"}', "HtmlReply", "login or an error page"),
    "bytes that are no text": (b"\xff\xfe\x00", "NotText", "3 bytes that are not utf-8"),
    "too much": (b"x" * (LONGEST_ANSWER + 1), "TooLong", "more than 1,000,000 bytes"),
    "an object that breaks off": (b'{"response": "Hel', "WrongShape", "broken at line 1, column 14"),
    "an object under another name": (b'{"answer": "x", "n": 1}', "WrongShape", "the keys 'answer', 'n' and no 'resp"),
    "an object with no keys": (b"{}", "WrongShape", "has no keys and no 'response'"),
    "a reply of null": (b'{"response": null}', "WrongShape", "no 'response'"),
    "a reply that is a list": (b'{"response": []}', "WrongShape", "field 'response' is a list, allowed is a string"),
    "a confidence in percent": (b'{"response": "x", "confidence": 80}', "WrongShape", "field 'confidence' is 80"),
    "a confidence in words": (b'{"response": "x", "confidence": "high"}', "WrongShape", "'confidence' is a string"),
    "a context of numbers": (b'{"response": "x", "context": [1]}', "WrongShape", "field 'context[0]' is a number"),
    "NaN": (b'{"response": "x", "confidence": NaN}', "WrongShape", "holds NaN"),
    "half a surrogate pair": (b'{"response": "\\ud800"}', "WrongShape", "half of a surrogate pair"),
    "deep nesting": (b'{"response": ' + b"[" * 200_000, "WrongShape", "nested too deeply"),
}


@over(("written", "error", "message"), FAILURES.values(), ids=FAILURES.keys())
def test_what_is_no_reply_is_a_failure_that_says_why(written, error, message):
    failure = read_answer(written)
    assert (failure.stage, failure.error) == ("draft", error)
    assert message in failure.message


def test_what_is_declared_as_json_must_be_json():
    assert read_answer(b"Hello.", is_json=True).error == "WrongShape"
    assert "is not an object" in read_answer(b'"Hello."', is_json=True).message


def test_another_encoding_is_read_when_it_is_declared_and_known():
    assert read_answer("Grüße".encode("latin-1"), encoding="iso-8859-1") == Draft("Grüße")
    assert read_answer(b"x", encoding="no-such-code").error == "NotText"


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_draft_or_a_failure(raw):
    found = read_answer(raw)
    assert isinstance(found, Draft | Failure)
    if isinstance(found, Draft):
        assert found.reply.strip()


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["response", "confidence", "context"]), inner),
    )
)
def test_any_json_is_a_draft_or_a_failure(value):
    assert isinstance(read_answer(json.dumps(value).encode(), is_json=True), Draft | Failure)


@pytest.mark.parametrize(
    "wrapped", ["<html>{}", '{{"answer": "{}"}}', '{{"response": "{}', '{{"response": {{"{}": 1}}}}']
)
def test_no_failure_quotes_what_the_bot_wrote(wrapped):
    failure = read_answer(wrapped.format("Jane Roe, 4 High Street").encode())
    assert isinstance(failure, Failure)
    assert "Jane" not in failure.message
