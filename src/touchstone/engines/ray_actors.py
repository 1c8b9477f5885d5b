"""Batches -> parts on a Ray cluster, or on a local one; a lost worker or node costs only the batch it was at.

Plain actors, not Ray Data: a batch must be tried again, taken apart and given up item by item, in the order of the
driver's own stream (docs/decisions/0016-engines.md).
"""

import logging
import os
import pickle
import time
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

from touchstone.core.errors import ConfigError, ResourceError
from touchstone.engines.engine import Event, Item, OnEvent, Part, Work, ignore
from touchstone.engines.ledger import TASKS_EACH, Ledger, Task
from touchstone.engines.processes import MEGABYTES, START_ATTEMPTS, WorkerMessage, attempt, cores

# Without any worker for so long, the cluster has no room for one.
PATIENCE = 300.0
_LISTENING = 5.0


class RayActors:
    """Works on the cluster at `address` (host:port, ray://… or auto), or on a cluster of its own on this machine."""

    def __init__(
        self,
        *,
        address: str | None = None,
        workers: int | None = None,
        on_event: OnEvent = ignore,
        patience: float = PATIENCE,
        tasks_each: int = TASKS_EACH,
    ) -> None:
        self._address = address
        self._on_event = on_event
        self._patience = patience
        self._tasks_each = tasks_each
        self._asked = workers
        self.workers = workers or cores()

    def map(self, work: Work[Item, Part], batches: Iterable[Sequence[Item]]) -> Generator[tuple[Part, ...], None, None]:
        """The parts of each batch in order; the actors live as long as this iterator."""
        remaining = iter(batches)
        first = next(remaining, None)
        if first is None:
            return
        with _connected(self._address, workers=self._asked or cores()) as ray:
            if self._asked is None:
                self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
            ledger = Ledger(work, chain([first], remaining), workers=self.workers, on_event=self._on_event)
            crew = _ActorCrew(
                ray, work, ledger, size=self.workers, tasks_each=self._tasks_each, on_event=self._on_event
            )
            try:
                while not ledger.is_done:
                    crew.hand_out()
                    yield from ledger.finished()
                    crew.listen(patience=self._patience)
            finally:
                crew.dismiss()


class _Scorer:
    """What runs in an actor."""

    def __init__(self, work: bytes) -> None:
        self._work = pickle.loads(work)

    def ready(self) -> WorkerMessage:
        """Load the models: an error in a constructor would reach the driver as no more than the actor's death."""
        loaded = attempt(lambda _: self._work.prepare(), ())
        return WorkerMessage("ready") if loaded.kind == "part" else loaded

    def run(self, items: Sequence[Any]) -> WorkerMessage:
        return attempt(self._work, items)


@dataclass(frozen=True, slots=True)
class _Call:
    """What an actor was asked to do; no task is its getting ready."""

    actor: Any
    task: Task[Any] | None


@dataclass(frozen=True, slots=True)
class _Sent:
    """A task whose items are in the cluster's store already."""

    task: Task[Any]
    items: Any


