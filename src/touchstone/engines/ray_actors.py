"""Batches -> parts on a Ray cluster, or on a local one; a lost worker or node costs only the batch it was at.

Plain actors, not Ray Data: a batch must be tried again, taken apart and given up item by item, in the order of the
driver's own stream (docs/decisions/0016-engines.md).
"""

import logging
import os
import pickle
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any

from touchstone.core.errors import ConfigError, ResourceError
from touchstone.engines.crew import (
    MEGABYTES,
    START_ATTEMPTS,
    TASKS_EACH,
    Crew,
    Worker,
    WorkerMessage,
    attempt,
    load,
)
from touchstone.engines.engine import Item, OnEvent, Part, Work, ignore
from touchstone.engines.processes import cores

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
            yield from Crew(
                work,
                chain([first], remaining),
                _ActorHands(ray, pickle.dumps(work), patience=self._patience),
                size=self.workers,
                tasks_each=self._tasks_each,
                on_event=self._on_event,
                # They start at the same time, and one node may have less memory than the others.
                start_attempts=START_ATTEMPTS * self.workers,
            ).run()


class _Scorer:
    """What runs in an actor."""

    def __init__(self, work: bytes) -> None:
        self._work = pickle.loads(work)

    def ready(self) -> WorkerMessage:
        """Load the models: an error in a constructor would reach the driver as no more than the actor's death."""
        return load(self._work)

    def run(self, items: Sequence[Any]) -> WorkerMessage:
        return attempt(self._work, items)


class _ActorHands:
    """Workers that are actors of a cluster."""

    remedy = " on its node; see ray status, or give fewer --workers"

    def __init__(self, ray: Any, work: bytes, *, patience: float) -> None:
        self._ray = ray
        self._actor = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Scorer)
        self._work = work
        self._patience = patience
        self._calls: dict[Any, Any] = {}
        self._heard = time.monotonic()

    def start(self) -> Any:
        actor = self._actor.remote(self._work)
        self._calls[actor.ready.remote()] = actor
        return actor

    def send(self, items: Sequence[Any]) -> Any:
        """Into the cluster's store."""
        return self._ray.put(items)

    def give(self, handle: Any, sent: Any) -> bool:
        self._calls[handle.run.remote(sent)] = handle
        return True

    def hear(self, workers: Sequence[Worker]) -> Iterator[tuple[Worker, WorkerMessage]]:
        by_actor = {worker.handle: worker for worker in workers}
        done, _ = self._ray.wait(list(self._calls), num_returns=1, timeout=_LISTENING)
        for ref in done:
            self._heard = time.monotonic()
            worker = by_actor[self._calls.pop(ref)]
            try:
                answer: WorkerMessage = self._ray.get(ref)
            except self._ray.exceptions.RayError as error:
                answer = WorkerMessage("lost", f"was lost ({type(error).__name__})")
            yield worker, answer
        if not any(worker.is_ready for worker in workers) and time.monotonic() - self._heard > self._patience:
            raise ResourceError(
                f"the Ray cluster gave no worker for {self._patience:.0f} s: each needs a free CPU and about "
                f"{MEGABYTES} MB; see ray status, or give fewer --workers"
            )

    def end(self, handle: Any) -> str:
        # A lost node's actors cannot be told.
        with suppress(self._ray.exceptions.RayError, ValueError):
            self._ray.kill(handle)
        return "was lost"

    def dismiss(self, workers: Sequence[Worker]) -> None:
        for worker in workers:
            self.end(worker.handle)


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
