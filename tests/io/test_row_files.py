"""Rows written as they were read: the same columns, the same order, the same values."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.errors import ConfigError, InputError
from touchstone.core.result import Failure
from touchstone.io.files import open_rows
from touchstone.io.row_files import check_rows_target, write_rows
from touchstone.io.rows import Row

plain_text = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=12)
values = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | plain_text | st.lists(plain_text, max_size=3)
objects = st.dictionaries(st.sampled_from(["id", "Größe", "input", "note", "context"]), values, min_size=1)


def read(path):
    with open_rows(str(path)) as rows:
        return [row.content for row in rows]


@given(st.lists(objects, min_size=1, max_size=5))
def test_json_lines_come_back_as_they_were(tmp_path_factory, contents):
    path = tmp_path_factory.mktemp("rows") / "out.jsonl"
    write_rows([Row("in", at, content) for at, content in enumerate(contents)], str(path))
    again = read(path)
    assert again == contents
    assert [list(row) for row in again] == [list(row) for row in contents]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@given(st.lists(st.fixed_dictionaries({"b": plain_text, "a": plain_text, "c": st.just("x")}), min_size=1, max_size=5))
def test_tables_come_back_as_they_were(tmp_path_factory, ending, contents):
    path = tmp_path_factory.mktemp("rows") / f"out.{ending}"
    write_rows([Row("in", at, content, is_text=True) for at, content in enumerate(contents)], str(path))
    assert read(path) == contents
    header = path.read_text(encoding="utf-8").splitlines()[0]
    assert header == ("," if ending == "csv" else "\t").join(contents[0])


def test_a_json_file_as_a_table_has_every_column_and_lists_as_json(tmp_path):
    contents = [{"id": 1, "context": ["a", "b"], "response": "x"}, {"id": 2, "extra": True, "response": "y"}]
    write_rows([Row("in", at, content) for at, content in enumerate(contents)], str(tmp_path / "out.csv"))
    assert read(tmp_path / "out.csv") == [
        {"id": "1", "context": '["a", "b"]', "response": "x", "extra": ""},
        {"id": "2", "context": "", "response": "y", "extra": "true"},
    ]


def test_a_table_as_json_gets_the_types_its_cells_stand_for(tmp_path):
    content = {"id": "7", "actual_output": "", "retrieval_context": '["a"]', "confidence": "0.5", "note": "", "n": "5"}
    bad = {"response": "x", "confidence": "high"}
    rows = [Row("in", 1, content, is_text=True), Row("in", 2, bad, is_text=True)]
    write_rows(rows, str(tmp_path / "out.jsonl"))
    assert read(tmp_path / "out.jsonl") == [
        {"id": "7", "actual_output": "", "retrieval_context": ["a"], "confidence": 0.5, "n": "5"},
        bad,
    ]


def test_cells_that_look_like_formulas_are_counted_and_kept(tmp_path):
    rows = [
        Row("in", 1, {"a": "=1+1", "b": "fine", "c": -5}),
        Row("in", 2, {"a": "@x"}),
        Row("in", 3, Failure("", "", "")),
    ]
    assert write_rows(rows, str(tmp_path / "out.csv")) == 2
    assert [row["a"] for row in read(tmp_path / "out.csv")] == ["=1+1", "@x"]
    assert write_rows(rows, str(tmp_path / "out.jsonl")) == 0


def test_stdout_gets_json_lines(capsysbinary):
    write_rows([Row("in", 1, {"a": "ä"})], "-")
    assert json.loads(capsysbinary.readouterr().out) == {"a": "ä"}


def test_a_target_is_refused_before_anything_is_read(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text("{}")
    with pytest.raises(ConfigError, match=r"does not end in one of \.jsonl"):
        check_rows_target("out.parquet", source=str(source))
    with pytest.raises(ConfigError, match="would replace the cases"):
        check_rows_target(str(source), source=str(source))
    check_rows_target("-", source=str(source))
    with pytest.raises(InputError, match="cannot be written"):
        write_rows([], str(tmp_path / "nowhere" / "out.csv"))