class _ActorCrew:
    """The actors of one map: all are asked for at the start, and each that is lost once more."""

    def __init__(
        self,
        ray: Any,
        work: Work[Any, Any],
        ledger: Ledger[Any, Any],
        *,
        size: int,
        tasks_each: int,
        on_event: OnEvent,
    ) -> None:
        self._ray = ray
        self._actor = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Scorer)
        self._work = pickle.dumps(work)
        self._ledger = ledger
        self._on_event = on_event
        self._free: list[Any] = []
        self._calls: dict[Any, _Call] = {}
        self._waiting: deque[_Sent] = deque()
        self._tasks_each = tasks_each
        self._done: Counter[Any] = Counter()
        self._heard = time.monotonic()
        self._size = size
        self._lost_starting = 0
        for _ in range(size):
            self._hire()

    def hand_out(self) -> None:
        """Give every free actor a task; then read and send ahead while they work, so that none waits for it."""
        while self._free and (given := self._waiting.popleft() if self._waiting else self._sent_ahead()):
            actor = self._free.pop()
            self._calls[actor.run.remote(given.items)] = _Call(actor, given.task)
        while len(self._waiting) < self._size and (given := self._sent_ahead()):
            self._waiting.append(given)

    def _sent_ahead(self) -> "_Sent | None":
        task = self._ledger.next_task()
        return _Sent(task, self._ray.put(task.items)) if task else None

    def listen(self, *, patience: float) -> None:
        """Take an answer or a loss when one comes; ResourceError when none can come any more."""
        if not self._calls:
            return
        done, _ = self._ray.wait(list(self._calls), num_returns=1, timeout=_LISTENING)
        for ref in done:
            self._heard = time.monotonic()
            self._hear(ref, self._calls.pop(ref))
        is_working = self._free or any(call.task for call in self._calls.values())
        if not is_working and time.monotonic() - self._heard > patience:
            raise ResourceError(
                f"the Ray cluster gave no worker for {patience:.0f} s: each needs a free CPU and about "
                f"{MEGABYTES} MB; see ray status, or give fewer --workers"
            )

    def dismiss(self) -> None:
        """Let all actors go."""
        for actor in {call.actor for call in self._calls.values()} | set(self._free):
            self._end(actor)
        self._calls.clear()
        self._free.clear()
        self._waiting.clear()

    def _hire(self) -> None:
        actor = self._actor.remote(self._work)
        self._calls[actor.ready.remote()] = _Call(actor, None)

    def _hear(self, ref: Any, call: _Call) -> None:
        try:
            answer: WorkerMessage = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            self._lose(call, reason=type(error).__name__)
            return
        if answer.kind == "error":
            raise answer.content
        if call.task is None:
            if answer.kind == "ready":
                self._lost_starting = 0
                self._free.append(call.actor)
            else:
                self._lose(call, reason=f"met {answer.content}")
            return
        self._done[call.actor] += 1
        if self._done[call.actor] < self._tasks_each:
            self._free.append(call.actor)
        else:
            self._end(call.actor)
            self._hire()
        if answer.kind == "part":
            self._ledger.done(call.task, answer.content)
        else:
            self._ledger.lost(call.task, reason=answer.content)

    def _lose(self, call: _Call, *, reason: str) -> None:
        self._on_event(Event("worker_lost", reason))
        self._end(call.actor)
        if call.task:
            self._ledger.lost(call.task, reason=f"worker lost: {reason}")
        else:
            self._lost_starting += 1
            if self._lost_starting >= START_ATTEMPTS * self._size:
                raise ResourceError(
                    f"{self._lost_starting} workers in a row were lost while they loaded their models (the last "
                    f"{reason}): each needs about {MEGABYTES} MB of memory on its node; see ray status, or give fewer "
                    "--workers"
                )
        self._hire()

    def _end(self, actor: Any) -> None:
        self._done.pop(actor, None)
        # A lost node's actors cannot be told.
        with suppress(self._ray.exceptions.RayError, ValueError):
            self._ray.kill(actor)


@contextmanager
def _connected(address: str | None, *, workers: int) -> Iterator[Any]:
    """Ray, connected; what this opened it closes, and a connection that is there already is used."""
    # Touchstone sends nothing anywhere, and neither does what it starts.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise ConfigError("the engine 'ray' needs Ray: pip install 'touchstone-eval[ray]'") from error
    if ray.is_initialized():
        yield ray
        return
    own: dict[str, Any] = {"address": "local", "num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(**({"address": address} if address else own), log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        where = f"at {address}" if address else "on this machine"
        remedy = "check --ray-address, and RAY_AUTH_TOKEN where the cluster asks for a token"
        raise ConfigError(f"Ray {where} cannot be reached ({type(error).__name__}): {remedy}") from error
    try:
        yield ray
    finally:
        ray.shutdown()
