"""One walk reaches every text of a case, a result and a record, and none of Touchstone's own words."""

from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st
from tests.store.full_samples import full_of_text
from tests.store.samples import cases, records, results

from touchstone.core import case, result
from touchstone.core.texts import OWN_WORDS, map_texts
from touchstone.runs import record


@given(value=st.one_of(cases, results, records))
def test_a_walk_that_changes_nothing_gives_the_same_value(value):
    assert map_texts(value, prose=str, quotation=lambda quoted: quoted) == value


def test_own_words_are_those_of_fields_that_exist():
    kinds = {name: kind for module in (case, result, record) for name, kind in vars(module).items()}
    for word in OWN_WORDS:
        kind, field = word.split(".")
        assert field in {each.name for each in fields(kinds[kind])}, word


def reached(value):
    """The texts that the walk hands over."""
    found = set()

    def take(text):
        found.add(text)
        return ""

    def taking(quoted):
        take(quoted.text)
        return replace(quoted, text="")

    left = map_texts(value, prose=take, quotation=taking)
    return found, repr(left)


def test_every_text_is_reached_once_it_is_no_own_word():
    for content in ({}, {"fails": True}, {"is_waived": True}):
        entry, texts = full_of_text(0, says=lambda place: f"<{place}>", **content)
        walked = [reached(value) for value in (entry.case, entry.result, entry.record)]
        assert set(texts) <= {text for found, _ in walked for text in found}
        assert [text for text in texts for _, left in walked if text in left] == []


def test_an_entry_that_becomes_none_is_left_out():
    entry, _ = full_of_text(0, says=lambda place: place)
    left = map_texts(entry.result, prose=str.upper, quotation=lambda quoted: None, listed=lambda text: None)
    score = left.metrics["hallucination"]
    assert (left.reasons, left.rubric.violations, left.verifier.statements, score.anchors) == ((), (), (), ())
    assert score.parts == {"s_claims": 0.5, "keywords": [], "said": "PART", "deep": {"list": []}}
    assert left.rubric.reasons == entry.result.rubric.reasons
