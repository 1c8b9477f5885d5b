"""Gold sets by name, and read with or without replies."""

import json
from pathlib import Path

import pytest

from touchstone.app.config import Settings
from touchstone.app.goldset import check_file, locate, packaged_goldsets, read_goldset
from touchstone.core.case import Case
from touchstone.core.errors import ConfigError, InputError


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def write(name, *rows):
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def test_the_sets_that_ship_are_found_by_name():
    assert packaged_goldsets() == ("industries", "support")
    assert len(read_goldset("support")) == 130
    assert all(isinstance(entry.case, Case) for name in packaged_goldsets() for entry in read_goldset(name))


def test_a_file_of_that_name_here_wins():
    write("support", {"response": "mine"})
    assert locate("support") == "support"
    assert [entry.case.response for entry in read_goldset("support", format="jsonl")] == ["mine"]
    Path("industries").mkdir()
    assert locate("industries").endswith("industries.jsonl")


@pytest.mark.parametrize("name", ["-", "gold.jsonl", "some/where", "data/support.csv"])
def test_a_path_stays_as_it_is(name):
    assert locate(name) == name


@pytest.mark.parametrize(
    ("name", "hint"), [("suport", "nearest is 'support'"), ("zzz", "packaged are industries, support")]
)
def test_an_unknown_name_is_refused_with_the_nearest(name, hint):
    with pytest.raises(InputError, match=hint):
        locate(name)


@pytest.mark.parametrize(
    ("row", "columns", "response"),
    [
        ({"input": "Hi", "expected_output": "Hello"}, {}, ""),
        ({"input": "Hi", "response": None}, {}, ""),
        ({"input": "Hi", "response": "Hello"}, {}, "Hello"),
        ({"input": "Hi", "actual_output": "Hello"}, {}, "Hello"),
        ({"input": "Hi", "bot says": "Hello"}, {"bot says": "response"}, "Hello"),
    ],
)
def test_a_case_may_be_without_a_reply(row, columns, response):
    write("gold.jsonl", row)
    (entry,) = read_goldset("gold.jsonl", columns=columns)
    assert entry.case.response == response


def test_cases_with_a_repeated_id_are_still_checked_for_the_rest():
    write("gold.jsonl", {"id": "a", "input": "One?"}, {"id": "a", "input": ""}, {"id": "b", "input": 3})
    findings = check_file("gold.jsonl", settings=Settings(), near=0.7, thin=5)
    by_code = {each.code: each for each in findings.problems}
    assert (findings.rows, findings.cases) == (3, 2)
    assert by_code["repeated-id"].lines == (1, 2)
    assert by_code["no-input"].lines == (2,)
    assert by_code["unreadable"].lines == (3,)
    assert by_code["unreadable"].message.startswith("field 'input' is a number")


def test_a_set_is_not_held_against_itself():
    with pytest.raises(ConfigError, match="is the file that is checked"):
        check_file("support", settings=Settings(), against=locate("support"), near=0.7, thin=5)
