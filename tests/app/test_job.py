"""A job: shards and a manifest that are whole at every moment; what failed is named, and a rerun finishes it."""

import gzip
import json
from pathlib import Path

import pytest
from pyarrow import parquet
from tests.app.jobs import manifest, rows, run, score_small, shards, small_evaluate, table, write_lines, write_table

from touchstone.app import score
from touchstone.app.config import Settings
from touchstone.app.jobs import job as jobs
from touchstone.app.jobs.estimate import estimate
from touchstone.app.jobs.job import Order, is_directory, open_job
from touchstone.app.jobs.run import Watch, open_log
from touchstone.arrow import results_from_batch
from touchstone.core.codec import result_to_dict
from touchstone.core.errors import ConfigError
from touchstone.core.plan import Plan


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    score_small(monkeypatch, tmp_path)


def test_every_row_is_in_one_shard_in_input_order_with_its_partition():
    write_lines("in/dt=1/a.jsonl", rows(25))
    write_lines("in/dt=2/b.jsonl.gz", rows(7))
    summary = run("in")
    assert [parquet.read_table(path).num_rows for path in sorted(Path("out").glob("part-*"))] == [10, 10, 5, 7]
    found = table()
    assert found["id"].to_pylist() == [row["id"] for row in rows(25) + rows(7)]
    assert found["dt"].to_pylist() == ["1"] * 25 + ["2"] * 7
    assert set(found["source"].to_pylist()) == {"in/dt=1/a.jsonl", "in/dt=2/b.jsonl.gz"}
    assert summary.all.tally.rows == 32
    assert manifest()["complete"] is True


def test_shards_hold_what_a_single_file_would():
    write_lines("in/a.jsonl", [*rows(12), b"{broken\n", {"id": "x"}])
    run("in/a.jsonl")
    score.score_file("in/a.jsonl", settings=Settings(), target="one.jsonl", on_scored=lambda scored: None)
    alone = [json.loads(line) for line in Path("one.jsonl").read_text().splitlines()]
    assert [result_to_dict(result) for result in results_from_batch(table())] == alone


def test_shards_can_be_gzipped_lines():
    write_lines("in/dt=1/a.jsonl", rows(12))
    run("in", shard_format="jsonl")
    texts = [gzip.decompress(path.read_bytes()) for path in sorted(Path("out").glob("*.jsonl.gz"))]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    assert [line["id"] for line in lines] == [row["id"] for row in rows(12)]
    assert {(line["source"], line["dt"]) for line in lines} == {("in/dt=1/a.jsonl", "1")}


def test_columns_that_are_kept_are_text_whatever_their_type():
    write_table("in/a.parquet", rows(2, agent=7, tags=["x"]))
    write_lines("in/b.jsonl", rows(2, agent="seven", verdict="mine"))
    run("in", keep=("agent", "tags", "verdict"))
    found = table()
    assert found["agent"].to_pylist() == ["7", "7", "seven", "seven"]
    assert found["tags"].to_pylist() == ['["x"]', '["x"]', None, None]
    assert found["input_verdict"].to_pylist() == [None, None, "mine", "mine"]


def test_a_partition_named_like_a_column_of_results_gets_another_name():
    write_lines("in/decision=old/a.jsonl", rows(1))
    run("in")
    assert (table()["decision"].to_pylist(), table()["input_decision"].to_pylist()) == (["send"], ["old"])


def test_a_job_that_was_stopped_goes_on_at_the_first_missing_shard(monkeypatch):
    content = rows(35)
    write_lines("in/a.jsonl", content)
    run("in", output="whole")
    seen = []

    def stops(case, **options):
        seen.append(case.id)
        if len(seen) == 25:
            raise KeyboardInterrupt
        return small_evaluate(case, **options)

    monkeypatch.setattr(score, "evaluate", stops)
    with pytest.raises(KeyboardInterrupt):
        run("in")
    kept = shards()
    assert list(kept) == ["part-00000-00000.parquet", "part-00000-00001.parquet"]
    seen.clear()
    seen.extend([""] * 100)
    run("in")
    assert seen[100:] == [row["id"] for row in content[20:]]
    assert {**kept, **shards()} == shards()
    assert shards() == {path.name: path.read_bytes() for path in Path("whole").glob("part-*")}


def test_a_job_that_is_complete_is_not_scored_again(monkeypatch):
    write_lines("in/a.jsonl", rows(15))
    first = run("in")
    monkeypatch.setattr(score, "evaluate", None)
    assert run("in") == first


@pytest.mark.parametrize("harm", [lambda path: path.unlink(), lambda path: path.write_bytes(b"half")])
def test_a_shard_that_was_lost_or_cut_is_written_again(harm):
    write_lines("in/a.jsonl", rows(25))
    run("in")
    before = shards()
    harm(Path("out/part-00000-00001.parquet"))
    run("in")
    assert shards() == before


def test_a_repeated_id_fails_also_across_shards_and_after_a_resume():
    write_lines("in/a.jsonl", [*rows(12), {"id": "r0", "response": "again"}])
    run("in")
    Path("out/part-00000-00001.parquet").unlink()
    summary = run("in")
    assert summary.all.tally.failed == 1
    assert "line 1 has the same id" in table()["failures"].to_pylist()[12][0]["message"]


OTHERS = {
    "a threshold": ({"settings": Settings(plan=Plan(relevance_fail=0.2))}, "another relevance_fail (0.1, now 0.2)"),
    "the size of shards": ({"shard_rows": 11}, "another shard_rows (10, now 11)"),
    "columns": ({"settings": Settings(columns={"x": "response"})}, "another columns"),
    "kept columns": ({"keep": ("x",)}, "another keep"),
}


