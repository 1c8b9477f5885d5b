"""A claim is supported by a source that says its words together, and contradicted by one that says the opposite."""

import pytest
from tests.tables import over

from touchstone.core.plan import Plan
from touchstone.evidence.claims import check_claims
from touchstone.text.claims import find_claims
from touchstone.text.clauses import find_clauses
from touchstone.text.reading import read_text

PROXIMITY = Plan().proximity


def anchors(reply, *sources, proximity=PROXIMITY):
    text = read_text("response", reply)
    named = [read_text(f"context[{at}]", source) for at, source in enumerate(sources)]
    return check_claims(find_claims(text, find_clauses(text)), text, named, proximity=proximity)


def statuses(reply, *sources):
    return [anchor.status for anchor in anchors(reply, *sources)]


COVERS = "The warranty covers accidental damage."
STATUSES = [
    (COVERS, "The warranty covers accidental damage.", "supported"),
    (COVERS, "Accidental damage is covered by the warranty.", "supported"),
    (COVERS, "Covered by every warranty: accidental damages.", "supported"),
    (COVERS, "The warranty does not cover accidental damage.", "contradicted"),
    (COVERS, "The warranty never covers accidental damage.", "contradicted"),
    (COVERS, "Does the warranty cover accidental damage?", "unsupported"),
    (COVERS, "Does the warranty cover accidental damage? Yes, it does.", "supported"),
    (COVERS, "Our shop opens at nine.", "unsupported"),
    (COVERS, "", "unsupported"),
    ("The warranty does not cover theft.", "The warranty covers theft.", "contradicted"),
    ("The warranty does not cover theft.", "Theft is not covered by the warranty.", "supported"),
    ("The warranty excludes theft.", "The warranty includes theft.", "contradicted"),
    ("The parcel was delivered by the courier.", "The courier delivered the package.", "supported"),
    ("The laptop comes with a charger.", "Each laptop ships with its own charger.", "supported"),
    ("The laptop comes with a charger.", "Each phone ships with its own charger.", "unsupported"),
    ("The plan has no roaming.", "The plan has roaming in Europe.", "contradicted"),
]


@over(("reply", "source", "status"), STATUSES)
def test_a_claim_has_the_status_its_source_gives_it(reply, source, status):
    assert statuses(reply, source) == [status]


def test_any_source_may_support_a_claim():
    assert statuses(COVERS, "Our shop opens at nine.", COVERS) == ["supported"]


def test_two_sources_do_not_support_a_claim_by_halves():
    assert statuses(COVERS, "The warranty lasts.", "We saw accidental damage.") == ["unsupported"]


def test_words_far_apart_do_not_support_a_claim():
    apart = f"The warranty lasts. {'Our shop opens at nine. ' * 6}It covers accidental damage."
    assert statuses(COVERS, apart) == ["unsupported"]
    assert [anchor.status for anchor in anchors(COVERS, apart, proximity=100)] == ["supported"]


def test_a_pronoun_s_claim_is_checked_under_its_topic():
    source = "The kettle has a steel body and a timer."
    assert statuses("The kettle has a steel body. It also has a timer.", source) == ["supported", "supported"]
    assert statuses("The kettle has a steel body. It also has a radio.", source) == ["supported", "unsupported"]


def test_the_evidence_is_the_stretch_that_says_so():
    (anchor,) = anchors(COVERS, "Good news: the warranty covers accidental damage in full.")
    (evidence,) = anchor.evidence
    assert (anchor.text, evidence.text) == ("warranty covers accidental damage", "warranty covers accidental damage")
    assert anchor.reason == "context[0] says so"


REASONS = [
    (COVERS, "Our shop opens at nine.", "no source speaks of warranty damage accidental covers"),
    (COVERS, "The warranty does not cover accidental damage.", "the source denies this"),
    ("The warranty does not cover theft.", "The warranty covers theft.", "the reply denies what the source says"),
]


@pytest.mark.parametrize(("reply", "source", "reason"), REASONS)
def test_the_reason_says_what_is_wrong_in_one_line(reply, source, reason):
    assert [anchor.reason for anchor in anchors(reply, source)] == [reason]
