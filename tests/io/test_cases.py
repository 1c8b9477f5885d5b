"""Rows become cases with an id each; a row that is no case fails in its place."""

import pytest

from touchstone.core.case import Case, Turn
from touchstone.core.codec import case_hash
from touchstone.core.errors import InputError
from touchstone.core.result import Failure
from touchstone.io.cases import SeenIds, read_cases
from touchstone.io.rows import Row, unreadable


def cases_of(*contents, **options):
    rows = [Row("f", line, content) for line, content in enumerate(contents, 1)]
    return [entry.case for entry in read_cases(rows, file="f", **options)]


def ids_of(*contents):
    return [None if isinstance(case, Failure) else case.id for case in cases_of(*contents)]


def test_an_explicit_id_is_kept_and_a_number_becomes_text():
    assert ids_of({"id": "c-1", "response": "r"}, {"id": 2, "response": "r"}) == ["c-1", "2"]


def test_a_case_without_id_is_named_by_its_content_and_counted_when_repeated():
    name = case_hash(Case(response="r"))
    other = case_hash(Case(response="s"))
    contents = [{"response": "r"}, {"response": "s"}, {"response": "r"}, {"response": "r", "channel": "mail"}]
    assert ids_of(*contents) == [name, other, f"{name}-2", f"{name}-3"]


def test_a_repeated_explicit_id_fails_and_names_the_first_line():
    first, second, third = cases_of(
        {"id": "a", "response": "r"}, {"id": "b", "response": "r"}, {"id": "a", "response": "s"}
    )
    assert (first.id, second.id) == ("a", "b")
    assert third.error == "DuplicateId"
    assert "line 1 has the same id" in third.message


def test_a_content_name_makes_way_for_an_explicit_id_and_the_other_way_round():
    name = case_hash(Case(response="r"))
    assert ids_of({"id": name, "response": "x"}, {"response": "r"}) == [name, f"{name}-2"]
    assert ids_of({"response": "r"}, {"id": name, "response": "x"}) == [name, None]


def test_an_unreadable_row_keeps_its_place():
    failure = unreadable("InvalidJson", "…")
    assert cases_of({"id": "a", "response": "r"}, failure)[1] is failure


WRONG = {
    "no reply": ({"input": "q"}, "field 'response' is missing"),
    "a reply that is a number": ({"response": 5}, "field 'response' is a number, allowed is a string"),
    "a reply that is an object": ({"response": {"text": "r"}}, "field 'response' is an object"),
    "an input that is a number": ({"response": "r", "input": 5}, "field 'input' is a number"),
    "a turn without role": ({"response": "r", "input": [{"content": "q"}]}, "field 'input[0].role' is null"),
    "a context of numbers": ({"response": "r", "context": [1]}, "field 'context[0]' is a number"),
    "an id that is a list": ({"response": "r", "id": ["a"]}, "field 'id' is a list"),
    "a confidence of 2": ({"response": "r", "confidence": 2}, "field 'confidence' is 2"),
    "a confidence of many digits": ({"response": "r", "confidence": 10**400}, "allowed is a number from 0 to 1"),
    "a grade that is no number": (
        {"response": "r", "labels": [{"tone": float("nan")}]},
        "allowed is a whole number or null",
    ),
    "labels that are text": ({"response": "r", "labels": "good"}, "field 'labels' is a string"),
}


@pytest.mark.parametrize(("content", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_field_of_the_wrong_kind_fails_the_row_by_name(content, message):
    good, failure = cases_of({"response": "r"}, content)
    assert isinstance(good, Case)
    assert failure.error == "CaseError"
    assert message in failure.message


def test_odd_text_is_no_reason_to_fail():
    texts = ["", "\x00", "<b>html</b>", "😀", "\u202eשלום", "9" * 10_000, "(" * 10_000, "x" * 5_000_000]
    assert [case.response for case in cases_of(*({"response": text} for text in texts))] == texts


def test_the_columns_of_the_user_are_taken():
    (case,) = cases_of(
        {"reply": "r", "chat": [{"type": "human", "content": "q"}]}, columns={"reply": "response", "chat": "input"}
    )
    assert (case.response, case.input) == ("r", (Turn("user", "q"),))


def test_a_file_without_rows_is_an_error():
    with pytest.raises(InputError, match="f holds no cases"):
        cases_of()


def test_seen_ids_hold_what_was_noted_through_their_growth():
    seen = SeenIds()
    for number in range(1, 10_000):
        seen.note(f"id {number}", number)
    seen.note("id 5", 7)
    assert [seen.get(f"id {number}") for number in (1, 5, 9_999)] == [1, 7, 9_999]
    assert seen.get("id 0") == 0
