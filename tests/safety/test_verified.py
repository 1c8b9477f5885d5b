"""Sentences that the verifier doubts become findings that say which verifier, which source and how sure."""

import pytest
from tests.evidence.table_verifier import DOUBTFUL, OPPOSED, SILENT, SURE

from touchstone.core.reading import Claim
from touchstone.core.result import Evidence, Statement, Verification
from touchstone.safety.detectors import doubts

CLAIMS = (Claim(2, 3, ("a",), "be", ("be",), ("b",), False, {}),)
PLACE = (Evidence("context[1]", 0, 9, "No cover."),)


def found_of(status, chances, *, by="model", claims=CLAIMS, evidence=PLACE):
    statement = Statement("x" * 9, 0, 9, status, by, "no source states this", chances, evidence)
    return doubts(Verification("table", "1", "0" * 16, (statement,)), claims)


@pytest.mark.parametrize(
    ("status", "chances", "reason"),
    [
        ("not_stated", DOUBTFUL, "the verifier table finds that context[1] does not state this sentence"),
        ("contradicted", OPPOSED, "the verifier table finds that context[1] contradicts this sentence"),
    ],
)
def test_a_doubted_assertion_is_a_finding_with_rule_confidence_evidence_and_reason(status, chances, reason):
    (finding,) = found_of(status, chances)
    assert (finding.kind, finding.rule, finding.confidence) == ("hallucination", f"verifier.{status}", chances.doubt)
    assert (finding.text, finding.start, finding.end, finding.evidence) == ("x" * 9, 0, 9, PLACE)
    assert finding.reason == reason


def test_without_evidence_no_source_is_named():
    (finding,) = found_of("not_stated", DOUBTFUL, evidence=())
    assert finding.reason == "the verifier table finds that no source states this sentence"


NONE = {
    "supported": ("supported", SURE, {}),
    "no claim": ("no_claim", SILENT, {}),
    "a rule": ("supported", None, {"by": "rule"}),
    "a typed value, which has checks of its own": ("contradicted", DOUBTFUL, {"by": "values"}),
    "no assertion in it": ("not_stated", DOUBTFUL, {"claims": ()}),
}


@pytest.mark.parametrize(("status", "chances", "options"), NONE.values(), ids=NONE)
def test_any_other_sentence_is_none(status, chances, options):
    assert found_of(status, chances, **options) == ()


def test_without_a_verifier_there_are_none():
    assert doubts(None, CLAIMS) == ()
