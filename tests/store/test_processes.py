"""Several processes on one store, and processes that die."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.store.samples import run_named, scored

from touchstone.store.runs import open_store

# Adds batches of ten to the run `r1` and says so on stdout once each is stored.
WRITER = """
import sys
from tests.store.samples import scored
from touchstone.store.runs import open_store

place, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open_store(place) as store:
    for start in range(first, last, 10):
        repeated = store.replies.add("r1", [scored(position) for position in range(start, start + 10)])
        print(start, len(repeated), flush=True)
"""


def start_writer(place, first, last):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", WRITER, place, str(first), str(last)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([".", *filter(None, sys.path)])},
    )


def begin(place):
    with open_store(place) as store:
        store.create_run(run_named("r1"), rubric="")


@pytest.mark.slow
@pytest.mark.parametrize("firsts", [(0, 300), (0, 0)])
def test_two_processes_write_at_once_and_each_reply_is_kept_once(place, firsts):
    begin(place)
    writers = [start_writer(place, first, first + 300) for first in firsts]
    outputs = [writer.communicate()[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert all(len(output) == 2 * 30 for output in outputs)
    last = max(firsts) + 300
    repeated = sum(int(count) for output in outputs for count in output[1::2])
    assert repeated == 600 - last
    with open_store(place) as store:
        assert list(store.replies.scored("r1")) == [scored(position) for position in range(last)]


@pytest.mark.slow
@pytest.mark.parametrize("patience", [0.0, 0.013, 0.05, 0.11])
def test_a_process_killed_while_adding_loses_nothing_it_reported_and_leaves_no_half_batch(place, patience):
    begin(place)
    writer = start_writer(place, 0, 1_000_000)
    seen = [int(writer.stdout.readline().split()[0]) for _ in range(3)]
    time.sleep(patience)
    os.kill(writer.pid, signal.SIGKILL)
    seen += [int(line.split()[0]) for line in writer.communicate()[0].splitlines()]
    with open_store(place) as store:
        kept = store.replies.positions("r1")
        assert {start + at for start in seen for at in range(10)} <= kept
        assert kept == set(range(len(kept)))
        assert len(kept) % 10 == 0
        # The batch under way when it died may have been stored, but no more.
        assert len(kept) <= 10 * (len(seen) + 1)
        assert list(store.replies.scored("r1")) == [scored(position) for position in sorted(kept)]
        store.replies.add("r1", [scored(position) for position in range(len(kept) + 20)])
        assert store.replies.count("r1") == len(kept) + 20


def test_a_run_is_read_while_another_store_writes_it(place):
    begin(place)
    with open_store(place) as reader, open_store(place) as writer:
        for position in range(1100):
            if position % 100 == 0:
                writer.replies.add("r1", [scored(at) for at in range(position, position + 100)])
        pages = reader.replies.lines("r1")
        assert json.loads(next(pages))["id"] == "c-0"
        writer.replies.add("r1", [scored(1100)])
        assert sum(1 for _ in pages) == 1100
