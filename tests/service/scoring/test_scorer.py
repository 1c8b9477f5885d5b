"""Scoring processes that die, hang or have too much to do."""

import asyncio
import json
import os
import signal
import time

import pytest
from tests.clients import tiny_verifier

from touchstone.app.config import Settings
from touchstone.core.case import Case
from touchstone.core.errors import ResourceError
from touchstone.core.plan import Plan
from touchstone.io.cases import Entry
from touchstone.service.options import Options
from touchstone.service.scoring.process import WorkerProcess
from touchstone.service.scoring.scorer import OverloadError, Scorer


def entries(count):
    return [Entry("request", n, Case(id=f"c-{n}", input="When?", response="On 3 May.")) for n in range(1, count + 1)]


def ids(judgements):
    return [json.loads(each.body)["id"] for each in judgements]


@pytest.fixture(scope="module")
def process():
    started = WorkerProcess(Settings(), case_seconds=60)
    started.start()
    yield started
    started.stop()


def test_a_process_that_was_killed_is_started_again_and_nothing_is_lost(process):
    os.kill(process._process.pid, signal.SIGKILL)
    judged = process.judge(entries(3))
    assert ids(judged) == ["c-1", "c-2", "c-3"]
    assert [json.loads(each.body)["failures"] for each in judged] == [[], [], []]


def test_a_case_that_takes_too_long_is_a_failure():
    process = WorkerProcess(Settings(), case_seconds=0)
    try:
        (judged,) = process.judge(entries(1))
    finally:
        process.stop()
    assert judged.failed
    assert "took more than" in json.loads(judged.body)["failures"][0]["message"]
    assert judged.decision == "review"


async def started(**options):
    scorer = Scorer(Settings(), options=Options(workers=1, **options))
    scorer.start()
    until = time.monotonic() + 120
    while not scorer.is_ready:
        assert time.monotonic() < until
        await asyncio.sleep(0.05)
    return scorer


def test_more_than_may_wait_is_refused_at_once_and_the_rest_is_scored():
    async def story():
        scorer = await started(waiting=3, batched=10)
        try:
            singles = [asyncio.ensure_future(scorer.score(entries(1))) for _ in range(8)]
            with pytest.raises(OverloadError):
                await scorer.score(entries(11))
            assert not any(single.done() for single in singles)
            done = await asyncio.gather(*singles, return_exceptions=True)
            assert sum(isinstance(each, OverloadError) for each in done) == 5
            assert scorer.waiting == 0
            assert ids(await scorer.score(entries(10))) == [f"c-{n}" for n in range(1, 11)]
        finally:
            scorer.close()
        with pytest.raises(OverloadError):
            await scorer.score(entries(1))

    asyncio.run(story())


def test_a_single_case_goes_before_a_batch_that_was_there_first():
    async def story():
        scorer = await started()
        try:
            batch = asyncio.ensure_future(scorer.score(entries(200)))
            await asyncio.sleep(0)
            await scorer.score(entries(1))
            assert not batch.done()
            assert len(await batch) == 200
        finally:
            scorer.close()

    asyncio.run(story())


def test_processes_that_cannot_start_leave_nobody_waiting(monkeypatch):
    def fails(self):
        raise ResourceError("the parser is not installed")

    async def story():
        monkeypatch.setattr(WorkerProcess, "start", fails)
        scorer = Scorer(Settings(), options=Options(workers=1))
        scorer.start()
        try:
            with pytest.raises(OverloadError):
                await asyncio.wait_for(scorer.score(entries(1)), 10)
            assert not scorer.is_ready
        finally:
            scorer.close()

    asyncio.run(story())


def test_a_scoring_process_loads_the_verifier_that_the_plan_names():
    pytest.importorskip("onnxruntime")
    case = Case(id="c", input="When?", response="The app is due on a Friday.", context=["It is due on 3 May."])
    process = WorkerProcess(Settings(plan=Plan(verifier="deep")), case_seconds=60)
    try:
        # A spawned process looks for modules where this one does.
        with tiny_verifier.installed():
            (judged,) = process.judge([Entry("request", 1, case)])
    finally:
        process.stop()
    assert json.loads(judged.body)["verifier"]["name"] == "tiny"
