"""The line that explains a grade names facts of this reply, for it and against it."""

import pytest

import touchstone as ts
from touchstone.core.plan import Plan
from touchstone.evidence.check import anchors_of, check
from touchstone.judges.features import see
from touchstone.judges.reasons import NOTHING, explain_grade, find_issues
from touchstone.text.frame import body_of
from touchstone.text.reading import read

PASSAGE = "Unused items may be returned within 14 days at parcel.example/returns. The fee is £4."
QUESTION = "How long may I return it, and can I keep the case?"


def seen(reply, **fields):
    reading = read(ts.Case(**{"input": QUESTION, "response": reply, "context": [PASSAGE], **fields}))
    body = body_of(reading)
    return see(reading, body, anchors_of(body, check(reading, plan=Plan())))


def reason(criterion, grade, reply, **fields):
    return explain_grade(criterion, grade, seen(reply, **fields))


TABLE = [
    ("accuracy", "You can return it within 30 days.", "against: reply says 30 days, source says 14 days"),
    ("accuracy", "You can return it within 14 days.", "for: '14 days' stands in the sources"),
    ("accuracy", "It costs £9 more.", "against: "),
    ("completeness", "You can return it within 14 days.", "against: takes up no word of 'can I keep the case?'"),
    (
        "completeness",
        "You can return it within 14 days and keep the case.",
        "for: takes up 'How long may I return it', 'can I keep the case?'",
    ),
    ("tone", "Thank you for asking! It is 14 days.", "for: says 'thank'"),
    ("tone", "It is 14 days.", "against: no kind word"),
    ("tone", "That is your own fault.", "against: is rude ('your own fault')"),
    ("actionability", "Open My Orders > Returns > Start.", "for: names where to go: "),
    ("actionability", "Write to help@parcel.example.", "names 'help@parcel.example'"),
    ("actionability", "Perhaps it is so.", "names no step, no contact and nothing that the company does"),
]


@pytest.mark.parametrize(("criterion", "reply", "told"), TABLE)
def test_a_reason_names_a_fact_of_the_reply(criterion, reply, told):
    assert told in reason(criterion, 2, reply)


def test_without_a_source_the_reason_says_so():
    assert reason("accuracy", 2, "It is 14 days.", context=None) == "against: there is no source to check it by"


def test_a_low_grade_is_explained_by_what_is_against_it_first():
    reply = "Thank you. You should have read the terms."
    assert reason("tone", 2, reply).startswith("against: ")
    assert reason("tone", 3, reply).startswith("for: ")


def test_a_criterion_of_a_teams_own_has_no_facts():
    assert reason("warmth", 2, "It is 14 days.") == NOTHING


def test_an_expected_reply_tells_what_is_missing():
    found = seen("You can return it.", expected_output="You have 14 days. Keep the case if you like.")
    assert "does not give '14 days'" in explain_grade("accuracy", 2, found)
    assert "leaves out 'Keep the case if you like.'" in explain_grade("completeness", 2, found)
    issues = find_issues(found.body, found.covered, found.anchors, ())
    assert "should state: '14 days'" in issues


def test_a_low_grade_without_a_fault_of_its_own_says_how_little_of_the_expected_reply_is_there():
    told = {"expected_output": "Cancel under Bookings > Manage before noon on the day, and the deposit comes back."}
    reply = "Open Help > Contact."
    assert "against: says 0% of what the expected reply says" in reason("actionability", 1, reply, **told)
    assert "against" not in reason("actionability", 3, reply, **told)


def test_an_ask_that_names_no_things_is_never_called_passed_over():
    assert "takes up no word" not in reason("completeness", 2, "The fee is £4.", input="How much is it?")
