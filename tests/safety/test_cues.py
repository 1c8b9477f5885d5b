"""Where a sentence is skipped for want of a cue word, no pattern that needs reading it can match."""

import pytest
from tests.tables import rows

from touchstone.core.case import Case
from touchstone.safety.fabrication import conditions, order
from touchstone.safety.fabrication.findings import sentences_with
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
