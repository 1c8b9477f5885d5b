"""What goes wrong in a job is named, the rest completes, and a rerun finishes it."""

import os
from pathlib import Path

import pytest
from tests.app.jobs import manifest, rows, run, score_small, small_evaluate, table, write_lines, write_table

from touchstone.app import score
from touchstone.app.jobs.run import Watch
from touchstone.core.errors import InputError
from touchstone.engines.engine import Serial
from touchstone.io import locations


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    score_small(monkeypatch, tmp_path)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-20])


def test_a_truncated_parquet_file_is_named_the_rest_completes_and_a_rerun_finishes():
    for name in "abc":
        write_table(f"in/{name}.parquet", rows(12))
    whole = Path("in/b.parquet").read_bytes()
    truncate(Path("in/b.parquet"))
    summary = run("in")
    assert summary.all.tally.rows == 24
    assert list(summary.unread) == ["in/b.parquet"]
    assert "not a complete Parquet file" in summary.unread["in/b.parquet"]
    assert not manifest()["complete"]
    Path("in/b.parquet").write_bytes(whole)
    summary = run("in")
    assert (summary.all.tally.rows, summary.unread, manifest()["complete"]) == (36, {}, True)


def test_a_truncated_gzip_is_scored_as_far_as_it_goes_and_anew_once_it_is_whole():
    write_lines("in/a.jsonl.gz", [{**row, "noise": os.urandom(300).hex()} for row in rows(2000)])
    whole = Path("in/a.jsonl.gz").read_bytes()
    Path("in/a.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    summary = run("in", shard_rows=100)
    assert 0 < summary.all.tally.rows < 2000
    assert "cannot be read any further" in summary.unread["in/a.jsonl.gz"]
    Path("in/a.jsonl.gz").write_bytes(whole)
    summary = run("in", shard_rows=100)
    assert (summary.all.tally.rows, summary.all.tally.failed, summary.unread) == (2000, 0, {})


def test_an_input_that_disappears_is_named_and_scored_once_it_is_back(monkeypatch):
    write_lines("in/a.jsonl", rows(3))
    write_lines("in/b.jsonl", rows(3))

    def vanishes(case, **options):
        Path("in/b.jsonl").unlink(missing_ok=True)
        return small_evaluate(case, **options)

    monkeypatch.setattr(score, "evaluate", vanishes)
    summary = run("in")
    assert (summary.all.tally.rows, list(summary.unread)) == (3, ["in/b.jsonl"])
    assert "does not exist" in summary.unread["in/b.jsonl"]
    assert list(run("in").unread) == ["in/b.jsonl"]
    monkeypatch.setattr(score, "evaluate", small_evaluate)
    write_lines("in/b.jsonl", rows(3))
    summary = run("in")
    assert (summary.all.tally.rows, summary.unread) == (6, {})


def test_a_file_of_other_columns_is_named_and_the_rest_completes():
    write_table("in/a.parquet", rows(3))
    write_table("in/b.parquet", [{"id": "x", "reply_text": "r"}])
    write_table("in/c.parquet", [{"response": 5, "id": "y"}])
    summary = run("in")
    assert list(summary.unread) == ["in/b.parquet"]
    said = "no column for 'response', only 'id', 'reply_text'; expected are response or actual_output"
    assert said in summary.unread["in/b.parquet"]
    assert (summary.all.tally.rows, summary.all.tally.failed) == (4, 1)
    write_table("in/b.parquet", rows(1))
    assert run("in").unread == {}


def test_an_empty_file_is_no_failure():
    write_lines("in/a.jsonl", rows(3))
    write_lines("in/b.jsonl", [])
    summary = run("in")
    assert (summary.all.tally.rows, summary.unread, manifest()["complete"]) == (3, {}, True)


def test_when_there_is_no_space_left_what_is_written_is_kept_and_a_rerun_finishes(monkeypatch):
    write_lines("in/a.jsonl", rows(35))
    whole_file = locations.whole_file

    def full(target):
        if target.endswith("part-00000-00002.parquet"):
            raise OSError(28, "No space left on device")
        return whole_file(target)

    monkeypatch.setattr(locations, "whole_file", full)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\): 2 shards are kept"):
        run("in")
    monkeypatch.setattr(locations, "whole_file", whole_file)
    # Where not even the manifest could be written, the lock alone is left, and is no reason to stay away.
    assert run("in").all.tally.rows == 35


def test_a_file_that_may_not_grow_stops_the_job_and_a_rerun_finishes():
    """The system itself refuses: no file of this process may be larger than the limit."""
    import resource
    import signal

    write_lines("in/a.jsonl", rows(35, noise="x"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, before[1]))
    try:
        with pytest.raises(InputError, match=r"out/\S+ cannot be written \(File too large\): 0 shards are kept; free"):
            run("in")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, former)
    assert not list(Path("out").glob(".*.part"))
    # Where not even the manifest could be written, the lock alone is left, and is no reason to stay away.
    assert run("in").all.tally.rows == 35


DRIFT = {
    "context as one text": {"context": "Due on 3 May."},
    "context as texts": {"context": ["Due on 3 May."]},
    "context as objects": {"context": [{"id": "kb", "text": "Due on 3 May."}]},
    "a conversation": {"input": [{"role": "user", "content": "When?"}]},
    "another column": {"agent": 7},
    "a confidence": {"confidence": 0.5},
}


def test_files_may_differ_in_what_columns_they_have_and_how_they_write_them():
    for at, more in enumerate(DRIFT.values()):
        write_table(f"in/{at}.parquet", [{"id": "a", "response": "a long reply", **more}])
    write_lines("in/lines.jsonl", [{"id": "a", "response": "a long reply", "category": 5}])
    summary = run("in", keep=("agent",))
    assert (summary.all.tally.rows, summary.all.tally.failed, summary.unread) == (len(DRIFT) + 1, 1, {})
    assert summary.failures == {"CaseError": 1}
    assert table()["agent"].to_pylist().count("7") == 1


def test_a_row_that_no_worker_survives_is_named_and_tried_again_by_a_rerun(monkeypatch):
    class Unlucky(Serial):
        """Loses whatever batch it is given, row by row, when it holds the row r3."""

        def map(self, work, batches):
            for items in batches:
                yield tuple(
                    work.lost(item, reason="worker was killed by signal 9")
                    if item.entry.case.id == "r3"
                    else work([item])
                    for item in items
                )

    write_lines("in/a.jsonl", rows(12))
    named = []
    summary = run("in", engine=Unlucky(), watch=Watch(on_failure=named.append))
    assert (summary.all.tally.rows, summary.failures) == (12, {"WorkerLost": 1})
    assert [(each.file, each.line, "killed by signal 9" in each.failure.message) for each in named] == [
        ("in/a.jsonl", 4, True)
    ]
    summary = run("in")
    assert (summary.all.tally.rows, summary.all.tally.failed, manifest()["complete"]) == (12, 0, True)
