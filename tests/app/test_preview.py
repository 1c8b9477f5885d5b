"""A file before it is scored: which column gives which field, and what a choice by hand changes of that."""

import pytest

from touchstone.app.config import Settings
from touchstone.app.preview import map_columns, preview_file
from touchstone.core.errors import InputError

NAMES = ("ticket", "question", "answer", "context", "agent_text")
MAPPED = {
    "as the file has it": ({"input": "question", "response": "answer"}, {}),
    "another column": ({"response": "agent_text"}, {"agent_text": "response"}),
    "two exchanged": (
        {"response": "agent_text", "expected_output": "answer"},
        {"agent_text": "response", "answer": "expected_output"},
    ),
    "none": ({"context": ""}, {"context": ""}),
    "none of its own, which another field has": ({"context": "", "category": "context"}, {"context": "category"}),
}


@pytest.mark.parametrize(("chosen", "mapped"), MAPPED.values(), ids=MAPPED)
def test_a_choice_changes_what_it_differs_in(chosen, mapped):
    assert map_columns(chosen, names=NAMES, settings=Settings()) == mapped


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"response": "nope"}, "no column 'nope'"),
        ({"input": "answer", "response": "answer"}, "'input' and for 'response'"),
    ],
)
def test_a_choice_that_cannot_be_meant_is_refused(chosen, said):
    with pytest.raises(InputError, match=said):
        map_columns(chosen, names=NAMES, settings=Settings())


def test_rows_are_shown_as_they_are_read(tmp_path):
    path = tmp_path / "replies.jsonl"
    path.write_text(
        '{"question": [{"role": "user", "content": "Hi"}], "answer": "Yes.", "contexts": ["a", "b"], '
        '"confidence": 0.5}\n'
        '{"question": "Q", "answer": 7}\n'
        f'{{"answer": "{"x" * 500}", "extra": 1}}\n'
    )
    found = preview_file(path, name="week.jsonl", settings=Settings(), mapped={})
    assert (found.format, found.rows, found.readable) == ("jsonl", 3, 2)
    assert found.fields == {
        "input": "question",
        "response": "answer",
        "context": "contexts",
        "confidence": "confidence",
    }
    assert found.unused == ("extra",)
    (_, first), (line, second) = found.first
    assert first == {"input": "user: Hi", "response": "Yes.", "context": "a · b", "confidence": "0.5"}
    assert line == 3
    assert len(second["response"]) == 241
    assert found.unread == ((2, "field 'response' is a number, allowed is a string"),)
    assert found.problem == ""


def test_a_column_that_is_to_give_nothing_gives_nothing(tmp_path):
    path = tmp_path / "replies.csv"
    path.write_text("response,category\nYes.,returns\n")
    found = preview_file(path, name="week.csv", settings=Settings(), mapped={"category": ""})
    assert found.fields == {"response": "response"}
