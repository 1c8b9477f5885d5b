"""A case is read once: question, reply, sources in their order, and dates counted from the case's own day."""

from dataclasses import replace
from datetime import date

import pytest

from touchstone.core.case import Case, Passage, Turn
from touchstone.text.reading import read

CHAT = [
    Turn("user", "Hi, I have a question about order 5."),
    Turn("assistant", "Sure, it left on 3 March."),
    Turn("customer", "When will it arrive?"),
    Turn("agent", "Let me look."),
]


def sources(**fields):
    found = read(Case(response="Soon.", **fields)).sources
    return None if found is None else [(source.name, source.raw) for source in found]


def test_the_last_customer_turn_is_the_question_and_its_asks_are_found():
    reading = read(Case(input=CHAT, response="Soon."))
    assert reading.question.raw == "When will it arrive?"
    assert [ask.text for ask in reading.asks] == ["When will it arrive?"]


def test_the_other_turns_are_evidence_before_the_question():
    assert sources(input=CHAT, context=["Passage."]) == [
        ("context[0]", "Passage."),
        ("input[0]", CHAT[0].content),
        ("input[1]", CHAT[1].content),
        ("input[3]", CHAT[3].content),
        ("input", "When will it arrive?"),
    ]


@pytest.mark.parametrize("role", ["user", "User", "customer", "human", "client", "visitor"])
def test_a_customer_may_go_by_several_roles(role):
    chat = [{"role": role, "content": "Where is it?"}]
    assert read(Case(input=chat, response="Here.")).question.raw == "Where is it?"


@pytest.mark.parametrize("chat", [[], [Turn("assistant", "Hello!")], [Turn("user", "  ")], "", " \n"])
def test_without_words_of_the_customer_there_is_no_question(chat):
    reading = read(Case(input=chat, response="Hello."))
    assert reading.question is None
    assert reading.asks == ()


SOURCES = [
    ({"context": ["A", Passage("B", "p-2")]}, [("context[0]", "A"), ("context[1]", "B")]),
    ({"context": [{"id": "p-3", "text": "C"}]}, [("context[0]", "C")]),
    ({"context": "one string"}, [("context[0]", "one string")]),
    ({"context": []}, []),
    ({"context": [], "input": "Q?"}, [("input", "Q?")]),
    ({"expected_output": "E"}, [("expected_output", "E")]),
    ({"expected_output": "E", "input": "Q?"}, [("expected_output", "E"), ("input", "Q?")]),
    ({"context": ["A"], "expected_output": "E"}, [("context[0]", "A")]),
    ({"context": [], "expected_output": "E"}, []),
    ({"input": "Q?"}, None),
    ({}, None),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "expected"), SOURCES)
def test_context_is_the_evidence_and_the_expected_reply_stands_in_for_it(fields, expected):
    assert sources(**fields) == expected


DAYS = [
    ("date", "2025-03-03", ["2025-03-04"]),
    ("reference_date", date(2025, 3, 3), ["2025-03-04"]),
    ("timestamp", "2025-03-03T23:59:00Z", ["2025-03-04"]),
    ("created_at", "2024-02-28 10:00", ["2024-02-29"]),
    ("date", "3 March", []),
    ("date", "2025-13-45", []),
    ("date", 20250303, []),
    ("channel", "2025-03-03", []),
]


@pytest.mark.parametrize(("field", "day", "expected"), DAYS)
def test_tomorrow_is_a_date_where_the_case_says_which_day_it_is(field, day, expected):
    reading = read(Case(response="It arrives tomorrow.", metadata={field: day}))
    assert [value.canonical for value in reading.reply.values] == expected


RELATIVE = [
    ("today", "2025-03-05"),
    ("yesterday", "2025-03-04"),
    ("the day after tomorrow", "2025-03-07"),
    ("this Friday", "2025-03-07"),
    ("next Monday", "2025-03-10"),
    ("last Monday", "2025-03-03"),
    ("in 3 days", "2025-03-08"),
    ("in two weeks", "2025-03-19"),
    ("5 days ago", "2025-02-28"),
    ("next month", "2025-04"),
]


@pytest.mark.parametrize(("words", "expected"), RELATIVE)
def test_relative_dates_are_counted_from_the_reference_date(words, expected):
    reading = read(Case(response=f"It arrives {words}.", metadata={"date": "2025-03-05"}))
    assert [value.canonical for value in reading.reply.values] == [expected]


def test_a_link_in_the_expected_reply_is_no_list_of_alternatives():
    case = Case(
        response="See acme.example/returns.", expected_output="Use https://acme.example/returns.", context=["-"]
    )
    assert read(case).expected.raw == "Use https://acme.example/returns."
    names = Case(response="It was Ross Bagdasarian.", expected_output="David Seville/Ross Bagdasarian", context=["-"])
    assert read(names).expected.raw == "Ross Bagdasarian"


def test_a_case_is_read_once_and_its_parse_is_kept():
    case = Case(input="Is theft covered?", response="The warranty covers theft. It might cover loss.")
    reading = read(case)
    assert read(replace(case, id="another")) is reading
    assert [(clause.lemma, clause.hedged) for clause in reading.clauses] == [("cover", False), ("cover", True)]
    verb = reading.clauses[0].verb
    assert case.response[verb.start : verb.end] == "covers"
