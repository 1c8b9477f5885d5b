"""A value written in any common way is found whole, with its kind and its canonical form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import over
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


READ = [
    ("The final bill is 19774.82 EUR for the bakery.", ["19774.82 EUR"]),
    ("Bill 2025 19774.82 EUR, paid by transfer.", ["2025", "19774.82 EUR"]),
    ("Insured up to 12 500 000 kr.", ["12500000 kr"]),
    ("The taxi took ½ hour.", ["0.5 hour"]),
    ("Soak it for 1/2 hour, then walk 3/4 mile.", ["0.5 hour", "0.75 mile"]),
    ("Born on 01/02/98, enrolled on 01/02/24.", ["1998-02-01", "2024-02-01"]),
    ("Bought on 5 May '87.", ["1987-05-05"]),
    ("Premium 2026 £412.50, 2025 £349.58.", ["2026", "412.5 GBP", "2025", "349.58 GBP"]),
    ("The bus goes at 7.42, be there by 7.30.", ["07:42", "07:30"]),
    ("Plans start at 7.42 a month.", ["7.42/month"]),
    ("Phone lines Mon-Fri 8-18.", ["Monday/Friday", "08:00-18:00"]),
    ("Come between 12 and 5 pm.", ["12:00-17:00"]),
    ("Closed 25, 26 December.", ["---25", "--12-26"]),
    ("On the 25th and 26th we're closed.", ["---25", "---26"]),
    ("A fix is planned (July).", ["--07"]),
    ("Power costs 31.9 ct/kWh.", ["0.319 EUR"]),
    ("Status 429 means wait; bus 21 leaves at noon.", ["12:00"]),
]


@over(("raw", "canonical"), READ)
def test_a_figure_is_read_as_its_sentence_means_it(raw, canonical):
    assert [value.canonical for value in read_text("response", raw).values] == canonical
