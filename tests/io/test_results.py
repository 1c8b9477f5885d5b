"""Results are written as they come; a file has its name only when it is complete."""

import csv
import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import NotRequired, TypedDict

import pytest
from pyarrow import parquet

import touchstone
from touchstone.core.codec import result_from_dict, result_to_dict
from touchstone.core.errors import ConfigError, InputError
from touchstone.core.result import Anchor, Dismissed, Evidence, Failure, Finding, Grade, Grading, Result, Score, Waived
from touchstone.io.result_tables import CRITERIA, flat_columns, nested_schema, results_from_batch, results_to_batch
from touchstone.io.results import check_target, open_results
from touchstone.rubric.parse import packaged
from touchstone.runs.evaluate import METRICS

ANCHOR = Anchor(
    "duration", "30 days", 9, 16, "30 day", "contradicted", "reply says 30 days, source says 14 days",
    (Evidence("context[0]", 0, 7, "14 days"),),
)  # fmt: skip
GRADING = Grading(
    rubric="supportai", version="1.0", judge="offline",
    grades=(
        Grade("accuracy", 1, 1.3, 10.0, 0.8, "a figure differs from the source"),
        Grade("tone", None, None, None, None, "…"),
        Grade("warmth", 3, 2.9, 7.5, 0.4, "…"),
        Grade("safety", 0, 0.0, 0.0, 1.0, "…"),
    ),
    violations=(
        Finding("hallucination", "30 days", 9, 16, "…", (Evidence("context[0]", 0, 7, "14 days"),)),
        Finding("pii_leakage", "John Smith", 20, 30, "…"),
        Finding("pii_leakage", "4242", 34, 38, "…"),
    ),
    issues=("should state the 14-day window", "should not name John"),
    total=None, outcome="FAIL", reasons=("safety",),
)  # fmt: skip
SCORED = Result(
    id="c-17",
    decision="block",
    verdict="FAIL",
    reasons=("hallucination 1.00 > 0.50",),
    metrics={
        "relevance": Score("relevance", 0.21, "…", {"s_cosine": 0.27, "s_jaccard": 0.15}),
        "completeness": Score("completeness", None, "…", {"keywords": ["fee"], "missing": []}),
        "hallucination": Score(
            "hallucination", 1.0, "…", {"s_claims": 1.0, "p_drift": 0.0, "ngram_overlap": 0.4}, "FAIL", (ANCHOR,)
        ),
    },
    rubric=GRADING,
)
FAILED = Result(None, "review", None, (), None, (Failure("read", "InvalidJson", "not valid JSON"),), 41)


def write(target, *results):
    write_all(target, results)


def write_all(target, results):
    with open_results(str(target)) as write_one:
        for result in results:
            write_one(result)


@pytest.mark.parametrize("name", ["out.jsonl", "out.ndjson", "out.JSONL"])
def test_json_lines_hold_the_contract_s_objects_in_order(tmp_path, name):
    write(tmp_path / name, SCORED, FAILED)
    lines = (tmp_path / name).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [result_to_dict(SCORED), result_to_dict(FAILED)]


def test_a_dash_is_stdout_as_json_lines(capfdbinary):
    write("-", SCORED, FAILED)
    lines = capfdbinary.readouterr().out.splitlines()
    assert [result_from_dict(json.loads(line)) for line in lines] == [SCORED, FAILED]


@pytest.mark.parametrize(("name", "delimiter"), [("out.csv", ","), ("out.tsv", "\t")])
def test_a_table_has_one_flat_row_for_each_result(tmp_path, name, delimiter):
    write(tmp_path / name, SCORED, FAILED)
    with (tmp_path / name).open(encoding="utf-8", newline="") as stream:
        scored, failed = csv.DictReader(stream, delimiter=delimiter)
    assert tuple(scored) == flat_columns()
    assert {name: cell for name, cell in scored.items() if cell} == {
        "id": "c-17", "decision": "block", "verdict": "FAIL", "reasons": "hallucination 1.00 > 0.50",
        "relevance": "0.21", "hallucination": "1.0", "hallucination_flag": "FAIL",
        "anchors_supported": "0", "anchors_derived": "0", "anchors_contradicted": "1", "anchors_unsupported": "0",
        "rubric": "supportai", "rubric_version": "1.0", "judge": "offline", "outcome": "FAIL",
        "outcome_reasons": "safety", "grade_accuracy": "1", "grade_safety": "0",
        "grades": "accuracy 1; tone not graded; warmth 3; safety 0", "violations": "hallucination 1; pii_leakage 2",
        "issues": "should state the 14-day window; should not name John",
    }  # fmt: skip
    assert {name: cell for name, cell in failed.items() if cell} == {
        "line": "41", "decision": "review", "failures": "read: not valid JSON",
    }  # fmt: skip


