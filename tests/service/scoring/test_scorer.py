"""Scoring processes that die, hang or have too much to do."""

import asyncio
import json
import os
import signal
import threading
import time
from typing import ClassVar

import pytest
from scripts.make_tiny_verifier import write_verifier

from touchstone.app.config import Settings
from touchstone.core.case import Case
from touchstone.core.errors import ResourceError
from touchstone.core.result import Failure
from touchstone.io.cases import Entry
from touchstone.runs.evaluate import failed
from touchstone.service.options import Options
from touchstone.service.scoring import scorer as scorer_module
from touchstone.service.scoring.lanes import LONG, OverloadError
from touchstone.service.scoring.scorer import MOST_HUNG, Scorer
from touchstone.service.scoring.worker import WorkerProcess, judgement


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
    judged = [process.judge(entry) for entry in entries(3)]
    assert ids(judged) == ["c-1", "c-2", "c-3"]
    assert [json.loads(each.body)["failures"] for each in judged] == [[], [], []]


def test_a_case_that_takes_too_long_is_stopped():
    process = WorkerProcess(Settings(), case_seconds=0)
    try:
        assert process.judge(entries(1)[0]) == "hung"
        assert not process.is_ready
    finally:
        process.stop()


def test_a_long_case_that_nobody_waits_for_any_more_is_ended(process):
    sources = [f"{number} " + "a=5; " * 19_000 for number in range(60)]
    hostile = Entry("request", 1, Case(response="1-" * 49_000, context=sources))
    assert process.judge(hostile, is_wanted=lambda: False) == "abandoned"
    assert ids([process.judge(entries(1)[0])]) == ["c-1"]


class Scripted:
    """Takes the place of a process: what happens to a case is its reply; `wait` lasts until `released`."""

    begun: ClassVar = []
    released = threading.Event()

    def __init__(self, settings, *, case_seconds):
        self.is_ready = False

    def start(self):
        self.is_ready = True

    def stop(self):
        self.is_ready = False

    def judge(self, entry, *, is_wanted):
        self.begun.append(entry.case.id)
        fate = entry.case.response.split()[0]
        if fate in ("hung", "died"):
            self.stop()
            return fate
        if fate == "wait":
            assert self.released.wait(60)
        return judgement(failed(entry.case.id, Failure("score", "Scripted", "as told"), line=entry.line))


@pytest.fixture
def scripted(monkeypatch):
    monkeypatch.setattr(scorer_module, "WorkerProcess", Scripted)
    Scripted.begun.clear()
    Scripted.released.clear()
    yield Scripted
    Scripted.released.set()


def told(*fates):
    return [Entry("request", n, Case(id=f"c-{n}", response=fate)) for n, fate in enumerate(fates, 1)]


def scoring(story, **options):
    """Runs the story with a scorer of two scripted processes."""

    async def run():
        scorer = Scorer(Settings(), options=Options(**{"workers": 2} | options))
        scorer.start()
        try:
            return await asyncio.wait_for(story(scorer), 60)
        finally:
            Scripted.released.set()
            scorer.close()

    return asyncio.run(run())


LENGTHY = " 1-" * LONG


def test_a_single_case_is_answered_while_every_case_of_a_long_batch_still_waits(scripted):
    async def story(scorer):
        batch = asyncio.ensure_future(scorer.score(told(*["wait" + LENGTHY] * 40)))
        await asyncio.sleep(0)
        for _ in range(3):
            assert ids(await scorer.score(told("fine"))) == ["c-1"]
        assert not batch.done()
        assert scripted.begun.count("c-2") == 0
        scripted.released.set()
        assert len(await batch) == 40

    scoring(story)


def test_a_batch_that_hangs_again_and_again_is_given_up_and_every_case_of_it_is_named(scripted):
    judged = scoring(lambda scorer: scorer.score(told(*["hung"] * 40)))
    assert ids(judged) == [f"c-{n}" for n in range(1, 41)]
    assert {each.decision for each in judged} == {"review"}
    messages = [json.loads(each.body)["failures"][0]["message"] for each in judged]
    assert sum("was stopped" in message for message in messages) <= MOST_HUNG + 1
    assert sum("not scored, since" in message for message in messages) >= 40 - MOST_HUNG - 1
    assert len(scripted.begun) <= MOST_HUNG + 1


def test_one_case_that_hangs_or_dies_costs_no_other(scripted):
    judged = scoring(lambda scorer: scorer.score(told("fine", "hung", "fine", "died", "fine")))
    errors = [json.loads(each.body)["failures"][0]["error"] for each in judged]
    assert errors == ["Scripted", "ScoringStopped", "Scripted", "ScoringStopped", "Scripted"]
    assert sorted(scripted.begun) == ["c-1", "c-2", "c-3", "c-4", "c-5"]


def test_what_nobody_waits_for_any_more_is_not_begun(scripted):
    async def story(scorer):
        batch = asyncio.ensure_future(scorer.score(told(*["wait"] * 50)))
        while len(scripted.begun) < 2:
            await asyncio.sleep(0.01)
        batch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await batch
        scripted.released.set()
        await scorer.score(told("fine", "fine"))
        assert len(scripted.begun) == 4
        # The other process may still be on its way back from the case it was told to leave.
        while scorer.waiting:
            await asyncio.sleep(0.01)

    scoring(story)


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


def test_a_scoring_process_loads_the_verifier_that_the_settings_name(tmp_path):
    pytest.importorskip("onnxruntime")
    home = write_verifier(tmp_path / "tiny", ["supported", "unsupported"])
    case = Case(id="c", input="When?", response="The app is due on a Friday.", context=["It is due on 3 May."])
    process = WorkerProcess(Settings(verifier=str(home)), case_seconds=60)
    try:
        judged = process.judge(Entry("request", 1, case))
    finally:
        process.stop()
    assert json.loads(judged.body)["verifier"]["name"] == "tiny"
