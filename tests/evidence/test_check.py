"""Every anchor of a reply is checked against context, earlier turns and the customer's own words."""

import pytest

from touchstone.core.case import Case, Turn
from touchstone.core.plan import Plan
from touchstone.evidence.check import check
from touchstone.text.reading import read


def anchors(**fields):
    return check(read(Case(**fields)), plan=Plan())


def statuses(**fields):
    return {anchor.text: anchor.status for anchor in anchors(**fields)}


def test_anchors_stand_in_the_order_of_the_reply():
    found = anchors(response="It costs $5. The plan includes tax. Pay by 3 May.", context=["Free of tax."])
    assert [anchor.start for anchor in found] == sorted(anchor.start for anchor in found)
    assert [anchor.kind for anchor in found] == ["money", "claim", "date"]


def test_a_value_inside_a_claim_counts_once_as_a_value():
    found = anchors(response="The plan costs $20 a month.", context=["The plan costs $20 a month."])
    assert [anchor.kind for anchor in found] == ["money"]


def test_without_evidence_there_is_nothing_to_check():
    assert anchors(response="It costs $5.", input="How much is it?") is None


def test_against_empty_context_everything_is_unsupported():
    assert statuses(response="It costs $5.", context=[]) == {"$5": "unsupported"}


def test_the_customer_s_own_message_is_evidence():
    case = {"input": "I paid $35 on 3 May.", "response": "You paid $35 on 3 May.", "context": []}
    assert statuses(**case) == {"$35": "supported", "3 May": "supported"}


def test_earlier_turns_are_evidence():
    chat = [Turn("user", "I paid $35."), Turn("agent", "It left on 3 May."), Turn("user", "And now?")]
    found = anchors(input=chat, response="You paid $35, and it left on 3 May.", context=[])
    assert {a.text: [e.source for e in a.evidence] for a in found} == {"$35": ["input[0]"], "3 May": ["input[1]"]}


BEATEN = [
    ("You told me the refund takes 30 days.", "The refund takes 30 days.", "The refund takes 14 days.", "30 days"),
    ("I was told the delivery fee is $5.", "The delivery fee is $5.", "The delivery fee is $9.", "$5"),
    ("The warranty covers theft.", "The warranty covers theft.", "The warranty does not cover theft.",
     "warranty covers theft"),
]  # fmt: skip


@pytest.mark.parametrize(("customer", "reply", "passage", "anchor"), BEATEN)
def test_a_passage_that_contradicts_beats_a_customer_who_states(customer, reply, passage, anchor):
    assert statuses(input=customer, response=reply, context=[passage]) == {anchor: "contradicted"}


@pytest.mark.parametrize(("customer", "reply", "passage", "anchor"), BEATEN)
def test_a_customer_who_states_is_believed_where_no_passage_objects(customer, reply, passage, anchor):
    assert statuses(input=customer, response=reply, context=["Our shop sells lamps."]) == {anchor: "supported"}


def test_a_customer_who_only_asks_states_no_claim():
    case = {"input": "Does the warranty cover theft?", "response": "The warranty covers theft.", "context": []}
    assert statuses(**case) == {"warranty covers theft": "unsupported"}


def test_the_expected_reply_is_evidence_where_no_context_was_recorded():
    reply, expected = "The lamp has 2 years of warranty.", "The lamp has 24 months of warranty."
    assert statuses(response=reply, expected_output=expected)["2 years"] == "supported"
    assert statuses(response=reply, expected_output=expected, context=[])["2 years"] == "unsupported"


CONTRADICTED = [
    ("Refunds take 30 days.", "Refunds take 14 days.", "reply says 30 days, source says 14 days", "14 days"),
    ("The fee is $5.", "The fee is USD 7.50.", "reply says $5, source says USD 7.50", "USD 7.50"),
]


@pytest.mark.parametrize(("reply", "passage", "reason", "rival"), CONTRADICTED)
def test_a_contradiction_shows_both_sides(reply, passage, reason, rival):
    (anchor,) = anchors(response=reply, context=[passage])
    (evidence,) = anchor.evidence
    assert (anchor.status, anchor.reason, evidence.text) == ("contradicted", reason, rival)
    assert passage[evidence.start : evidence.end] == rival


DERIVED = [
    ("Together it costs $30.", "The lamp costs $20 and delivery costs $10.", "20 $ + 10 $ = 30 $"),
    ("You save $20.", "The price is $100, and members get 20% off.", "20% of 100 $ = 20 $"),
    ("Pay by 17 March 2025.", "Ordered on 3 March 2025, due after 14 days.", "2025-03-03 + 14 day = 2025-03-17"),
]


@pytest.mark.parametrize(("reply", "passage", "formula"), DERIVED)
def test_a_derivation_shows_its_arithmetic_and_what_it_used(reply, passage, formula):
    (anchor,) = anchors(response=reply, context=[passage])
    assert (anchor.status, anchor.reason) == ("derived", formula)
    assert len(anchor.evidence) == 2
