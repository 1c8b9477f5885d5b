"""Links, addresses and numbers that nobody gave the reply."""

import pytest
from tests.safety.noticing import NO_POLICY, notice_in

from touchstone.core.policy import Policy
from touchstone.safety.figures import MAX_CONTACTS, contacts

NOTHING = ["We answer on weekdays."]


def marked(response, *, context=NOTHING, policy=NO_POLICY, **fields):
    return [response[s.start : s.end] for s in notice_in(contacts, response, context=context, policy=policy, **fields)]


UNKNOWN = {
    "link": ("Go to https://acme.example/returns.", "https://acme.example/returns", "link"),
    "email": ("Write to desk@acme.example.", "desk@acme.example", "e-mail address"),
    "phone": ("Ring us on 020 7946 0018.", "020 7946 0018", "phone number"),
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_a_contact_that_no_source_holds_is_a_sign_that_names_it(kind):
    response, shown, noun = UNKNOWN[kind]
    (sign,) = notice_in(contacts, response, context=NOTHING)
    assert (sign.kind, sign.rule) == ("hallucination", "contact.unknown")
    assert response[sign.start : sign.end] == shown
    assert sign.reason == f"no source holds the {noun} {shown}"


@pytest.mark.parametrize("kind", UNKNOWN)
def test_a_contact_of_a_source_the_chat_or_the_expected_reply_is_none(kind):
    response, shown, _ = UNKNOWN[kind]
    for fields in (
        {"context": [f"See {shown}."]},
        {"context": [*NOTHING, f"See {shown.upper()}."]},
        {"input": f"I tried {shown}, and now?"},
        {"expected_output": f"Use {shown}."},
    ):
        assert marked(response, **fields) == []


def test_without_sources_nothing_can_be_called_made_up():
    assert marked("Write to desk@acme.example.", context=None) == []


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ("+44 20 7946 0018", True),
        ("(020) 79460018", True),
        ("0044 20 7946 0018", True),
        ("020 7946 0019", False),
        ("021 7946 0018", False),
        ("order 2079460018", True),
        ("desk@acme.example", False),
    ],
)
def test_a_phone_number_is_the_same_without_its_prefix(given, known):
    assert marked("Ring us on 020 7946 0018.", context=[f"Ring {given}."]) == ([] if known else ["020 7946 0018"])


@pytest.mark.parametrize(
    ("said", "given", "known"),
    [
        ("acme.example/help", "https://www.acme.example/help/start", True),
        ("acme.example", "acme.example/help", True),
        ("acme.example/help", "acme.example/start", False),
        ("acme.example/helper", "acme.example/help", False),
        ("acme.example", "desk@acme.example", True),
        ("acme.example/help", "acme.example", False),
    ],
)
def test_a_link_is_known_as_far_as_a_source_gives_it(said, given, known):
    assert marked(f"Go to {said} now.", context=[f"See {given} now."]) == ([] if known else [said])


POLICIES = [
    ("Go to https://acme.example/any.", Policy(domains=("acme.example",)), True),
    ("Go to https://shop.acme.example/any.", Policy(domains=("ACME.example",)), True),
    ("Go to https://notacme.example/any.", Policy(domains=("acme.example",)), False),
    ("Write to desk@acme.example.", Policy(contacts=("desk@acme.example",)), True),
    ("Write to desk@acme.example.", Policy(domains=("acme.example",)), True),
    ("Write to desk@acme.example.", Policy(domains=("acme.example",), contacts=("help@acme.example",)), False),
    ("Ring us on 020 7946 0018.", Policy(contacts=("+44 20 7946 0018",)), True),
    ("Ring us on 020 7946 0018.", Policy(contacts=("+44 20 7946 0019",)), False),
]


@pytest.mark.parametrize(("response", "policy", "known"), POLICIES)
def test_what_the_policy_publishes_is_known(response, policy, known):
    assert (marked(response, policy=policy) == []) is known


def test_an_address_of_the_company_s_domain_is_unknown_where_a_source_gives_another():
    company = Policy(domains=("acme.example",))
    assert marked("Write to desk@acme.example.", context=["Mail help@acme.example."], policy=company)


def inputs_of(response, context=NOTHING, **fields):
    (sign,) = notice_in(contacts, response, context=context, **fields)
    return {name for name, value in sign.inputs.items() if value}


def test_what_a_contact_is_judged_by():
    chat = [{"role": "customer", "content": "Hi"}, {"role": "agent", "content": "?"}, {"role": "user", "content": "So"}]
    assert inputs_of("Go to monday.com now.") == {"bare_host"}
    assert inputs_of("Go to monday.com/tasks now.") == set()
    assert inputs_of("Write to desk@acme.example.") == set()
    assert inputs_of("Write to desk@acme.example.", input=chat) == {"chat"}
    assert inputs_of("Write to desk@acme.example.", ["Mail help@beta.example."]) == {"other_known"}
    assert inputs_of("Write to desk@acme.example.", ["Ring 020 7946 0018."]) == set()


def test_the_reason_names_the_contact_that_the_sources_give():
    (sign,) = notice_in(contacts, "Write to desk@acme.example.", context=["Mail help@beta.example."])
    assert sign.reason.endswith("; the sources give help@beta.example")


def test_contacts_beyond_the_most_that_are_looked_up_are_left():
    response = " ".join(f"a{n}@acme.example" for n in range(MAX_CONTACTS + 5))
    assert len(marked(response)) == MAX_CONTACTS
