"""Text from outside as it is shown, and the way back from a place in it."""

from hypothesis import given
from hypothesis import strategies as st

from touchstone.report.plain import plain, plain_places

HOSTILE = st.text(alphabet=st.sampled_from("ab \n\r\t\x07\x1b[]31m;\x9b\u202e\u2066\ud800\U0001f600"), max_size=60)


@given(HOSTILE)
def test_every_character_shown_has_its_place_in_the_text(text):
    places = plain_places(text)
    assert "".join(text[at] for at in places) == plain(text)
    assert places == sorted(set(places))


@given(st.text(max_size=40))
def test_any_text_can_be_found_back(text):
    assert "".join(text[at] for at in plain_places(text)) == plain(text)
