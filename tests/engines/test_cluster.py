"""A Ray cluster of several nodes on this machine: a job outlives one of them and gives the same bytes as serial."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.engines.gold import write_rows

import touchstone

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="RAY IS NOT INSTALLED: the cluster was not tested"),
]

ROWS = 210
SOURCE = str(Path(touchstone.__file__).parents[1])
RAY = [str(Path(sys.executable).with_name("ray"))]
# The cluster of this test is its own: it lets in nobody but those who have the token made here.
ENVIRONMENT = os.environ | {
    "PYTHONPATH": SOURCE,
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
}
PORT = 6391


def node(*options, said):
    """A node of the cluster that is up; on a busy machine one may give up, and another is started."""
    for _ in range(3):
        process = start_node(*options, said=said)
        while process.poll() is None and b"Ray runtime started" not in said.read_bytes():
            time.sleep(0.2)
        if process.poll() is None:
            return process
    raise RuntimeError(said.read_text())


def start_node(*options, said):
    with said.open("wb") as stream:
        return subprocess.Popen(
            [*RAY, "start", "--block", "--num-cpus", "1", "--object-store-memory", "100000000", *options],
            env=ENVIRONMENT, stdout=stream, stderr=stream, start_new_session=True,
        )  # fmt: skip


@pytest.fixture
def cluster(tmp_path):
    """A head and two more nodes, each of one core."""
    nodes = []
    try:
        nodes.append(node("--head", "--port", str(PORT), "--include-dashboard", "false", said=tmp_path / "head"))
        with ThreadPoolExecutor(2) as pool:
            joining = [
                pool.submit(node, "--address", f"127.0.0.1:{PORT}", said=tmp_path / f"node{at}") for at in range(2)
            ]
        nodes.extend(each.result() for each in joining)
        yield nodes
    finally:
        for each in nodes:
            kill(each)


def kill(process):
    """End a node and all it runs at once, as a lost machine would."""
    if process.poll() is None:
        for pid in reversed(tree(process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def tree(pid):
    """A process and its descendants."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except FileNotFoundError:
        return [pid]
    return [pid, *(descendant for child in children for descendant in tree(child))]


def is_scoring(process):
    """Whether an actor of the node is at a batch: Ray names its processes by what they do."""
    names = []
    for pid in tree(process.pid):
        with suppress(FileNotFoundError):
            names.append(Path(f"/proc/{pid}/cmdline").read_bytes())
    return any(name.startswith(b"ray::_Scorer.run") for name in names)


def score(folder, *options):
    command = [sys.executable, "-c", "from touchstone.cli.main import main; main()"]
    with (folder / "stderr").open("ab") as said:
        return subprocess.Popen(
            [*command, "score", "in", "--shard-rows", "15", *options],
            cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=said,
        )  # fmt: skip


def shards(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*"))}


def test_a_node_killed_in_mid_run_costs_nothing(cluster, tmp_path):
    write_rows(tmp_path / "in/a.jsonl", ROWS)
    options = ["--engine", "ray", "--ray-address", f"127.0.0.1:{PORT}", "--workers", "3", "--log", "log.jsonl"]
    job = score(tmp_path, "-o", "cluster", *options)
    deadline = time.monotonic() + 400
    while not (shards(tmp_path / "cluster") and is_scoring(cluster[-1])) and time.monotonic() < deadline:
        assert job.poll() is None, (tmp_path / "stderr").read_text()
        time.sleep(0.05)
    kill(cluster[-1])
    assert job.wait(900) == 0, (tmp_path / "stderr").read_text()
    events = [json.loads(line)["event"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert "worker_lost" in events
    alone = score(tmp_path, "-o", "serial")
    assert alone.wait(600) == 0
    assert shards(tmp_path / "cluster") == shards(tmp_path / "serial")
    assert (tmp_path / "cluster/summary.json").read_bytes() == (tmp_path / "serial/summary.json").read_bytes()
