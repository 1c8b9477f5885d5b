"""Personal data is taken out of what is kept, and spans move along."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.evidence.table_verifier import DOUBTFUL, TableVerifier
from tests.fragments import left_of
from tests.store.full_samples import full_of_text
from tests.tables import over

from touchstone.app.score import Kept
from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.result import Result
from touchstone.runs.evaluate import evaluate
from touchstone.runs.record import record
from touchstone.runs.redaction import redact, redact_case, redact_reply

LEAK = Case(
    id="c-1",
    input="What is the status of my order? I am Maria Gonzalez, maria.gonzalez@example.com.",
    response=(
        "Order 98765 was placed by John Smith at 123 Main Street, Anytown. It was paid with card 4111 1111 1111 1111 "
        "and will ship within 3 days."
    ),
    context=["Order 98765: John Smith, 123 Main Street, Anytown. Card 4111 1111 1111 1111. Ships within 5 days."],
    metadata={"agent": "write to maria.gonzalez@example.com", "n": 3},
)
PERSONAL = ("John Smith", "123 Main Street", "4111 1111 1111 1111", "maria.gonzalez@example.com", "Maria Gonzalez")


def kept():
    result = evaluate(LEAK, plan=Plan())
    return redact_reply(Kept(LEAK, result, record(LEAK, result)))


def test_what_a_verifier_read_is_kept_without_personal_data():
    result = evaluate(LEAK, plan=Plan(), verifier=TableVerifier({}, other=DOUBTFUL))
    found = redact_reply(Kept(LEAK, result, record(LEAK, result)))
    for text in PERSONAL:
        assert text not in repr((found.result, found.record))
    for statement in found.result.verifier.statements:
        assert found.case.response[statement.start : statement.end] == statement.text
        for evidence in statement.evidence:
            assert found.case.context[0].text[evidence.start : evidence.end] == evidence.text


def test_kinds_stand_where_personal_data_stood():
    assert redact("Mail jo.brown@gmail.com or pay with 4111 1111 1111 1111.").text == "Mail [email] or pay with [card]."


def test_no_text_that_is_kept_has_personal_data():
    found = kept()
    for text in PERSONAL:
        assert text not in repr((found.case, found.result, found.record))
    assert found.case.metadata == {"agent": "write to [email]", "n": 3}


def test_the_leak_is_still_on_record_and_every_span_is_the_text_it_names():
    found = kept()
    violations = found.result.rubric.violations
    assert "pii_leakage" in found.record.violations
    assert [found.case.response[each.start : each.end] for each in violations] == [each.text for each in violations]
    anchors = found.result.metrics["hallucination"].anchors
    assert [found.case.response[each.start : each.end] for each in anchors] == [each.text for each in anchors]
    passages = {f"context[{at}]": passage.text for at, passage in enumerate(found.case.context)}
    evidence = [each for anchor in anchors for each in anchor.evidence if each.source in passages]
    assert evidence
    assert all(passages[each.source][each.start : each.end] == each.text for each in evidence)


@over("content", [{}, {"fails": True}, {"is_waived": True}])
@over("sample", PERSONAL)
def test_no_twelve_characters_of_personal_data_are_left_in_any_text_of_a_reply(sample, content):
    """Each text has an address of its own, and all have the same other piece of personal data."""
    mails = []

    def says(place):
        mails.append(f"visitor.{len(mails)}@example{len(mails)}.com")
        return f"{sample} was here. Write to {mails[-1]}, it said."

    entry, _ = full_of_text(0, says=says, **content)
    found = redact_reply(entry)
    assert left_of((sample, *mails), repr((found.case, found.result, found.record)).encode()) == []
    unread = redact_reply(replace(entry, case=None))
    assert left_of(mails, repr((unread.result, unread.record)).encode()) == []
    assert len(mails) > 30


def test_a_number_that_a_reason_writes_without_its_signs_is_taken_out():
    case = Case(
        input="Call me at +1 (415) 555-2671.", response="Call us at +44 20 7946 0018.", context=["We call back."]
    )
    result = evaluate(case, plan=Plan())
    found = redact_reply(Kept(case, result, record(case, result)))
    assert "14155552671" in repr(result)
    assert left_of(("14155552671", "442079460018", "2079460018"), repr((found.result, found.record)).encode()) == []


def test_an_address_in_a_reason_is_taken_out_though_another_was_met_before():
    case = Case(input="I am at jo@brown.com", response="ok")
    result = Result(None, "review", None, ("write to lea@green.com",), None)
    assert redact_reply(Kept(case, result, record(case, result))).result.reasons == ("write to [email]",)


def test_what_a_person_wrote_of_a_waived_violation_is_redacted():
    entry, _ = full_of_text(0, says=lambda place: "Mail jo@brown.com.", is_waived=True)
    found = redact_reply(entry)
    assert [each.reason for each in found.result.rubric.waived] == ["Mail [email]."]
    assert found.record.waived == found.result.rubric.waived


def test_scores_and_grades_are_those_of_the_reply_as_it_was():
    result = evaluate(LEAK, plan=Plan())
    found = kept().result
    assert (found.decision, found.verdict, found.rubric.total) == (result.decision, result.verdict, result.rubric.total)


def test_a_chat_is_redacted_turn_by_turn():
    turns = [{"role": "customer", "content": "I am at jo@brown.com"}, {"role": "agent", "content": "Thanks"}]
    assert [turn.content for turn in redact_case(Case(input=turns, response="ok")).input] == [
        "I am at [email]",
        "Thanks",
    ]


@given(text=st.text(max_size=60), start=st.integers(0, 60), end=st.integers(0, 60))
def test_a_span_of_any_text_stays_within_it(text, start, end):
    whole = f"{text} 4111 1111 1111 1111 {text}"
    start, end = sorted((min(start, len(whole)), min(end, len(whole))))
    found = redact(whole)
    moved = found.moved(start, end)
    assert 0 <= moved.start <= moved.end <= len(found.text)
    assert found.moved(0, len(whole)) == (0, len(found.text))


@given(text=st.text(max_size=200))
def test_a_text_without_personal_data_is_left_as_it_is(text):
    found = redact(text)
    if not found.cuts:
        assert found.text == text
