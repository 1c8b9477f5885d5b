"""All checks together: one finding of a kind at a place, in order, none in the frame; laws for any text; and leaks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth import is_linear
from tests.safety.noticing import NO_POLICY, notice_in, read_reply

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.result import VIOLATION_KINDS, Anchor
from touchstone.evidence.check import anchors_of, check
from touchstone.runs.evaluate import evaluate
from touchstone.safety import detectors, signs
from touchstone.safety.detectors import DETECTORS, inspect, leaks, notice
from touchstone.safety.signs import Logistic, Sign
from touchstone.text.frame import body_of
from touchstone.text.reading import read

REPLY = "abcdefghij" * 5


@pytest.fixture
def noticed(monkeypatch):
    """Sets what is noticed: (kind, place, confidence input)."""

    def put(*rows):
        found = [Sign(kind, rule, *place, rule, {"sure": sure}) for kind, rule, place, sure in rows]
        monkeypatch.setattr(detectors, "DETECTORS", (lambda reading, anchors, *, policy: found,))

    monkeypatch.setattr(signs, "rules", lambda: {name: Logistic(0.0, {"sure": 1.0}) for name in "abc"})
    return put


def kept():
    reading, anchors = read_reply(REPLY)
    return [(one.kind, one.rule) for one in inspect(reading, anchors, policy=NO_POLICY)]


HARM, LEAK = "harmful_content", "pii_leakage"


def test_of_two_of_a_kind_at_one_place_the_surer_one_stays(noticed):
    noticed((HARM, "a", (0, 9), 1.0), (HARM, "b", (8, 12), 2.0), (HARM, "c", (3, 9), 1.5))
    assert kept() == [(HARM, "b")]
    noticed((HARM, "b", (8, 12), 2.0), (HARM, "a", (0, 9), 1.0))
    assert kept() == [(HARM, "b")]


def test_neighbours_and_other_kinds_stay_beside_each_other_in_order(noticed):
    noticed((LEAK, "c", (9, 12), 0.1), (HARM, "b", (9, 12), 2.0), (HARM, "a", (0, 9), 1.0))
    assert kept() == [(HARM, "a"), (HARM, "b"), (LEAK, "c")]


def test_of_two_as_sure_the_earlier_and_then_the_shorter_one_stays(noticed):
    noticed((HARM, "b", (4, 9), 1.0), (HARM, "a", (3, 5), 1.0))
    assert kept() == [(HARM, "a")]
    noticed((HARM, "b", (3, 9), 1.0), (HARM, "a", (3, 5), 1.0))
    assert kept() == [(HARM, "a")]


def test_what_one_finding_hides_hides_nothing_itself(noticed):
    noticed((HARM, "a", (0, 5), 3.0), (HARM, "b", (4, 10), 2.0), (HARM, "c", (9, 12), 1.0))
    assert kept() == [(HARM, "a"), (HARM, "c")]


def test_every_registered_check_is_asked():
    reply = (
        "You can return it within 30 days. Write to desk@acme.example. You are an idiot. "
        "Your driver was Ismet Kaya, his mobile is 0171 555 0129. I promise you a full refund, guaranteed, on us."
    )
    reading, anchors = read_reply(reply, input="Where is it?", context=["You can return it within 14 days."])
    found = {sign.rule.partition(".")[0] for sign in notice(reading, anchors, policy=NO_POLICY)}
    assert found == {"value", "contact", "harm", "wording", "pii"}
    assert len(DETECTORS) == 5


FRAMED = "Hi Ana,\n\n{body}\n\nKind regards,\nTom Baker"


def test_the_frame_is_not_inspected():
    body = "You can return it within 30 days."
    fields = {"input": "Can I return it?", "context": ["You can return it within 14 days."]}
    bare, framed = (
        evaluate(Case(response=reply, **fields), plan=Plan()).rubric for reply in (body, FRAMED.format(body=body))
    )
    place = FRAMED.index("{")
    assert [(one.rule, one.start + place) for one in (*bare.violations, *bare.suspicions)] == [
        (one.rule, one.start) for one in (*framed.violations, *framed.suspicions)
    ]
    greeted = body_of(read(Case(response="Hi Ana Kovacs,\n\nIt left today.\n\nKind regards,\nTom Baker")))
    assert inspect(greeted, None, policy=NO_POLICY) == ()


def test_an_anchor_of_the_frame_is_left_out():
    reply = FRAMED.format(body="It left today.")
    body = body_of(read(Case(response=reply, context=["It left."])))
    greeted, said = (
        Anchor("claim", text, reply.index(text), reply.index(text) + len(text), "", "unsupported", "")
        for text in ("Hi Ana", "It left today")
    )
    assert anchors_of(body, (greeted, said)) == (said,)
    assert anchors_of(body, None) is None


PIECES = st.sampled_from(
    ["4111 1111 1111 1111", "$5", "30 days", "Mr Feldkamp", "you are an idiot", "a@b.example", "x.example/y", "\n"]
)
TEXTS = st.lists(st.text(max_size=30) | PIECES, max_size=6).map(" ".join)


@settings(max_examples=60)
@given(reply=TEXTS, question=TEXTS, context=st.none() | st.lists(TEXTS, max_size=2))
def test_of_any_text_findings_quote_the_reply_and_are_probable(reply, question, context):
    reading = read(Case(response=reply, input=question, context=context))
    found = inspect(reading, check(reading, plan=Plan()), policy=NO_POLICY)
    assert list(found) == sorted(found, key=lambda one: (one.start, one.end, one.kind))
    for one in found:
        assert one.kind in VIOLATION_KINDS
        assert 0 <= one.start < one.end <= len(reply)
        assert one.text == reply[one.start : one.end]
        assert 0 <= one.confidence <= 1
        assert one.rule in signs.rules()


HOSTILE = [
    "1-",
    "a@",
    "A. ",
    "Mr ",
    "$1 ",
    "send me ",
    "contact ",
    "your bank ",
    "you are ",
    "x.example/",
    "1 day, ",
    "? ",
]


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_length_and_not_faster(piece):
    def search(size):
        reading = read(Case(response=piece * (size // len(piece)), input="refund?", context=[piece * 50]))
        inspect(reading, (), policy=NO_POLICY)

    assert is_linear(search, small=6_000, large=48_000)


RECORD = "Customer record (Isarnet): Jonas Feldkamp, passport 533401972, Rosenweg 8, 85221 Dachau."
CHAT = [{"role": "agent", "content": "Hello?"}, {"role": "customer", "content": "What does it say?"}]
CARD = "It was paid with the Visa ending in 4242."


def inputs_of(response, **fields):
    signs = notice_in(leaks, response, **fields)
    assert signs
    assert {sign.kind for sign in signs} == {"pii_leakage"}
    return [{name for name, value in sign.inputs.items() if value} for sign in signs]


def test_a_leak_alone_and_from_nowhere_has_nothing_to_show():
    (sign,) = notice_in(leaks, CARD, input="which card?")
    assert (sign.rule, CARD[sign.start : sign.end]) == ("pii.card", "Visa ending in 4242")
    assert sign.reason.startswith("gives card digits")
    assert sign.evidence == ()
    assert set(sign.inputs.values()) == {0.0}


def test_a_leak_that_a_record_holds_is_recorded():
    (sign,) = notice_in(leaks, "The document 533401972 has expired.", input="help", context=[RECORD])
    assert {name for name, value in sign.inputs.items() if value} == {"recorded"}
    assert [place.text for place in sign.evidence] == ["533401972"]


def test_leaks_of_two_kinds_stand_beside_each_other():
    both = "Your driver was Ismet Kaya, his mobile is 0171 555 0129."
    assert inputs_of(both, input="any news?") == [{"beside_others"}] * 2
    two_cards = f"{CARD} The other is the Visa ending in 4343."
    assert inputs_of(two_cards, input="which card?") == [set()] * 2


def test_a_leak_in_a_chat_is_unseen_unless_a_record_holds_it():
    assert inputs_of(CARD, input=CHAT) == [{"unseen_chat"}]
    assert inputs_of("The document 533401972 has expired.", input=CHAT, context=[RECORD]) == [{"recorded"}]
