"""Sentences that the verifier doubts become violations, once each, beside what the rules found."""

import pytest
from tests.evidence.verifier.reader import DOUBTFUL, OPPOSED, SILENT, SURE

from touchstone.core.reading import Claim
from touchstone.core.result import Chances, Evidence, Statement, Verification, Violation
from touchstone.safety.fabrication.verified import add_doubted

CLAIMS = tuple(Claim(at, at + 1, ("a",), "be", ("be",), ("b",), False, {}) for at in (0, 2, 15))
PLACE = (Evidence("context[0]", 0, 9, "No cover."),)


def statement(start, end, *, status="not_stated", chances=DOUBTFUL, by="model"):
    return Statement("x" * (end - start), start, end, status, by, "no source states this", chances, PLACE)


def verification(*statements, cut=0.8):
    return Verification("table", "1", "0" * 16, cut, statements)


@pytest.mark.parametrize(
    ("given", "alarms"),
    [
        (statement(0, 9), True),
        (statement(0, 9, status="contradicted", chances=OPPOSED), True),
        (statement(0, 9, status="supported", chances=SURE), False),
        (statement(0, 9, status="no_claim", chances=SILENT), False),
        (statement(0, 9, chances=Chances(0.2, 0.1, 0.69, 0.01)), False),
        (statement(0, 9, chances=None, by="rule"), False),
        (statement(0, 9, chances=SURE, by="values"), False),
        (statement(0, 9, chances=DOUBTFUL, by="values"), True),
    ],
    ids=["not stated", "contradicted", "supported", "no claim", "below the cut", "a rule", "values alone", "both"],
)
def test_only_doubt_of_the_model_from_the_cut_on_is_an_alarm(given, alarms):
    found = add_doubted((), verification(given), claims=CLAIMS)
    assert bool(found) is alarms
    for violation in found:
        assert (violation.kind, violation.start, violation.end, violation.evidence) == ("hallucination", 0, 9, PLACE)
        assert "verifier, 0." in violation.reason


def test_what_the_rules_found_stays_and_is_not_found_twice():
    known = Violation("hallucination", "30 days", 2, 9, "reply says 30 days, source says 14 days")
    leak = Violation("pii_leakage", "Ann", 20, 23, "a name")
    found = add_doubted([leak, known], verification(statement(0, 12), statement(15, 25)), claims=CLAIMS)
    assert [(v.kind, v.start) for v in found] == [("hallucination", 2), ("hallucination", 15), ("pii_leakage", 20)]


def test_without_a_verifier_the_violations_are_as_they_were():
    known = (Violation("pii_leakage", "Ann", 20, 23, "a name"),)
    assert add_doubted(known, None, claims=CLAIMS) == known


def test_a_sentence_in_which_the_parser_finds_no_assertion_is_none():
    assert add_doubted((), verification(statement(0, 9)), claims=()) == ()
