"""The service killed without warning, again and again, while people submit reviews: what it acknowledged is there."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from tests.service.stored import MADE, add_run, row

import touchstone
from touchstone.app.review import Drawing, draw_queue
from touchstone.store.runs import open_store

GRADES = {"accuracy": 4, "completeness": 4, "tone": 4, "actionability": 4, "safety": 4}
KILLS = 5
ITEMS = 400


@pytest.mark.slow
def test_no_acknowledged_review_is_lost_and_none_is_stored_twice(tmp_path):
    place = tmp_path / "touchstone.db"
    with open_store(str(place)) as store:
        add_run(store, "week-1", rows=[row(n) for n in range(ITEMS)], kind="production")
        queue = draw_queue(store, run="week-1", drawing=Drawing(n=ITEMS, oversampling=1.0), by="lea", now=MADE).id
    people = Submitting(queue)
    kills = random.Random(7)
    for _ in range(KILLS):
        with started(tmp_path, place) as process:
            people.address = process.address
            people.wait_for(kills.randint(1, 20))
            time.sleep(kills.uniform(0, 0.05))
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    people.ends = True
    people.join()
    assert len(people.acknowledged) >= KILLS
    with open_store(str(place)) as store:
        kept = store.reviews.of_queue(queue)
        stored = {review.id for reviews in kept.values() for review in reviews}
        assert people.acknowledged <= stored
        assert all(len(reviews) == 1 for reviews in kept.values())
        done = sum(item.state == "done" for item in store.queues.items(queue, limit=None))
        assert done == len(kept)


class Submitting:
    """Somebody who submits one review after another, each until it is acknowledged."""

    def __init__(self, queue):
        self.queue = queue
        self.address = None
        self.ends = False
        self.acknowledged = set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait_for(self, more):
        """Wait until so many more reviews are acknowledged."""
        enough = len(self.acknowledged) + more
        until = time.monotonic() + 120
        while len(self.acknowledged) < enough:
            assert time.monotonic() < until
            time.sleep(0.001)

    def join(self):
        self._thread.join(30)
        assert not self._thread.is_alive()

    def _run(self):
        for position in range(ITEMS):
            while not self.ends and not self._submit(position):
                time.sleep(0.02)
            if self.ends:
                return

    def _submit(self, position):
        if self.address is None:
            return False
        path = f"{self.address}/v1/queues/{self.queue}/items/{position}/reviews"
        try:
            answer = httpx.post(path, json={"grades": GRADES}, headers={"Idempotency-Key": f"k-{position}"}, timeout=5)
        except httpx.HTTPError:
            return False
        if answer.status_code == 201:
            self.acknowledged.add(answer.json()["id"])
        return answer.status_code == 201


def started(directory, place):
    """The service as a process of its own, once it answers."""
    environment = {**os.environ, "PYTHONPATH": str(Path(touchstone.__file__).parents[1])}
    command = [sys.executable, "-m", "touchstone", "serve", "--port", "0", "--workers", "1", "--store", str(place)]
    with (directory / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=directory, env=environment, stderr=log, start_new_session=True)
    until = time.monotonic() + 120
    while "http://" not in (text := (directory / "log").read_text()):
        assert process.poll() is None, text
        assert time.monotonic() < until
        time.sleep(0.05)
    process.address = text[text.index("http://") :].split()[0]
    return process
