"""Text is read in one spelling, and every place in it leads back to the string as it was given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import over

from touchstone.text.asks import find_asks
from touchstone.text.normalise import normalise
from touchstone.text.reading import read_text

SPELLINGS = [
    ("plain ASCII", "plain ASCII"),
    ("“don’t” ‘go’", "\"don't\" 'go'"),
    ("3–5 days — or −2", "3-5 days - or -2"),
    ("ﬁve ＡＢＣ ５", "five ABC 5"),
    ("cafe\u0301", "café"),
    ("re\u00adfund\u200b\u2060s", "refunds"),
    ("\u202eesrever\u202c", "esrever"),
    ("N\x00UL", "NUL"),
    ("30\u00a0days", "30 days"),
    ("1\u202f200 EUR", "1'200 EUR"),
    ("1\u202f2000", "1 2000"),
    ("½ cup, 2½ hours", "1/2 cup, 2 1/2 hours"),
    ("", ""),
]


@over(("raw", "text"), SPELLINGS)
def test_a_spelling_is_made_plain(raw, text):
    assert normalise(raw).text == text


PLACES = [
    ("the “refund” is", "refund", "refund"),
    ("a cafe\u0301 bar", "café", "cafe\u0301"),
    ("a cafe\u0301 bar", "bar", "bar"),
    ("no ﬁlter", "filter", "ﬁlter"),
    ("re\u00adfund now", "refund", "re\u00adfund"),
    ("re\u00adfund now", "now", "now"),
    ("😀 ok", "ok", "ok"),
    ("1\u202f200 EUR", "1'200", "1\u202f200"),
]


@pytest.mark.parametrize(("raw", "part", "given_as"), PLACES)
def test_a_place_leads_back_to_what_was_given(raw, part, given_as):
    normal = normalise(raw)
    start = normal.text.index(part)
    place = normal.span(start, start + len(part))
    assert raw[place.start : place.end] == given_as


# What trips offset arithmetic: marks that combine, letters that grow when folded, characters that vanish, both
# directions of writing, characters outside the basic plane, and the stuff values are made of.
AWKWARD = "e\u0301\u0308ﬁßİŉǰ½²①\x00\u00ad\u200b\u200d\u202e\u2066\u00a0\u202f’“…–😀👩‍👧مرحباש٣٠12,.' \n$€%-/:()@#"
awkward = st.text(st.sampled_from(AWKWARD) | st.characters(exclude_categories=("Cs",)), max_size=40)
VALUE_WORDS = "3 March 2025 9 am to 5 pm $ 1,200 1.5 k % days half a third of the order # 24/7 call me ? I need".split()
worded = st.lists(st.sampled_from(VALUE_WORDS) | awkward, max_size=20).map(" ".join)


def lie_in_order(spans, length):
    """Whether each span holds something, lies in bounds, and begins where the one before has ended or later."""
    reached = 0
    for start, end in spans:
        if not reached <= start < end <= length:
            return False
        reached = end
    return True


@given(awkward)
def test_every_character_leads_back_to_one_of_the_original(raw):
    normal = normalise(raw)
    places = [normal.span(at, at + 1) for at in range(len(normal.text))]
    assert all(0 <= place.start < place.end <= len(raw) for place in places)
    assert places == sorted(places)


@given(awkward | worded)
def test_tokens_lie_in_bounds_and_in_order(raw):
    tokens = read_text("input", raw).tokens
    assert all(0 <= token.start < token.end <= len(raw) for token in tokens)
    assert [token.start for token in tokens] == sorted(token.start for token in tokens)
    assert [token.end for token in tokens] == sorted(token.end for token in tokens)


@given(awkward | worded)
def test_sentences_and_contacts_lie_in_bounds_and_apart(raw):
    text = read_text("input", raw)
    assert lie_in_order([(s.start, s.end) for s in text.sentences], len(raw))
    assert lie_in_order([(s.first, s.last) for s in text.sentences], len(text.tokens))
    assert lie_in_order([(c.start, c.end) for c in text.contacts], len(raw))


@given(awkward | worded)
def test_values_and_asks_lie_in_bounds(raw):
    text = read_text("input", raw)
    assert all(0 <= value.start < value.end <= len(raw) for value in text.values)
    assert [value.start for value in text.values] == sorted(value.start for value in text.values)
    assert all(raw[ask.start : ask.end] == ask.text for ask in find_asks(text))
