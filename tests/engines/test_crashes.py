"""A job whose driver is killed at random moments is finished by running it again: nothing lost, nothing twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.engines.gold import write_rows

import touchstone

pytestmark = pytest.mark.slow

ROWS = 400
KILLS = 4
COMMAND = [sys.executable, "-c", "from touchstone.cli.main import main; main()", "score", "in", "--shard-rows", "20"]
LIGHT = str(Path(__file__).parent / "light")
SOURCE = os.pathsep.join([LIGHT, str(Path(touchstone.__file__).parents[1])])


def start(folder, output, *options):
    """The command in a session of its own, so that a Ctrl-C reaches it and its workers alone."""
    with (folder / "stderr").open("wb") as said:
        return subprocess.Popen(
            [*COMMAND, "-o", output, *options],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": SOURCE},
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )


def ended(process, folder):
    """The exit code, and what was said."""
    return process.wait(600), (folder / "stderr").read_text()


def shards(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*"))}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The inputs, and what an undisturbed serial run makes of them."""
    folder = tmp_path_factory.mktemp("job")
    write_rows(folder / "in/dt=1/a.jsonl", ROWS // 2)
    write_rows(folder / "in/dt=2/b.jsonl", ROWS // 2)
    process = start(folder, "whole")
    assert ended(process, folder)[0] == 0
    return folder


def test_a_driver_killed_at_random_moments_resumes_to_the_same_bytes(whole):
    moments = random.Random(7)
    for _ in range(KILLS):
        before = len(shards(whole / "killed"))
        process = start(whole, "killed", "--engine", "processes", "--workers", "2")
        wait_for_shard(whole / "killed", more_than=before)
        time.sleep(moments.uniform(0, 0.4))
        process.kill()
        process.wait()
        # Whatever is there is whole: the manifest, and every shard it names.
        written = json.loads((whole / "killed/manifest.json").read_text())["shards"]
        assert all((whole / "killed" / each["name"]).stat().st_size == each["size"] for each in written)
    assert before < len(shards(whole / "whole"))
    process = start(whole, "killed", "--engine", "processes", "--workers", "2")
    assert ended(process, whole)[0] == 0
    assert shards(whole / "killed") == shards(whole / "whole")
    assert (whole / "killed/summary.json").read_bytes() == (whole / "whole/summary.json").read_bytes()


def test_a_worker_killed_in_mid_run_costs_nothing(whole):
    process = start(whole, "worker", "--engine", "processes", "--workers", "2", "--log", "log.jsonl")
    wait_for_shard(whole / "worker")
    victim = workers_of(process.pid)[0]
    os.kill(victim, signal.SIGKILL)
    assert ended(process, whole)[0] == 0
    events = [json.loads(line)["event"] for line in (whole / "log.jsonl").read_text().splitlines()]
    assert "worker_lost" in events
    assert shards(whole / "worker") == shards(whole / "whole")


def test_ctrl_c_ends_driver_and_workers_and_the_job_goes_on(whole):
    process = start(whole, "stopped", "--engine", "processes", "--workers", "2")
    wait_for_shard(whole / "stopped")
    workers = workers_of(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    code, said = ended(process, whole)
    assert code == 130
    assert "the same command resumes from there" in said
    assert "Traceback" not in said
    assert workers
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    process = start(whole, "stopped")
    assert ended(process, whole)[0] == 0
    assert shards(whole / "stopped") == shards(whole / "whole")


def wait_for_shard(folder, *, more_than=0):
    deadline = time.monotonic() + 300
    while len(list(folder.glob("part-*"))) <= more_than and time.monotonic() < deadline:
        time.sleep(0.05)


def workers_of(pid):
    """The worker processes of a driver; the one that keeps its resources is none."""
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
