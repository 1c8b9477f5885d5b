"""Quotes are found however they are spaced, cased and typed; made-up ones are not."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from touchstone.judges.llm.blocks import SHORTEST, fold

TEXT = "We’ll refund\n the  £20 fee – within 5 days. STRASSE and straße, “quoted” words."


@pytest.mark.parametrize(
    ("quote", "stands_for"),
    [
        ("refund the £20 fee", "refund\n the  £20 fee"),
        ("we'll refund", "We’ll refund"),
        ("'We'll refund'", "We’ll refund"),
        ("FEE - WITHIN", "fee – within"),
        ("“quoted” words", "“quoted” words"),
        ('"quoted" words', "“quoted” words"),
        ("strasse and strasse", "STRASSE and straße"),
        ("We'll refund … within 5 days", "We’ll refund\n the  £20 fee – within 5 days"),
        ("We'll refund [...] 5 days.", "We’ll refund\n the  £20 fee – within 5 days."),
    ],
)
def test_a_quote_is_found_where_it_stands(quote, stands_for):
    span = fold(TEXT).locate(quote)
    assert TEXT[span.start : span.end] == stands_for


@pytest.mark.parametrize("quote", ["", " ", "…", "a", "'a'", "£25 fee", "within 5 days … We'll refund", "refundthe"])
def test_a_quote_that_is_not_there_is_not_found(quote):
    assert fold(TEXT).locate(quote) is None


@given(st.text(max_size=60), st.data())
def test_every_piece_of_a_text_is_found_in_it(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    piece = text[start:end]
    assume(len(fold(piece).text.strip()) >= SHORTEST and not set(piece) & set("….'\"“”‘’«»`´[]"))
    span = fold(text).locate(piece)
    assert span is not None
    assert fold(text[span.start : span.end]).text.strip() == fold(piece).text.strip()
