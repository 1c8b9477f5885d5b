"""A value written in any common way is found whole, with its kind and its canonical form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.renderings import VALUES

from touchstone.text.reading import read_text

SENTENCES = ["It is {}.", "So that would be {}, as agreed", "{}", "We said {} to everyone\nand meant it."]


@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
def test_every_rendering_is_read_back_as_its_canonical_form(kind, data):
    renderings = data.draw(VALUES[kind])
    sentence = data.draw(st.sampled_from(SENTENCES))
    for text, canonical in renderings.items():
        raw = sentence.format(text)
        found = [(v.kind, raw[v.start : v.end], v.canonical) for v in read_text("response", raw).values]
        assert found == [(kind, text, canonical)]
