"""Replies of a second file are joined to the cases by id; what does not fit is named."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.parquet import write_table

from touchstone.core.case import Draft, Passage
from touchstone.core.errors import InputError
from touchstone.core.result import Failure
from touchstone.io.responses import collect_responses, read_responses
from touchstone.io.rows import Row, unreadable


def collected(*contents, **options):
    rows = [Row("replies.jsonl", line, content) for line, content in enumerate(contents, 1)]
    return collect_responses(rows, file="replies.jsonl", **options)


def drafts(replies, id):
    return [found.reply if isinstance(found, Draft) else found.error for found in replies.of(id)]


ROWS = [
    {"id": "a", "response": "One.", "confidence": 0.5, "context": ["Passage."]},
    {"id": "b", "response": "Two."},
    {"id": "a", "response": "Three.", "confidence": None},
]
FILES = {
    "replies.jsonl": lambda path: path.write_text("\n".join(map(json.dumps, ROWS))),
    "replies.json": lambda path: path.write_text(json.dumps(ROWS)),
    "replies.csv": lambda path: path.write_text(
        'id,response,confidence,context\na,One.,0.5,"[""Passage.""]"\nb,Two.,,\na,Three.,,\n'
    ),
    "replies.parquet": lambda path: write_table(pa.Table.from_pylist(ROWS), path),
}


@pytest.mark.parametrize(("name", "write"), FILES.items())
def test_every_format_of_cases_holds_replies(tmp_path, name, write):
    write(tmp_path / name)
    replies = read_responses(str(tmp_path / name))
    assert replies.file == str(tmp_path / name)
    assert replies.of("a") == (Draft("One.", 0.5, (Passage("Passage."),)), Draft("Three."))
    assert replies.of("b") == (Draft("Two."),)
    assert replies.of("c") == ()
    assert replies.hash == collected(*ROWS).hash


def test_other_names_for_the_columns_are_taken():
    assert drafts(collected({"id": 7, "actual_output": "Hi."}), "7") == ["Hi."]
    columns = {"ticket": "id", "text": "response"}
    assert drafts(collected({"ticket": "t-1", "text": "Hi.", "id": "other"}, columns=columns), "t-1") == ["Hi."]


@pytest.mark.parametrize("numbers", [(3, 1, 2), (3.0, 1.0, 2.0), ("3", "1", "2")], ids=["whole", "decimal", "text"])
def test_numbered_drafts_come_in_the_order_of_their_numbers(numbers):
    found = collected(*({"id": "a", "response": str(int(at)), "draft": at} for at in numbers))
    assert drafts(found, "a") == ["1", "2", "3"]


def test_a_draft_without_number_takes_the_next_free_one():
    rows = [{"draft": 2}, {}, {"draft": 1}]
    found = collected(*({"id": "a", "response": str(at), **row} for at, row in enumerate(rows)))
    assert drafts(found, "a") == ["2", "0", "1"]


def test_a_number_that_is_taken_is_a_failure_that_names_the_line():
    found = collected({"id": "a", "response": "x", "draft": 1}, {"id": "a", "response": "y", "draft": 1})
    assert drafts(found, "a") == ["x", "DuplicateDraft"]
    assert found.of("a")[1].message == (
        "replies.jsonl, line 2: the case has a draft 1 already, on line 1: number each of them once"
    )


WRONG = {
    "no reply": ({}, "line 2: field 'response' is missing"),
    "a reply of null": ({"response": None}, "field 'response' is missing"),
    "a reply that is a list": ({"response": []}, "field 'response' is a list, allowed is a string"),
    "a confidence of 2": ({"response": "r", "confidence": 2}, "field 'confidence' is 2"),
    "draft 0": ({"response": "r", "draft": 0}, "field 'draft' does not number a draft"),
    "draft one": ({"response": "r", "draft": "one"}, "field 'draft' does not number a draft"),
    "draft 1.5": ({"response": "r", "draft": 1.5}, "field 'draft' does not number a draft"),
    "draft true": ({"response": "r", "draft": True}, "field 'draft' does not number a draft"),
    "a draft of many digits": ({"response": "r", "draft": "9" * 5000}, "field 'draft' does not number a draft"),
}


@pytest.mark.parametrize(("row", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_row_that_is_wrong_is_a_failure_of_its_case(row, message):
    replies = collected({"id": "good", "response": "r"}, {"id": "bad", **row})
    (failure,) = replies.of("bad")
    assert isinstance(failure, Failure)
    assert message in failure.message
    assert replies.missing(["good", "bad"]) == ()
    assert replies.strays({"good", "bad"}) == ()


def test_ids_that_no_reply_names_are_missing():
    assert collected(*ROWS).missing(["a", "c", "b", "d"]) == ("c", "d")


def test_an_empty_reply_is_a_reply(tmp_path):
    (tmp_path / "r.csv").write_text("id,response\na,\n")
    assert read_responses(str(tmp_path / "r.csv")).of("a") == (Draft(""),)


def test_replies_to_no_case_are_named_with_their_lines_and_the_nearest_id():
    replies = collected(
        {"id": "order-17", "response": "r"},
        {"response": "r"},
        {"id": "order-18x", "response": "r"},
        unreadable("InvalidJson", "not valid JSON"),
        {"id": "zzz", "response": "r"},
        {"id": "order-18x", "response": "s"},
    )
    strays = replies.strays({"order-17", "order-18"})
    assert [(stray.line, stray.id, stray.failure.error) for stray in strays] == [
        (2, None, "MissingId"),
        (3, "order-18x", "UnknownId"),
        (4, None, "InvalidJson"),
        (5, "zzz", "UnknownId"),
        (6, "order-18x", "UnknownId"),
    ]
    assert strays[1].failure.message == (
        "replies.jsonl, line 3: no case has the id 'order-18x'; nearest is 'order-18': correct it, or leave the row out"
    )
    assert "nearest" not in strays[3].failure.message


def test_the_nearest_id_is_looked_for_a_few_times_only_and_not_among_too_many():
    replies = collected(*({"id": f"case {at}x", "response": "r"} for at in range(100)))
    strays = replies.strays({f"case {at}" for at in range(100)})
    assert ["nearest" in stray.failure.message for stray in strays] == [True] * 10 + [False] * 90
    assert not any("nearest" in stray.failure.message for stray in replies.strays({str(at) for at in range(10_001)}))


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ([], "replies.jsonl holds no replies: write one for each row, with the fields 'id' and 'response'"),
        ([{"response": "r"}], "the first row: replies.jsonl, line 1: the reply has no id"),
        ([unreadable("InvalidJson", "not valid JSON")], "the first row: replies.jsonl, line 1: not valid JSON"),
    ],
)
def test_a_file_in_which_no_row_names_a_case_is_an_error(contents, message):
    with pytest.raises(InputError, match=message):
        collected(*contents)


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_responses(str(tmp_path / "nowhere.jsonl"))


def test_the_hash_changes_with_what_is_said_and_not_with_the_order_of_cases():
    a, b = {"id": "a", "response": "r"}, {"id": "b", "response": "s"}
    same = collected(a, b).hash
    assert collected(b, a).hash == same
    for changed in ({"response": "t"}, {"confidence": 0.1}, {"context": []}, {"id": "c"}, {"draft": 2}):
        assert collected(a, b | changed).hash != same


FIELDS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text(), max_size=2)


@given(st.lists(st.dictionaries(st.sampled_from(["id", "response", "confidence", "context", "draft"]), FIELDS)))
def test_every_row_is_a_draft_a_failure_or_a_stray(rows):
    try:
        replies = collected(*rows)
    except InputError:
        return
    ids = {str(row["id"]) for row in rows if isinstance(row.get("id"), str | int)}
    assert sum(len(replies.of(id)) for id in ids) + len(replies.strays(ids)) == len(rows)
