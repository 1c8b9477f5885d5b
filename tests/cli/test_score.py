"""`touchstone score`: files, stdin and flags in; results, notices and exit codes out."""

import csv
import io
import json
import sys
from dataclasses import replace

import pytest

from touchstone.app import score as app

GOOD = {"id": "a", "input": "q", "response": "a long reply"}


def write_lines(path, *rows):
    raw = b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)
    path.write_bytes(raw)


def results_of(text):
    return [json.loads(line) for line in text.splitlines()]


def test_good_rows_give_results_on_stdout_and_exit_code_0(run, tmp_path):
    write_lines(tmp_path / "cases.jsonl", GOOD, {**GOOD, "id": "b"})
    ended = run("score", "cases.jsonl")
    assert [result["id"] for result in results_of(ended.out)] == ["a", "b"]
    assert (ended.code, ended.err) == (0, "")


BAD_ROWS = {
    "broken JSON": (b"{broken", "expecting property name enclosed in double quotes (line 2, column 2)"),
    "no reply": ({"id": "b", "input": "q"}, "field 'response' is missing"),
    "a wrong type": ({"id": "b", "response": ["r"]}, "field 'response' is a list, allowed is a string"),
    "a repeated id": ({**GOOD, "response": "other"}, "line 1 has the same id"),
    "invalid UTF-8": (b'{"response": "\xff"}', "is not UTF-8: save the file as UTF-8"),
    "NUL bytes": (b"\x00\x00", "not valid JSON"),
    "HTML": (b"<html>", "not valid JSON"),
    "a reply of 5 MB": ({"id": "b", "response": "x" * 5_000_000}, "the reply is too long"),
}


