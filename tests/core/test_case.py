"""A case is an immutable value, whatever forms its parts were given in."""

import pickle
from dataclasses import FrozenInstanceError

import pytest
from tests.tables import over

from touchstone.core.case import Case, Passage, Turn
from touchstone.core.errors import CaseError

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


WRONG = [
    ({"response": None}, "field 'response' is null, allowed is a string"),
    ({"response": 7}, "field 'response' is a number, allowed is a string"),
    ({"response": b"r"}, "field 'response' is a bytes, allowed is a string"),
    ({"input": None}, "field 'input' is null, allowed is a string or a list of turns"),
    ({"input": {"role": "user", "content": "Hi"}}, "field 'input' is an object, allowed is a string or a list"),
    ({"input": ["Hi"]}, r"field 'input\[0\]' is a string, allowed is an object {role, content}"),
    ({"input": [{"role": "user"}]}, r"field 'input\[0\].content' is null"),
    ({"input": [Turn("user", None)]}, r"field 'input\[0\].content' is null"),
    ({"context": 5}, "field 'context' is a number, allowed is a string, or a list"),
    ({"context": {"text": "A"}}, "field 'context' is an object"),
    ({"context": [None]}, r"field 'context\[0\]' is null, allowed is a string or an object {id, text}"),
    ({"context": [Passage(None)]}, r"field 'context\[0\].text' is null"),
    ({"context": [{"id": 1.5, "text": "A"}]}, r"field 'context\[0\].id' is a number, allowed is a string or a whole"),
    ({"expected_output": ["A"]}, "field 'expected_output' is a list, allowed is a string"),
    ({"id": 1.5}, "field 'id' is a number, allowed is a string or a whole number"),
    ({"category": 3}, "field 'category' is a number, allowed is a string"),
    ({"confidence": "high"}, "field 'confidence' is a string, allowed is a number from 0 to 1"),
    ({"confidence": True}, "field 'confidence' is a boolean"),
    ({"confidence": float("nan")}, "field 'confidence' is nan"),
    ({"confidence": 10**400}, "allowed is a number from 0 to 1"),
    ({"labels": 5}, "field 'labels' is a number, allowed is a list of Labels"),
    ({"labels": [{"tone": 3}]}, r"field 'labels\[0\]' is an object, allowed is a Label"),
    ({"metadata": ["a"]}, "field 'metadata' is a list, allowed is an object"),
    ({"metadata": {1: "a"}}, "field 'metadata' is an object, allowed is an object whose names are strings"),
    ({"metadata": {"response": "other"}}, "metadata has the name of the field 'response'"),
]


@over(("fields", "message"), WRONG)
def test_a_field_of_another_type_is_named_with_what_is_allowed(fields, message):
    with pytest.raises(CaseError, match=message):
        Case(**{"response": "r"} | fields)


def test_a_whole_number_is_an_id_too():
    assert Case(id=17, response="r", context=[{"id": 3, "text": "A"}]).context[0].id == "3"
    assert Case(id=17, response="r").id == "17"


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
