"""`touchstone score -o DIRECTORY`: many inputs in; shards, notices and exit codes out."""

import json
from pathlib import Path

import pytest

from touchstone.app import score as app
from touchstone.app.jobs import work

GOOD = {"id": "a", "input": "q", "response": "a long reply"}


@pytest.fixture(autouse=True)
def _without_models(monkeypatch):
    monkeypatch.setattr(work, "load_models", lambda: None)


def write_lines(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows))


def test_many_inputs_go_to_a_directory_and_give_exit_code_0(run, tmp_path):
    write_lines(tmp_path / "a.jsonl", GOOD)
    write_lines(tmp_path / "b.jsonl", GOOD, {**GOOD, "id": "b"})
    ended = run("score", "a.jsonl", "b.jsonl", "-o", "out")
    assert (ended.code, ended.out, ended.err) == (
        0,
        "",
        "3 results in 2 shards written to out\nfor the report: touchstone report out\n",
    )
    ended = run("score", "a.jsonl", "b.jsonl", "-o", "out")
    assert ended.err.startswith("resuming out: 3 rows in 2 shards are done\n")


def test_a_mapped_column_has_to_be_in_some_input(run, tmp_path):
    write_lines(tmp_path / "in/a.jsonl", GOOD)
    write_lines(tmp_path / "in/b.jsonl", {**GOOD, "note": "x"})
    (tmp_path / "in/c.parquet").write_bytes(b"PAR1 and then nothing")
    for flags in (["-o", "out"], ["--dry-run"]):
        ended = run("score", "in", *flags, "--map", "nite=expected_output")
        assert (ended.code, "no row of the 3 files has a column 'nite'; nearest is 'note'" in ended.err) == (2, True)
        assert not (tmp_path / "out").exists()
    assert run("score", "in/a.jsonl", "in/b.jsonl", "-o", "out", "--map", "note=expected_output").code == 0


def test_failed_rows_and_inputs_are_named_and_give_exit_code_3(run, tmp_path):
    write_lines(tmp_path / "in/a.jsonl", GOOD, b"{")
    (tmp_path / "in/b.parquet").write_bytes(b"PAR1 and then nothing")
    ended = run("score", "in", "-o", "out")
    assert ended.code == 3
    assert ended.err.startswith("in/a.jsonl:2: not valid JSON")
    assert "in/b.parquet is not a complete Parquet file" in ended.err
    assert "2 results in 1 shard written to out, 1 of them failed rows" in ended.err
    assert "1 input could not be read to the end: fix it and run the same command again" in ended.err


def test_the_summary_is_on_stdout(run, tmp_path):
    write_lines(tmp_path / "in/dt=1/a.jsonl", GOOD)
    write_lines(tmp_path / "in/dt=2/a.jsonl", GOOD)
    ended = run("score", "in", "-o", "out", "--summary")
    assert "2 rows, 0 failed" in ended.out
    assert "dt=2" in ended.out
    found = json.loads(run("score", "in", "-o", "out", "--json").out)
    assert [each["partition"] for each in found["partitions"]] == [{"dt": "1"}, {"dt": "2"}]


def test_an_interruption_keeps_what_is_written_and_gives_exit_code_130(run, tmp_path, monkeypatch):
    write_lines(tmp_path / "a.jsonl", *({**GOOD, "id": str(at)} for at in range(9)))
    evaluate = app.evaluate

    def stopped(case, **options):
        if case.id == "7":
            raise KeyboardInterrupt
        return evaluate(case, **options)

    monkeypatch.setattr(app, "evaluate", stopped)
    ended = run("score", "a.jsonl", "-o", "out", "--shard-rows", "3")
    assert ended.code == 130
    assert "interrupted; 2 shards are kept, and the same command resumes from there" in ended.err
    monkeypatch.setattr(app, "evaluate", evaluate)
    ended = run("score", "a.jsonl", "-o", "out", "--shard-rows", "3")
    assert (ended.code, "9 results in 3 shards" in ended.err) == (0, True)