@pytest.mark.parametrize(("options", "message"), OTHERS.values(), ids=OTHERS.keys())
def test_a_job_is_not_resumed_under_another_plan(options, message):
    write_lines("in/a.jsonl", rows(3))
    run("in")
    with pytest.raises(ConfigError) as refused:
        run("in", **options)
    assert message in str(refused.value)
    assert "name another directory with -o" in str(refused.value)


def test_a_job_is_not_resumed_when_an_input_changed():
    write_lines("in/a.jsonl", rows(3))
    run("in")
    write_lines("in/a.jsonl", rows(4))
    with pytest.raises(ConfigError, match=r"in/a\.jsonl has changed since the job in out began"):
        run("in")


def test_a_job_is_not_resumed_when_an_input_was_added():
    write_lines("in/a.jsonl", rows(3))
    run("in")
    write_lines("in/b.jsonl", rows(3))
    with pytest.raises(ConfigError, match=r"in/b\.jsonl was not there when the job in out began"):
        run("in")


def test_a_directory_with_other_files_is_left_alone():
    write_lines("in/a.jsonl", rows(3))
    write_lines("out/precious.txt", [])
    with pytest.raises(ConfigError, match=r"-o out holds files and no manifest\.json"):
        run("in")


def test_two_jobs_do_not_write_to_one_directory():
    write_lines("in/a.jsonl", rows(3))
    order = Order(inputs=["in"], output="out")
    with (
        open_job(order, settings=Settings()),
        pytest.raises(ConfigError, match="another process is running the job"),
    ):
        run("in", shard_rows=2000)


def test_the_summary_has_rates_with_intervals_by_partition():
    write_lines("in/dt=1/a.jsonl", [{"id": "a", "response": "a leak of data"}, {"id": "b", "response": "a long reply"}])
    write_lines("in/dt=2/b.jsonl", [{"id": "a", "response": "a long reply"}, b"{\n"])
    summary = run("in")
    first, second = summary.partitions
    assert (dict(first.partition), first.passed.hits, first.passed.of, first.unsafe.hits) == ({"dt": "1"}, 1, 2, 1)
    assert (second.tally.failed, second.passed.of, second.unsafe.interval.method) == (1, 1, "rule of three")
    assert summary.all.passed.interval.method == "Wilson"
    written = json.loads(Path("out/summary.json").read_text())
    assert written["partitions"][0]["pass_rate"]["rate"] == 0.5
    assert written["safety_failures"]["of"] == 3


def test_the_log_tells_what_happened_and_quotes_nobody():
    write_lines("in/a.jsonl", [*rows(3), {"id": "x", "response": ["4111 1111 1111 1111"]}])
    with open_log("log.jsonl") as log:
        run("in", watch=Watch(log=log))
    text = Path("log.jsonl").read_text()
    events = [json.loads(line)["event"] for line in text.splitlines()]
    assert events == ["job_started", "shard_written", "source_ended", "job_ended"]
    assert "4111" not in text


def test_progress_tells_share_rate_failures_and_memory():
    told = []
    write_lines("in/a.jsonl", rows(100))
    run("in", watch=Watch(on_progress=told.append))
    assert [progress.rows for progress in told] == [10 * at for at in range(1, 11)]
    assert told[-1].share == 1.0
    assert told[-1].rate > 0
    assert told[-1].memory is None or told[-1].memory > 1_000_000


def test_an_estimate_reckons_rows_and_time_from_a_sample_and_writes_nothing():
    write_lines("in/a.jsonl", rows(300))
    write_table("in/b.parquet", rows(300))
    found = estimate(Order(inputs=["in"], output="out"), settings=Settings(), workers=4)
    assert (found.sources, found.sampled, found.workers) == (2, 200, 4)
    assert found.rows == 600
    assert found.core_hours == pytest.approx(found.rows * found.seconds_each / 3600)
    assert found.hours == found.core_hours / 4
    assert found.output_bytes > 0
    assert not Path("out").exists()


def test_a_job_can_read_from_and_write_to_a_store():
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows(15))
    store.pipe("/bucket/in/dt=1/a.jsonl", lines)
    try:
        summary = run("memory://bucket/in", output="memory://bucket/out")
        assert summary.all.tally.rows == 15
        assert run("memory://bucket/in", output="memory://bucket/out") == summary
        names = sorted(name.rpartition("/")[2] for name in store.ls("/bucket/out", detail=False))
        assert names == [
            "_report",
            "manifest.json",
            "part-00000-00000.parquet",
            "part-00000-00001.parquet",
            "summary.json",
        ]
    finally:
        store.rm("/bucket", recursive=True)


@pytest.mark.parametrize(
    ("output", "answer"),
    [("", False), ("-", False), ("out", True), ("out/", True), ("out.jsonl", False), ("out.xlsx", False),
     ("s3://bucket/out", True), ("here", True), ("dir.d", True)],
)  # fmt: skip
def test_a_name_without_an_ending_is_a_directory(output, answer):
    Path("dir.d").mkdir()
    assert is_directory(output) is answer


def test_shards_must_hold_a_row():
    write_lines("in/a.jsonl", rows(1))
    with pytest.raises(ConfigError, match="--shard-rows 0 is too few"):
        run("in", shard_rows=0)


def test_the_module_s_own_default_is_the_command_s():
    assert jobs.SHARD_ROWS == 2000