@pytest.mark.parametrize(("bad", "message"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_a_bad_row_keeps_its_place_is_named_on_stderr_and_gives_exit_code_3(run, tmp_path, bad, message):
    write_lines(tmp_path / "cases.jsonl", GOOD, bad, {**GOOD, "id": "c"})
    ended = run("score", "cases.jsonl")
    first, failed, last = results_of(ended.out)
    assert ended.code == 3
    assert (first["id"], first["verdict"], last["id"], last["verdict"]) == ("a", "PASS", "c", "PASS")
    assert (failed["line"], failed["decision"], failed["verdict"], failed["metrics"]) == (2, "review", None, None)
    assert ended.err.startswith("cases.jsonl:2: ")
    assert message in ended.err
    assert ended.err.count("\n") == 1


ODD_ROWS = [
    {"id": "b", "response": ""},
    {"id": "b", "input": "", "response": "r"},
    {"id": "b", "response": "9" * 10_000},
    {"id": "b", "response": "(" * 10_000},
    {"id": "b", "response": "😀 \u202eשלום\u0000 <script>"},
]


@pytest.mark.parametrize("row", ODD_ROWS)
def test_odd_text_is_no_failure(run, tmp_path, row):
    write_lines(tmp_path / "cases.jsonl", row)
    ended = run("score", "cases.jsonl")
    assert (ended.code, len(results_of(ended.out))) == (0, 1)


def test_at_most_twenty_failed_rows_are_named_and_the_rest_counted(run, tmp_path):
    write_lines(tmp_path / "cases.jsonl", GOOD, *[b"{"] * 1234)
    ended = run("score", "cases.jsonl")
    assert len(results_of(ended.out)) == 1235
    assert ended.err.count("cases.jsonl:") == 20
    assert ended.err.endswith("… and 1,214 more failed rows\n")


def test_no_notice_quotes_a_customer(run, tmp_path):
    secret = "4111 1111 1111 1111"
    rows = [
        {"response": 5, "input": secret},
        {"id": secret, "response": secret},
        {"id": secret, "response": "r"},
        {"response": "r", "answer": "x", "input": {"text": secret}},
        {"answer": secret, "output": "r"},
        f'{{"response": "{secret}'.encode(),
        f'{{"response": "r", "confidence": "{secret}"}}'.encode(),
    ]
    write_lines(tmp_path / "cases.jsonl", *rows)
    ended = run("score", "cases.jsonl")
    assert ended.err.count("cases.jsonl:") == 6
    assert secret not in ended.err
    messages = [result["failures"][0]["message"] for result in results_of(ended.out) if result["failures"]]
    assert secret not in "".join(messages)


COULD_NOT_START = {
    "a file that is not there": (["nowhere.jsonl"], "nowhere.jsonl does not exist"),
    "an empty file": (["empty.jsonl"], "empty.jsonl holds no cases"),
    "a table with a header only": (["header.csv"], "header.csv holds no cases"),
    "a directory": (["folder"], "folder is a directory"),
    "an unknown ending": (["cases.xlsx"], "cases.xlsx does not end in one of"),
    "a truncated Parquet file": (["cut.parquet"], "cut.parquet is not a complete Parquet file"),
    "nothing": ([], "nothing to score: give a file of cases"),
    "only a question": (["--input", "q"], "nothing to score"),
    "a file and a case": (["cases.jsonl", "--response", "r"], "give a file or one case, not both"),
    "an unknown output": (["cases.jsonl", "-o", "out.xlsx"], "-o out.xlsx does not end in one of .jsonl"),
    "an output over the input": (["cases.jsonl", "-o", "cases.jsonl"], "would replace the cases"),
    "an output nowhere": (["cases.jsonl", "-o", "no/where.csv"], "no/where.csv cannot be written"),
    "an unknown format": (["cases.jsonl", "--format", "xml"], "--format xml is not known: allowed are jsonl"),
    "an unknown threshold": (["cases.jsonl", "--set", "relevence_fail=1"], "nearest is 'relevance_fail'"),
    "a threshold without value": (["cases.jsonl", "--set", "relevance_fail"], "is not of the form left=right"),
    "a column for nothing": (["cases.jsonl", "--map", "reply=respons"], "nearest is 'response'"),
    "an id that is not there": (["cases.jsonl", "--id", "x"], "has no case with the id 'x'"),
    "a configuration that is not there": (["cases.jsonl", "--config", "x.yaml"], "x.yaml cannot be read"),
    "a rubric that nobody knows": (["cases.jsonl", "--rubric", "suportai"], "nearest is 'supportai'"),
    "a rubric that is not there": (["cases.jsonl", "--rubric", "own.yaml"], "own.yaml does not exist"),
    "a rubric that is a directory": (["cases.jsonl", "--rubric", "folder"], "folder cannot be read (Is a directory)"),
    "a rubric that is none": (["cases.jsonl", "--rubric", "empty.jsonl"], "empty.jsonl:1: a rubric is a mapping"),
    "for people and machines": (["cases.jsonl", "--explain", "--json"], "choose one"),
    "an unknown flag": (["cases.jsonl", "--frobnicate"], "No such option"),
}


@pytest.mark.parametrize(("arguments", "message"), COULD_NOT_START.values(), ids=COULD_NOT_START.keys())
def test_what_cannot_start_is_one_clear_line_and_exit_code_2(run, tmp_path, arguments, message):
    write_lines(tmp_path / "cases.jsonl", GOOD)
    (tmp_path / "empty.jsonl").write_text("\n\n")
    (tmp_path / "header.csv").write_text("response\n")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and then nothing")
    (tmp_path / "folder").mkdir()
    before = sorted(path.name for path in tmp_path.iterdir())
    ended = run("score", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def files_of(tmp_path):
    """The same two cases in every format, the customer's message under a name of its own."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = [{"id": id, "Customer Message": "q", "response": "a long reply"} for id in "ab"]
    write_lines(tmp_path / "cases.jsonl", *rows)
    (tmp_path / "cases.json").write_text(json.dumps(rows))
    (tmp_path / "cases.csv").write_text("id,Customer Message,response\na,q,a long reply\nb,q,a long reply\n")
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "cases.parquet")
    return ["cases.jsonl", "cases.json", "cases.csv", "cases.parquet"]


def test_a_mapped_column_that_no_row_has_is_refused_with_the_nearest(run, tmp_path):
    for file in files_of(tmp_path):
        ended = run("score", file, "--map", "Custmer Message=input")
        said = f"no row of {file} has a column 'Custmer Message'; nearest is 'Customer Message'"
        assert (ended.code, ended.out, f"--map Custmer Message=input: {said}" in ended.err) == (2, "", True), ended
        assert run("score", file, "--map", "Customer Message=input").code == 0
    ended = run("score", "cases.csv", "--map", "xyz=input")
    assert "there are 'id', 'Customer Message', 'response'" in ended.err


def test_a_mapped_column_may_be_in_some_rows_only(run, tmp_path):
    write_lines(tmp_path / "cases.jsonl", GOOD, b"{", {**GOOD, "id": "b", "note": "x"})
    assert run("score", "cases.jsonl", "--map", "note=expected_output").code == 3


def test_a_mapped_column_that_stdin_lacks_is_an_error_at_its_end(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(json.dumps(GOOD).encode()))))
    ended = run("score", "-", "--map", "Custmer Message=input")
    assert (ended.code, "no row of stdin has a column 'Custmer Message'" in ended.err) == (2, True)


def test_columns_of_the_configuration_speak_of_many_files_and_may_be_missing(run, tmp_path):
    write_lines(tmp_path / "cases.jsonl", GOOD)
    (tmp_path / "touchstone.yaml").write_text("columns: {Customer Message: input}\n")
    assert run("score", "cases.jsonl").code == 0


def test_a_dash_reads_stdin(run, monkeypatch):
    raw = json.dumps(GOOD).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(raw + b"\n{"))))
    ended = run("score", "-")
    assert [result["id"] for result in results_of(ended.out)] == ["a", None]
    assert ended.err.startswith("stdin:2: ")


def test_one_case_can_be_given_by_flags(run):
    ended = run("score", "--input", "q", "--response", "a long reply", "--context", "one", "--context", "two")
    (result,) = results_of(ended.out)
    assert (ended.code, result["verdict"], len(result["id"])) == (0, "PASS", 16)


def test_a_case_given_by_flags_reaches_the_scorer_whole(run, monkeypatch):
    seen = []

    def evaluate(case, **options):
        seen.append(case)
        return app.failed(case.id, app.Failure("score", "…", "…"))

    run("score", "--response", "r")
    monkeypatch.setattr(app, "evaluate", evaluate)
    flags = ["--input", "q", "--context", "one", "--context", "two", "--expected", "e", "--id", "mine"]
    ended = run("score", "--response", "r", *flags)
    (case,) = seen
    assert (case.id, case.input, case.response, case.expected_output) == ("mine", "q", "r", "e")
    assert [passage.text for passage in case.context] == ["one", "two"]
    assert ended.code == 3


def test_a_flag_that_is_not_utf8_is_refused(run):
    ended = run("score", "--response", "caf\udce9")
    assert (ended.code, "not UTF-8" in ended.err) == (2, True)


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.tsv", "out.parquet"])
def test_results_go_to_a_file_by_its_ending(run, tmp_path, name):
    write_lines(tmp_path / "cases.jsonl", GOOD)
    ended = run("score", "cases.jsonl", "-o", name)
    assert (ended.code, ended.out, ended.err) == (0, "", f"1 results written to {name}\n")
    assert (tmp_path / name).stat().st_size > 0


def test_every_format_gives_the_same_results(run, tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    rows = [GOOD, {**GOOD, "id": "b", "response": "short"}]
    write_lines(tmp_path / "cases.jsonl", *rows)
    (tmp_path / "cases.json").write_text(json.dumps(rows))
    with (tmp_path / "cases.csv").open("w", newline="") as stream:
        table = csv.DictWriter(stream, list(GOOD))
        table.writeheader()
        table.writerows(rows)
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "cases.parquet")
    outputs = {run("score", f"cases.{ending}").out for ending in ("jsonl", "json", "csv", "parquet")}
    assert len(outputs) == 1


def test_columns_and_thresholds_are_taken_from_flags_and_file(run, tmp_path):
    write_lines(tmp_path / "cases.jsonl", {"reply": "r"})
    assert run("score", "cases.jsonl").code == 3
    (tmp_path / "touchstone.yaml").write_text("thresholds: {relevance_fail: 0.9}\ncolumns: {reply: response}\n")
    assert results_of(run("score", "cases.jsonl").out)[0]["verdict"] == "FAIL"
    ended = run("score", "cases.jsonl", "--set", "relevance_fail=0.05", "--map", "reply=response")
    assert results_of(ended.out)[0]["verdict"] == "PASS"


def test_the_rubric_is_taken_from_flag_and_file(run, tmp_path, monkeypatch):
    seen = []

    def evaluate(case, *, rubric, policy, **options):
        seen.append((rubric.name, policy.company))
        return app.failed(case.id, app.Failure("score", "…", "…"))

    run("score", "--response", "r")
    monkeypatch.setattr(app, "evaluate", evaluate)
    (tmp_path / "own.yaml").write_text(
        "{name: own, version: 1, reviewed: 2025-06-01, pass_mark: 60,"
        " criteria: [{name: warmth, weight: 100, levels: {0: cold, 4: warm}}]}"
    )
    (tmp_path / "touchstone.yaml").write_text("rubric: own.yaml\npolicy: {company: Acme}\n")
    run("score", "--response", "r")
    run("score", "--response", "r", "--rubric", "supportai")
    (tmp_path / "touchstone.yaml").unlink()
    run("score", "--response", "r")
    run("score", "--response", "r", "--rubric", "own.yaml")
    assert seen == [("own", "Acme"), ("supportai", "Acme"), ("supportai", None), ("own", None)]


def test_explain_shows_cases_for_people_instead_of_json(run, tmp_path):
    write_lines(tmp_path / "cases.jsonl", GOOD, b"{", {**GOOD, "id": "b"})
    ended = run("score", "cases.jsonl", "--explain")
    assert ended.code == 3
    assert "a  send  outcome none  verdict PASS" in ended.out
    assert "b  send  outcome none  verdict PASS" in ended.out
    assert '{"id"' not in ended.out
    assert ended.err.startswith("cases.jsonl:2: ")


def test_explain_can_pick_one_case_and_write_a_file_beside(run, tmp_path):
    write_lines(tmp_path / "cases.jsonl", GOOD, {**GOOD, "id": "b"})
    ended = run("score", "cases.jsonl", "--explain", "--id", "b", "-o", "out.jsonl")
    assert "b  send  outcome none  verdict PASS" in ended.out
    assert "a  PASS" not in ended.out
    assert [result["id"] for result in results_of((tmp_path / "out.jsonl").read_text())] == ["b"]


def test_the_summary_is_on_stderr_when_the_results_are_on_stdout(run, tmp_path):
    write_lines(tmp_path / "cases.jsonl", GOOD)
    ended = run("score", "cases.jsonl", "--summary")
    assert len(results_of(ended.out)) == 1
    assert "1 row, 0 failed" in ended.err


def test_the_summary_is_on_stdout_when_the_results_are_in_a_file(run, tmp_path):
    write_lines(tmp_path / "cases.jsonl", GOOD)
    assert "1 row, 0 failed" in run("score", "cases.jsonl", "-o", "out.csv", "--summary").out
    ended = run("score", "cases.jsonl", "-o", "out.csv", "--summary", "--json")
    assert json.loads(ended.out)["decisions"] == {"send": 1, "review": 0, "block": 0}


def test_quiet_leaves_stderr_empty(run, tmp_path):
    write_lines(tmp_path / "cases.jsonl", GOOD, b"{")
    ended = run("score", "cases.jsonl", "--quiet", "-o", "out.jsonl")
    assert (ended.code, ended.out, ended.err) == (3, "", "")


def test_an_interruption_says_what_was_written_and_gives_exit_code_130(run, tmp_path, monkeypatch):
    write_lines(tmp_path / "cases.jsonl", GOOD, {**GOOD, "id": "b"})
    evaluate = app.evaluate

    def stopped(case, **options):
        if case.id == "b":
            raise KeyboardInterrupt
        return evaluate(case, **options)

    monkeypatch.setattr(app, "evaluate", stopped)
    ended = run("score", "cases.jsonl")
    assert (ended.code, len(results_of(ended.out))) == (130, 1)
    assert "interrupted after 1 rows" in ended.err
    ended = run("score", "cases.jsonl", "-o", "out.csv")
    assert (ended.code, "out.csv was not written" in ended.err) == (130, True)
    assert [path.name for path in tmp_path.iterdir()] == ["cases.jsonl"]


def test_a_defect_shows_where_it_is_and_no_customer_text(run, tmp_path, monkeypatch):
    secret = " ".join(["4111", *["1111"] * 3])

    def defect(*arguments, **options):
        raise KeyError(secret)

    monkeypatch.setattr(app, "score_entries", defect)
    write_lines(tmp_path / "cases.jsonl", GOOD)
    ended = run("score", "cases.jsonl")
    assert ended.code == 2
    assert "a defect, KeyError" in ended.err
    assert secret not in ended.err


def test_redact_takes_personal_data_out_of_what_is_written(run, tmp_path, monkeypatch):
    case = {"id": "a", "input": "q", "response": "I paid with 4111 1111 1111 1111, says jo.brown@gmail.com."}
    write_lines(tmp_path / "a.jsonl", case, case)
    evaluate = app.evaluate
    quoting = lambda case, **known: replace(evaluate(case, **known), reasons=(f"it says {case.response}",))  # noqa: E731
    monkeypatch.setattr(app, "evaluate", quoting)
    assert "4111" in run("score", "a.jsonl").out
    ended = run("score", "a.jsonl", "--redact")
    assert [json.loads(line)["id"] for line in ended.out.splitlines()] == ["a", None]
    assert not any(text in ended.out for text in ("4111", "jo.brown"))


def test_redact_and_explain_exclude_each_other(run, tmp_path):
    ended = run("score", "--response", "Yes.", "--explain", "--redact")
    assert (ended.code, "--redact removes personal data: choose one" in ended.err) == (2, True)