def test_a_dry_run_says_what_it_would_take_and_writes_nothing(run, tmp_path):
    write_lines(tmp_path / "a.jsonl", GOOD)
    ended = run("score", "a.jsonl", "--dry-run", "--engine", "processes", "--workers", "3")
    assert (ended.code, ended.err) == (0, "")
    assert "1 files, 0.0 MB, about 1 rows" in ended.out
    assert "with 3 workers (processes)" in ended.out
    assert json.loads(run("score", "a.jsonl", "--dry-run", "--json").out)["rows"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_the_log_has_the_rows_that_failed_and_no_text_of_theirs(run, tmp_path):
    write_lines(tmp_path / "a.jsonl", {"id": "s", "response": ["4111 1111"]})
    run("score", "a.jsonl", "-o", "out", "--log", "log.jsonl", "--quiet")
    events = [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]
    (failed,) = [event for event in events if event["event"] == "row_failed"]
    assert (failed["file"], failed["line"], failed["error"]) == ("a.jsonl", 1, "CaseError")
    assert "4111" not in str(events)


COULD_NOT_START = {
    "many inputs to a file": (["a.jsonl", "a.jsonl", "-o", "out.jsonl"], "2 inputs need a directory"),
    "stdin to a directory": (["-", "-o", "out"], "stdin cannot be read again"),
    "one case of a directory": (["a.jsonl", "-o", "out", "--id", "a"], "--id and --explain show single cases"),
    "an unknown engine": (["a.jsonl", "--engine", "spark"], "--engine spark is not known"),
    "an unknown kind of shard": (["a.jsonl", "-o", "out", "--shard-format", "csv"], "allowed are parquet, jsonl"),
    "a missing input": (["nowhere/*.jsonl", "-o", "out"], "matches no file of cases"),
    "a log nowhere": (["a.jsonl", "-o", "out", "--log", "no/where.jsonl"], "--log no/where.jsonl cannot be written"),
}


@pytest.mark.parametrize(("arguments", "message"), COULD_NOT_START.values(), ids=COULD_NOT_START.keys())
def test_what_cannot_start_is_one_clear_line_and_exit_code_2(run, tmp_path, arguments, message):
    write_lines(tmp_path / "a.jsonl", GOOD)
    ended = run("score", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.slow
def test_a_single_file_gives_the_same_bytes_by_every_engine_on_one_machine(run, tmp_path, monkeypatch):
    from touchstone.runs.evaluate import evaluate

    monkeypatch.setattr(app, "evaluate", evaluate)
    rows = [{"id": str(at), "input": "When is it due?", "response": f"On {at} May.", "context": ["Due on 3 May."]}
            for at in range(1, 40)]  # fmt: skip
    write_lines(tmp_path / "a.jsonl", *rows, b"{")
    assert run("score", "a.jsonl", "-o", "serial.jsonl").code == 3
    assert run("score", "a.jsonl", "-o", "processes.jsonl", "--engine", "processes", "--workers", "2").code == 3
    assert (tmp_path / "serial.jsonl").read_bytes() == (tmp_path / "processes.jsonl").read_bytes()


def test_a_job_is_opened_by_the_command_that_opens_runs(run, tmp_path):
    write_lines(tmp_path / "in/dt=1/a.jsonl", GOOD, {**GOOD, "id": "b"})
    write_lines(tmp_path / "in/dt=2/a.jsonl", GOOD)
    assert run("score", "in", "-o", "out").code == 0
    ended = run("report", "out")
    assert (ended.code, ended.err) == (0, "wrote out/report.html\n")
    assert "job report" in (tmp_path / "out/report.html").read_text()
    assert "3 rows, 0 failed" in run("report", "out", "--format", "terminal").out
    assert json.loads(run("report", "out", "--format", "json").out)["rows"] == 3
    assert run("report", "out/manifest.json", "--format", "md").out.startswith("## Touchstone: ")
    refused = run("report", "out", "--format", "junit")
    assert (refused.code, "allowed are terminal, json, html, md" in refused.err) == (2, True)
