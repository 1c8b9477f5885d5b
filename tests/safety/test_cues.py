"""Where a text is skipped for want of a cue, or searched in part, no pattern that needs reading it can match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import rows

from touchstone.core.case import Case
from touchstone.safety.fabrication import conditions, contacts, contrasts, order
from touchstone.safety.fabrication.findings import sentences_with
from touchstone.safety.personal_data import addresses, identities, numbers, passages
from touchstone.text.reading import read

TABLES = ("detector_hallucination", "detector_hallucination_development")
PATTERNS = {
    conditions: (conditions.ASIDE, conditions.WAIVED, conditions.OPTIONAL, conditions.ADDED),
    order: (order.EARLIER, order.LATER, order.THEN),
}


@pytest.fixture(scope="module")
def texts():
    return [read(Case(input="?", response=row["response"])).reply for table in TABLES for row in rows(table)]


@pytest.mark.parametrize("module", PATTERNS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_no_sentence_that_a_pattern_matches_is_skipped(module, texts):
    matched = 0
    for text in texts:
        read_on = set(sentences_with(text, module._cues()))
        for sentence in text.sentences:
            for pattern in PATTERNS[module]:
                if pattern.search(text.raw, sentence.start, sentence.end):
                    matched += 1
                    assert sentence in read_on, text.raw[sentence.start : sentence.end]
    assert matched > 10


def test_no_passage_that_sets_one_thing_against_another_is_skipped(texts):
    matched = [text for text in texts if contrasts.AGAINST.search(text.raw)]
    assert len(matched) > 3
    assert all(contrasts.AGAINST_CUES & text.positions.keys() for text in matched)


PERSONAL = ("detector_pii_leakage", "detector_pii_leakage_development")
# A pattern, and what is sought first because it is found sooner.
QUICK = {
    "a postcode": (addresses.POSTCODE, addresses.OUTWARD.search),
    "an IP address": (numbers.IPV4, numbers.DOTTED.search),
    "a masked number": (numbers.MASKED, numbers.UNMASKED.search),
    "a code": (contacts.CODE, lambda text: any(cue in text for cue in contacts.CODE_CUES)),
}
CHARACTERS = st.text(alphabet="0189 AXbz.-/+*#:\n", max_size=120)


@pytest.fixture(scope="module")
def personal_texts():
    return [text for table in PERSONAL for row in rows(table) for text in (row["response"], str(row.get("context")))]


@pytest.mark.parametrize(("pattern", "is_near"), QUICK.values(), ids=QUICK)
@given(text=CHARACTERS)
def test_what_is_sought_first_is_part_of_the_pattern(pattern, is_near, text):
    assert is_near(text) or not pattern.search(text)


def everywhere(text):
    return {match.span() for pattern, _ in identities.CHECKED for match in pattern.finditer(text)}


def nearby(text):
    near = identities._stretches(text)
    found = (pattern.finditer(text, *stretch) for pattern, _ in identities.CHECKED for stretch in near)
    return {match.span() for matches in found for match in matches}


def test_identity_numbers_are_found_in_stretches_as_in_the_whole(personal_texts):
    assert sum(len(everywhere(text)) for text in personal_texts) > 10
    assert all(everywhere(text) == nearby(text) for text in personal_texts)


@given(CHARACTERS)
def test_identity_numbers_are_found_in_stretches_of_any_text(text):
    assert everywhere(text) == nearby(text)


def test_headings_are_found_before_their_colon_as_in_the_whole(personal_texts):
    headed = [text for text in personal_texts if passages.RECORD_HEADING.search(text)]
    assert len(headed) > 5
    assert all(passages.is_record(text) for text in headed)