@pytest.mark.parametrize("id", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", " @x", "\u200b＋1"])
def test_no_cell_of_a_table_is_a_formula(tmp_path, id):
    write(tmp_path / "out.csv", Result(id, "review", None, (), None))
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert row["id"] == f"'{id}"


def test_parquet_holds_the_nested_objects(tmp_path):
    write(tmp_path / "out.parquet", SCORED, FAILED)
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.schema.equals(nested_schema())
    assert results_from_batch(table) == [SCORED, FAILED]


def test_parquet_has_what_few_results_have():
    """What was waived or dismissed, votes that differ, facts that were not checked and sources that were not read."""
    finding = GRADING.violations[0]
    grading = replace(
        GRADING, flip_rate=0.2, waived=(Waived(finding, "lea", "2026", "…"),), dismissed=(Dismissed(finding, "…", "…"),)
    )
    parts = {"s_claims": 1.0, "p_drift": 0.0, "ngram_overlap": 0.4, "unchecked": 7, "not_understood": ["context[0]: …"]}
    metrics = {"hallucination": Score("hallucination", 1.0, "…", parts, anchors=())}
    rare = replace(SCORED, rubric=grading, metrics=metrics)
    assert results_from_batch(results_to_batch([rare])) == [rare]


class Brevity(TypedDict):
    words: int
    longest: NotRequired[str]


def test_a_metric_that_is_added_to_the_list_is_written_and_read_in_every_format(tmp_path, monkeypatch):
    """As CONTRIBUTING.md says: its module and the list, nothing in core or io."""
    monkeypatch.setitem(METRICS, "brevity", METRICS["relevance"]._replace(parts=Brevity))
    score = Score("brevity", 0.9, "short", {"words": 7}, "WARN")
    added = replace(SCORED, metrics={**SCORED.metrics, "brevity": score})
    write(tmp_path / "out.jsonl", added)
    assert result_from_dict(json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))) == added
    write(tmp_path / "out.parquet", added, SCORED)
    assert results_from_batch(parquet.read_table(tmp_path / "out.parquet")) == [added, SCORED]
    write(tmp_path / "out.csv", added)
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["brevity"], row["brevity_flag"]) == ("0.9", "WARN")


def test_parquet_is_written_in_row_groups(tmp_path):
    write(tmp_path / "out.parquet", *[SCORED] * 2500)
    file = parquet.ParquetFile(tmp_path / "out.parquet")
    assert (file.metadata.num_rows, file.metadata.num_row_groups) == (2500, 3)


def test_the_tables_know_every_metric_and_part_that_is_scored():
    case = touchstone.Case(input="Is it $5?", response="It is $5.", context=["It costs $5."])
    row = result_to_dict(touchstone.score(case))
    assert list(row["metrics"]) == list(METRICS)
    schema = nested_schema()
    assert set(schema.names) == {*row, "line", "verifier"}
    for metric in METRICS:
        assert {field.name for field in schema.field("metrics").type.field(metric).type} == {
            *row["metrics"][metric],
            *METRICS[metric].parts.__optional_keys__,
        }
    anchors = schema.field("metrics").type.field("hallucination").type.field("anchors").type.value_type
    assert {field.name for field in anchors} == set(row["metrics"]["hallucination"]["anchors"][0])
    rubric = schema.field("rubric").type
    # These are only there where there is any.
    assert [field.name for field in rubric] == [*row["rubric"], "flip_rate", "waived", "dismissed"]
    grade = rubric.field("criteria").type.item_type
    assert [field.name for field in grade] == list(row["rubric"]["criteria"]["accuracy"])


def test_a_violation_in_parquet_has_the_contract_s_fields(tmp_path):
    schema = nested_schema().field("rubric").type.field("violations").type.value_type
    assert [field.name for field in schema] == list(result_to_dict(SCORED)["rubric"]["violations"][0])


def test_the_shipped_rubric_s_criteria_have_a_column_each():
    assert tuple(criterion.name for criterion in packaged("supportai").criteria) == CRITERIA


def test_no_cell_of_a_table_quotes_what_was_leaked(tmp_path):
    write(tmp_path / "out.csv", SCORED)
    assert "John Smith" not in (tmp_path / "out.csv").read_text(encoding="utf-8")


def test_a_rubric_s_own_texts_are_no_formulas_either(tmp_path):
    grading = replace(GRADING, rubric="=1+1", issues=("+1", "b"), grades=(Grade("@x", 3, 3.0, 3.0, 1.0, "…"),))
    write(tmp_path / "out.csv", replace(SCORED, rubric=grading))
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["rubric"], row["issues"], row["grades"]) == ("'=1+1", "'+1; b", "'@x 3")


def interrupted():
    yield SCORED
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.parquet"])
def test_when_something_fails_nothing_is_left_and_an_older_file_stays(tmp_path, name):
    (tmp_path / name).write_text("older")
    with pytest.raises(KeyboardInterrupt):
        write_all(tmp_path / name, interrupted())
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "older"


def test_an_older_file_is_replaced_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text("older")
    path.chmod(0o640)
    write(path, FAILED)
    assert json.loads(path.read_text())["line"] == 41
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_keeps_pointing_at_the_file_that_is_written(tmp_path):
    (tmp_path / "real.jsonl").write_text("older")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    write(tmp_path / "link.jsonl", FAILED)
    assert (tmp_path / "link.jsonl").is_symlink()
    assert "older" not in (tmp_path / "real.jsonl").read_text()


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    link = tmp_path / "null.jsonl"
    link.symlink_to(os.devnull)
    write(link, FAILED)
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize("name", ["out.xlsx", "out", "out.json", "out.jsonl.gz"])
def test_an_unknown_ending_is_refused_with_the_known_ones(tmp_path, name):
    with pytest.raises(ConfigError, match=r"does not end in one of \.jsonl, \.ndjson, \.csv, \.tsv, \.parquet"):
        check_target(str(tmp_path / name), source="cases.jsonl")


def test_results_never_replace_the_cases(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text("{}")
    with pytest.raises(ConfigError, match="would replace the cases"):
        check_target(str(path), source=str(path))


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(InputError, match=r"cannot be written \(No such file or directory\): .*-o"):
        write(tmp_path / "missing" / "out.jsonl", SCORED)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder\.csv cannot be written \(Is a directory\)"):
        write(tmp_path / "folder.csv", SCORED)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_full_disk_is_an_error_with_the_remedy(tmp_path, ending):
    link = tmp_path / f"full.{ending}"
    link.symlink_to("/dev/full")
    with pytest.raises(InputError, match=r"No space left on device\): free some space"):
        write(link, SCORED)
