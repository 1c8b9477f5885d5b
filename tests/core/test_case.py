"""A case is an immutable value, whatever forms its parts were given in."""

import pickle
from dataclasses import FrozenInstanceError

import pytest

from touchstone.core.case import Case, Passage, Turn

CASE = Case(
    id="c-1",
    input=[{"role": "user", "content": "Where is it?"}],
    response="Here.",
    context=["A", {"id": "p", "text": "B"}],
    metadata={"channel": "mail"},
)


def test_parts_given_as_plain_values_become_turns_and_passages():
    assert CASE.input == (Turn("user", "Where is it?"),)
    assert CASE.context == (Passage("A"), Passage("B", "p"))


def test_one_string_of_context_is_one_passage():
    assert Case(response="r", context="A").context == (Passage("A"),)


@pytest.mark.parametrize(("context", "expected"), [(None, None), ([], ())], ids=["not recorded", "nothing found"])
def test_no_context_and_empty_context_are_told_apart(context, expected):
    assert Case(response="r", context=context).context == expected


def test_a_case_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        CASE.response = "There."
    with pytest.raises(TypeError):
        CASE.metadata["channel"] = "chat"


def test_a_case_does_not_follow_changes_to_what_it_was_made_of():
    metadata, context = {"channel": "mail"}, ["A"]
    case = Case(response="r", metadata=metadata, context=context)
    metadata["channel"] = "chat"
    context.append("B")
    assert (case.metadata, case.context) == ({"channel": "mail"}, (Passage("A"),))


def test_a_case_travels_between_processes():
    assert pickle.loads(pickle.dumps(CASE)) == CASE


CHATS = [
    ("Where is it?", "Where is it?", []),
    ([Turn("user", "A"), Turn("bot", "B"), Turn("user", "C")], "C", [(0, "A"), (1, "B")]),
    ([Turn("user", "A"), Turn("bot", "B")], "A", [(1, "B")]),
    ([Turn("bot", "B")], "", [(0, "B")]),
    ([], "", []),
]


@pytest.mark.parametrize(("given", "question", "earlier"), CHATS)
def test_the_last_customer_turn_is_the_question_and_the_others_are_earlier_turns(given, question, earlier):
    case = Case(input=given, response="r")
    assert case.question == question
    assert [(at, turn.content) for at, turn in case.earlier_turns] == earlier
