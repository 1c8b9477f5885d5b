"""`touchstone.arrow`: batches of cases to batches of results, the same as line by line."""

import doctest
import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripts.make_tiny_verifier import write_verifier

import touchstone as ts
from touchstone import arrow
from touchstone.arrow import result_schema, results_from_batch, score_batch, score_batches
from touchstone.core.codec import case_from_dict, result_to_dict
from touchstone.core.errors import ConfigError, InputError
from touchstone.core.result import Failure, Result
from touchstone.io.result_tables import nested_schema, results_to_batch

GOLD = Path(ts.__file__).parent / "data/goldsets"
ROWS = [
    {"id": "a", "input": "When?", "response": "On 3 May.", "context": ["Due on 3 May."], "day": 1},
    {"id": None, "input": "When?", "response": "On 4 May.", "context": ["Due on 3 May."], "day": 2},
    {"id": "a", "input": "", "response": "", "context": None, "day": 3},
    {"id": "d", "input": "When?", "response": None, "context": [], "day": 4},
]


def dicts(batch):
    return [result_to_dict(result) for result in results_from_batch(batch)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["support", "industries"])
def test_a_gold_set_comes_back_bit_for_bit(name):
    cases = [case_from_dict(json.loads(line)) for line in (GOLD / f"{name}.jsonl").read_text().splitlines()]
    results = [ts.score(case) for case in cases]
    assert dicts(results_to_batch(results)) == [result_to_dict(result) for result in results]


def test_a_batch_gives_what_each_row_gives_alone():
    batch = pa.RecordBatch.from_pylist(ROWS)
    scored = dicts(score_batch(batch))
    alone = [dicts(score_batch(batch.slice(at, 1)))[0] for at in range(len(ROWS))]
    assert [{**row, "line": None} for row in scored] == [{**row, "line": None} for row in alone]
    assert scored[0] == result_to_dict(ts.score(case_from_dict(ROWS[0])))


def test_a_case_without_an_id_is_named_by_its_content_and_repeated_ids_are_left_alone():
    first, second, third, _ = dicts(score_batch(pa.RecordBatch.from_pylist(ROWS)))
    assert (first["id"], len(second["id"]), third["id"]) == ("a", 16, "a")


def test_a_row_that_is_no_case_is_a_failure_in_its_place():
    *_, failed = dicts(score_batch(pa.RecordBatch.from_pylist(ROWS)))
    assert (failed["line"], failed["decision"], failed["failures"][0]["error"]) == (4, "review", "CaseError")


def test_the_schema_is_always_the_same():
    assert score_batch(pa.RecordBatch.from_pylist(ROWS)).schema.equals(result_schema())
    assert result_schema().equals(nested_schema())
    assert score_batch(pa.RecordBatch.from_pylist(ROWS).slice(0, 0)).schema.equals(result_schema())


def test_kept_columns_stand_beside_the_results_with_their_types():
    batch = pa.RecordBatch.from_pylist(ROWS)
    scored = score_batch(batch, keep=["day", "id"])
    assert scored.schema.equals(result_schema(batch.schema, keep=["day", "id"]))
    assert scored.column("day").to_pylist() == [1, 2, 3, 4]
    assert scored.column("input_id").to_pylist() == ["a", None, "a", "d"]


def test_columns_plan_rubric_and_policy_are_taken():
    batch = pa.RecordBatch.from_pylist([{"reply": "It is due on 3 May.", "input": "When is it due?"}])
    strict = score_batch(batch, columns={"reply": "response"}, plan=ts.Plan(relevance_fail=1.0))
    assert strict.column("verdict").to_pylist() == ["FAIL"]


def test_batches_stream():
    asked = []

    def batches():
        for at in range(3):
            asked.append(at)
            yield pa.RecordBatch.from_pylist(ROWS[:1])

    scored = score_batches(batches())
    assert next(scored).num_rows == 1
    assert asked == [0]


def test_what_cannot_be_used_is_said():
    batch = pa.RecordBatch.from_pylist(ROWS)
    with pytest.raises(ConfigError, match="keep names 'week', which is no column of the batch: id, input"):
        score_batch(batch, keep=["week"])
    twice = pa.RecordBatch.from_arrays([pa.array(["r"]), pa.array(["r"])], names=["response", "response"])
    with pytest.raises(InputError, match="names column 'response' twice"):
        score_batch(twice)


TYPES = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_every_arrow_type_of_text_is_read(type):
    batch = pa.RecordBatch.from_arrays([pa.array(["On 3 May."], type)], names=["response"])
    assert dicts(score_batch(batch))[0]["failures"] == []


@given(st.lists(st.tuples(st.text(st.characters(codec="utf-8")), st.integers(1, 9)), max_size=4))
def test_failed_rows_come_back_whatever_they_say(rows):
    results = [Result(text, "review", None, (text,), None, (Failure("read", text, text),), line) for text, line in rows]
    assert results_from_batch(results_to_batch(results)) == results


def test_the_example_in_the_docstring_is_true():
    outcome = doctest.testmod(arrow)
    assert (outcome.attempted > 0, outcome.failed) == (True, 0)


def test_a_batch_is_read_by_the_verifier_wherever_it_is_cut(tmp_path):
    pytest.importorskip("onnxruntime")
    home = write_verifier(tmp_path / "tiny", ["supported", "unsupported"])
    batch = pa.RecordBatch.from_pylist(ROWS[:2])
    whole = dicts(score_batch(batch, verifier=home))
    assert [row["verifier"]["name"] for row in whole] == ["tiny", "tiny"]
    parts = score_batches([batch.slice(at, 1) for at in range(2)], verifier=home)
    assert whole == [row for part in parts for row in dicts(part)]


def test_results_of_before_there_was_a_verifier_are_read():
    batch = score_batch(pa.RecordBatch.from_pylist(ROWS[:1]))
    old = batch.drop_columns(["verifier"])
    assert dicts(old) == dicts(batch)
