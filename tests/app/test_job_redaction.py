"""A job with `redact`: no byte that it writes holds the personal data of a row, however the row ends."""

import gzip
import json
from pathlib import Path

import pytest
from tests.app.jobs import manifest, run, score_small, table, write_lines
from tests.fragments import left_of

from touchstone.app import score
from touchstone.app.config import Settings
from touchstone.app.jobs import work
from touchstone.app.jobs.report import open_finished
from touchstone.core.errors import ConfigError
from touchstone.report.job import render_job_html

REDACTS = Settings(redacts=True)
PERSONAL = {
    "card": "4111 1111 1111 1111",
    "email": "maria.gonzalez@example.com",
    "name": "John Smith",
    "address": "123 Main Street",
    "phone": "+44 20 7946 0018",
    "iban": "DE89 3704 0044 0532 0130 00",
    "social security number": "078-05-1120",
}


def leaking(text, **more):
    """A row whose every text holds the same piece of personal data."""
    said = f"The order was placed by John Smith. On record we have: {text}. It ships within 3 days."
    return {
        "id": "leak",
        "input": f"I am John Smith, and I asked about {text}. When does it ship?",
        "context": [{"id": "passage", "text": f"Order 98765. Customer John Smith, {text}. Ships within 5 days."}],
        "expected_output": f"It ships within 5 days to John Smith, {text}.",
        "response": said,
        "note": f"see {text}",
        "labels": [{"rater": "a", "accuracy": 1, "reason": f"it names {text}"}],
        **more,
    }


def written():
    """Everything in the directory of the job, as text, compressed files and tables opened."""
    texts = []
    for path in sorted(path for path in Path("out").rglob("*") if path.is_file()):
        raw = path.read_bytes()
        texts.append((gzip.decompress(raw) if path.name.endswith(".gz") else raw).decode("utf-8", "replace"))
    return "\n".join(texts)


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("shard_format", ["parquet", "jsonl"])
@pytest.mark.parametrize("kind", PERSONAL)
def test_no_byte_of_what_is_written_holds_personal_data(kind, shard_format):
    text = PERSONAL[kind]
    write_lines("in/part=1/a.jsonl", [leaking(text), {**leaking(text), "response": [text]}, b'{"id": "x", ' + b"\n"])
    run("in", settings=REDACTS, shard_format=shard_format, keep=("note",))
    Path("out/report.html").write_text(render_job_html(open_finished("out").view()), encoding="utf-8")
    content = written()
    if shard_format == "parquet":
        content += json.dumps(table().to_pylist(), ensure_ascii=False)
    assert left_of((text, "John Smith", text.replace(" ", "")), content.encode()) == []
    assert manifest()["plan"]["redact"] is True


def test_a_leak_is_still_found_and_scores_are_those_of_the_row_as_it_came():
    order = "John Smith, 123 Main Street, Anytown. Card 4111 1111 1111 1111"
    said = f"Order 98765 was placed by {order}. It will ship within 3 days."
    context = [f"Order 98765: {order}. Ships within 5 days."]
    write_lines("in/a.jsonl", [{"id": "leak", "input": "Where is my order?", "response": said, "context": context}])
    run("in", settings=REDACTS)
    (kept_row,) = table().to_pylist()
    run("in", settings=Settings(), output="plain")
    plain = json.loads(Path("plain/summary.json").read_text())
    assert json.loads(Path("out/summary.json").read_text())["metrics"] == plain["metrics"]
    violations = kept_row["rubric"]["violations"]
    assert "pii_leakage" in {each["kind"] for each in violations}
    assert any("[card]" in each["text"] for each in violations)


def test_without_it_the_shards_are_as_they_were():
    write_lines("in/a.jsonl", [leaking(PERSONAL["card"])])
    run("in", settings=Settings(), keep=("note",))
    assert PERSONAL["card"] in json.dumps(table().to_pylist())


def test_a_job_is_not_resumed_under_the_other_setting():
    write_lines("in/a.jsonl", [leaking(PERSONAL["card"])])
    run("in", settings=REDACTS)
    with pytest.raises(ConfigError, match=r"started with another redact \(True, now False\)"):
        run("in", settings=Settings())


def test_a_row_that_cannot_be_redacted_is_withheld_and_the_others_are_written(monkeypatch, tmp_path):
    score_small(monkeypatch, tmp_path)
    redact_reply = score.redact_reply

    def failing(row):
        if row.case.id == "b":
            raise ValueError(row.case.response)
        return redact_reply(row)

    monkeypatch.setattr(score, "redact_reply", failing)
    card = PERSONAL["card"]
    write_lines("a.jsonl", [{"id": id, "input": "q", "response": f"paid with {card}"} for id in "abc"])
    run("a.jsonl", settings=REDACTS)
    rows = table().to_pylist()
    assert [row["id"] for row in rows] == ["a", "b", "c"]
    assert [[each["error"] for each in row["failures"]] for row in rows] == [[], ["ValueError"], []]
    assert card not in written()


def test_a_column_name_that_is_a_customers_text_is_not_kept_in_the_manifest(monkeypatch, tmp_path):
    monkeypatch.setattr(work, "load_models", lambda: None)
    Path("a.csv").write_text(f"{PERSONAL['email']},x\n1,2\n")
    run("a.csv", settings=REDACTS)
    assert "a.csv has no column for 'response'" in json.dumps(manifest())
    assert PERSONAL["email"] not in written()
