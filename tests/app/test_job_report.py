"""The directory of a job opens as the report that a run has, from small files beside its shards."""

import json
from pathlib import Path

import pytest
from tests.app.jobs import rows, run, small_evaluate, write_lines

from touchstone.app import score
from touchstone.app.jobs import work
from touchstone.app.jobs.report import JOB_RENDERERS, is_job, open_finished
from touchstone.core.errors import InputError
from touchstone.engines.engine import Serial
from touchstone.runs.tags import Tag

LEAK = Tag("leaked card", "bot safety", "it said so")


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.setattr(score, "evaluate", small_evaluate)
    monkeypatch.setattr(work, "load_models", lambda: None)
    monkeypatch.setattr("touchstone.runs.record.find_tags", tags)
    monkeypatch.chdir(tmp_path)


def tags(case, result):
    return (LEAK,) if "leak" in case.response else ()


def leaking(count, *, every, **more):
    return [row | {"response": f"leak of {row['id']}"} if at % every == 0 else row
            for at, row in enumerate(rows(count, **more))]  # fmt: skip


def write_job():
    write_lines("in/dt=1/a.jsonl", leaking(40, every=8, category="billing"))
    write_lines("in/dt=2/b.jsonl", [*leaking(15, every=3, category="<b>delivery"), b"{broken\n"])
    Path("in/dt=2/c.parquet").write_bytes(b"PAR1 and nothing else")
    return run("in")


def page():
    return JOB_RENDERERS["html"](open_finished("out").view())


def test_the_summary_has_patterns_in_all_and_by_partition():
    summary = write_job()
    (pattern,) = summary.patterns
    assert (pattern.name, pattern.count, pattern.owner) == ("leaked card", 10, "bot safety")
    assert [dict(each.patterns) for each in summary.partitions] == [{"leaked card": 5}, {"leaked card": 5}]
    kept = json.loads(Path("out/summary.json").read_text())
    assert [each["count"] for each in kept["patterns"]] == [10]
    assert kept["patterns"][0]["examples"][0] == {"id": "r0", "detail": "it said so"}
    assert kept["failures"] == {"InvalidJson": 1}
    assert kept["summary"]["coverage"]["replies"] == kept["rows"] == 56


def test_the_page_has_what_a_run_has_and_partitions_and_escapes_it():
    write_job()
    text = page()
    assert "job report" in text
    assert "Leaked card" in text
    assert "dt=1" in text
    assert "c.parquet is not a complete Parquet file" in text
    assert "InvalidJson 1" in text
    assert " of r0</p>" in text
    assert "in/dt=2/b.jsonl:16" in text
    assert "<b>delivery" not in text
    assert "&lt;b&gt;delivery" in text


def test_the_page_of_a_large_job_is_bounded_and_says_so(monkeypatch):
    monkeypatch.setattr("touchstone.app.jobs.run.MOST_ROWS", 5)
    write_job()
    text = page()
    assert "Most telling replies" in text
    assert "of 56 replies" in text
    assert "the shards (part-…) beside this file" in text


def test_a_job_that_was_stopped_and_resumed_has_the_same_report(monkeypatch):
    write_job()
    whole = page()
    for path in sorted(Path("out").glob("part-*"))[1:3]:
        path.unlink()
    run("in")
    assert page() == whole


def test_an_excerpt_that_is_gone_is_written_anew_by_a_rerun():
    write_job()
    whole = page()
    Path("out/_report/part-00000-00001.json.gz").unlink()
    with pytest.raises(InputError, match=r"part-00000-00001.json.gz is missing: .* run the same"):
        open_finished("out")
    run("in")
    assert page() == whole


def test_a_job_under_way_says_that_it_is_not_finished(monkeypatch):
    write_lines("in/a.jsonl", [*rows(25), {"id": "s", "response": "stop"}])
    with pytest.raises(KeyboardInterrupt):
        run("in", engine=Serial())
    assert "This job is not finished" in page()


def test_what_is_no_job_is_said():
    Path("empty").mkdir()
    assert not is_job("empty")
    assert not is_job("latest")
    with pytest.raises(InputError, match=r"empty holds no manifest\.json"):
        open_finished("empty")
