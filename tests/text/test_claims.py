"""What a reply asserts as fact becomes subject, verb and object; guesses, questions, orders and courtesies do not."""

import pytest
from tests.tables import over

from touchstone.text.claims import find_claims
from touchstone.text.clauses import find_clauses
from touchstone.text.reading import read_text
from touchstone.text.tokens import term


def claims_of(raw):
    text = read_text("response", raw)
    return find_claims(text, find_clauses(text))


def claims(raw):
    """Each claim as its terms: subject, verb, object, and whether it is denied."""
    found = claims_of(raw)
    return [(claim.subject, claim.verb, claim.object, claim.negated) for claim in found]


def terms(*rows):
    """A table's rows, written in words, as the terms the words count as."""
    return [(phrase(subject), verb, phrase(object_), negated) for subject, verb, object_, negated in rows]


def phrase(words):
    return tuple(term(word) for word in words.split())


CLAIMS = [
    ("The warranty covers accidental damage.", [("warranty", "cover", "damage accidental", False)]),
    ("The warranty does not cover water damage.", [("warranty", "cover", "damage water", True)]),
    ("The warranty doesn't cover water damage.", [("warranty", "cover", "damage water", True)]),
    ("The plan has no roaming.", [("plan", "have", "roaming", True)]),
    ("Passengers cannot carry liquids.", [("passengers", "carry", "liquids", True)]),
    ("The battery is not removable.", [("battery", "be", "removable", True)]),
    ("The new model was released in Berlin.", [("model new", "release", "berlin", False)]),
    ("The parcel was delivered by the courier.", [("parcel", "deliver", "courier", False)]),
    ("The laptop comes with a charger.", [("laptop", "come", "charger", False)]),
    ("The plan's price includes insurance.", [("price plan", "include", "insurance", False)]),
    ("The bank charges a fee for transfers.", [("bank", "charge", "fee transfers", False)]),
    ("Breakfast is available.", [("breakfast", "be", "", False)]),
    ("Customers who cancel receive a voucher.", [("customers", "receive", "voucher", False)]),
]  # fmt: skip


@over(("raw", "expected"), CLAIMS)
def test_a_statement_of_fact_is_a_claim(raw, expected):
    assert claims(raw) == terms(*expected)


POLICIES = [
    ("We never share your data.", [("", "share", "data", True)]),
    ("We do not sell lamps or chairs.", [("", "sell", "lamps", True), ("", "sell", "chairs", True)]),
    ("You can return shoes to any store.", [("", "return", "shoes", False)]),
    ("The store sells laptops and phones.", [("", "sell", "laptops", False), ("", "sell", "phones", False)]),
    ("There is a fee for late returns.", [("", "be", "fee returns late", False)]),
]


@pytest.mark.parametrize(("raw", "expected"), POLICIES)
def test_what_we_and_you_do_is_a_claim_without_a_subject(raw, expected):
    assert claims(raw) == terms(*expected)


NO_CLAIMS = {
    "hedge": [
        "Refunds may take a while.",
        "The outage might affect your router.",
        "It probably affects your router.",
        "This suggests a faulty cable.",
        "We think the cable is faulty.",
        "The fee would include tax.",
        "Hopefully the courier brings the parcel.",
    ],
    "question": ["Does the plan include roaming?", "The plan includes roaming, right?"],
    "instruction": [
        "Please restart the router.",
        "Open the settings and choose your network.",
        "Don't open the lid.",
        "You should contact the bank.",
        "Make sure the cable is connected.",
    ],
    "courtesy": [
        "Thank you for your patience.",
        "I'm sorry about the delay.",
        "I understand your frustration.",
        "That is a great question.",
        "Let me check that for you.",
        "We hope you enjoy the concert.",
        "Feel free to contact us.",
    ],
    "act of the agent": ["I have cancelled your order.", "I am checking your account."],
    "condition": ["if the parcel is lost", "Unless you cancel, the plan renews."],
    "bare value": ["Your refund is $20.", "It takes 5 days.", "The Pro plan costs $20 a month."],
    "nothing": ["", "Hi!", "OK", "...", "Dear Ms. Ito,"],
}


@over(("why", "raw"), [(why, raw) for why, texts in NO_CLAIMS.items() for raw in texts])
def test_what_asserts_no_fact_is_no_claim(why, raw):
    assert claims(raw) == [], why


def test_a_condition_does_not_take_the_statement_with_it():
    assert claims("If the parcel is lost, we will send a replacement.") == terms(("", "send", "replacement", False))


def test_a_pronoun_stands_for_the_topic_before_it():
    first, second = claims_of("The kettle has a steel body. It also has a timer.")
    assert first.subject == second.subject == ("kettl",)


def test_a_claim_said_twice_in_a_row_is_one():
    assert len(claims("The warranty covers theft. The warranty covers theft.")) == 1


def test_a_claim_knows_its_place_in_the_reply():
    raw = "Hello! Sure: the warranty covers theft. Bye"
    (claim,) = claims_of(raw)
    assert raw[claim.start : claim.end] == "warranty covers theft"


def test_a_long_run_of_words_is_read_in_pieces():
    raw = " and ".join(["the lamp has a switch"] * 60)
    assert terms(("lamp", "have", "switch", False))[0] in claims(raw)
