"""Batches -> parts on all cores of this machine; a worker that is killed is replaced and its batch tried again."""

import multiprocessing
import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Literal

from touchstone.core.errors import ResourceError, TouchstoneError
from touchstone.engines.engine import Event, Item, OnEvent, Part, Work, ignore
from touchstone.engines.ledger import TASKS_EACH, Ledger, Task

# What a worker with its models and full caches holds, rounded up: measured by `python -m benchmarks engines`.
MEGABYTES = 600
# So many workers in a row may end while they load their models; then the machine, not a batch, is to blame.
START_ATTEMPTS = 3
_PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class WorkerMessage:
    """`ready` once models are loaded, a `part`, or `failed` with the kind of error that the work met.

    An `error` ends everything: Touchstone itself cannot be used, and no other worker would do better.
    """

    kind: Literal["ready", "part", "failed", "error"]
    content: Any = None


def attempt(work: Callable[[Sequence[Any]], Any], items: Sequence[Any]) -> WorkerMessage:
    """The part that the items come to, or why there is none."""
    try:
        return WorkerMessage("part", work(items))
    except TouchstoneError as error:
        return WorkerMessage("error", error)
    except Exception as error:  # noqa: BLE001 - a defect must not cost the worker; its text may quote a customer
        return WorkerMessage("failed", type(error).__name__)


def serve(pipe: Connection, work: bytes) -> None:
    """Work until the driver closes the pipe or is gone."""
    # The driver is told to stop by the same Ctrl-C and then ends its workers in good order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        do = pickle.loads(work)
        do.prepare()
    except TouchstoneError as error:
        pipe.send(WorkerMessage("error", error))
        return
    except Exception as error:  # noqa: BLE001 - such as too little memory: the driver says what to do
        pipe.send(WorkerMessage("failed", type(error).__name__))
        return
    pipe.send(WorkerMessage("ready"))
    while True:
        try:
            pipe.send(attempt(do, pipe.recv()))
        except (EOFError, OSError):
            return


class Processes:
    """Works in processes of its own. They are spawned, not forked, so no lock or thread is inherited half-way."""

    def __init__(self, *, workers: int | None = None, on_event: OnEvent = ignore, tasks_each: int = TASKS_EACH) -> None:
        self.workers = workers or cores()
        self._on_event = on_event
        self._tasks_each = tasks_each

    def map(self, work: Work[Item, Part], batches: Iterable[Sequence[Item]]) -> Generator[tuple[Part, ...], None, None]:
        """The parts of each batch in order; the workers live as long as this iterator."""
        ledger = Ledger(work, batches, workers=self.workers, on_event=self._on_event)
        crew = _Crew(work, ledger, size=self.workers, tasks_each=self._tasks_each, on_event=self._on_event)
        try:
            while not ledger.is_done:
                crew.hand_out()
                yield from ledger.finished()
                if crew.is_busy:
                    crew.listen()
        finally:
            crew.dismiss()


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(slots=True)
class _Worker:
    """A process, the driver's end of its pipe, and what it is doing."""

    process: Any
    pipe: Connection
    is_ready: bool = False
    task: Task[Any] | None = field(default=None)
    done: int = 0
    problem: str | None = None


class _Crew:
    """The workers of one map: as many as needed, replaced when lost."""

    def __init__(
        self, work: Work[Any, Any], ledger: Ledger[Any, Any], *, size: int, tasks_each: int, on_event: OnEvent
    ) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._work = pickle.dumps(work)
        self._ledger = ledger
        self._size = size
        self._tasks_each = tasks_each
        self._on_event = on_event
        self._workers: list[_Worker] = []
        self._waiting: deque[Task[Any]] = deque()
        self._lost_starting = 0

    @property
    def is_busy(self) -> bool:
        """Whether an answer is to be waited for."""
        return any(worker.task or not worker.is_ready for worker in self._workers)

    def hand_out(self) -> None:
        """Give every free worker a task, and hire while there is more to do than there are workers."""
        while True:
            # Read while the workers work, so that none waits for it.
            if len(self._waiting) < self._size and (task := self._ledger.next_task()):
                self._waiting.append(task)
                starting = sum(not worker.is_ready for worker in self._workers)
                if len(self._workers) < self._size and len(self._waiting) > starting + len(self._free()):
                    self._hire()
            elif not (self._waiting and self._free()):
                return
            for worker in self._free()[: len(self._waiting)]:
                self._give(worker, self._waiting.popleft())

    def listen(self) -> None:
        """Wait for an answer or a loss, and take all that are there."""
        by_pipe = {worker.pipe: worker for worker in self._workers if worker.task or not worker.is_ready}
        for pipe in wait(list(by_pipe)):
            self._hear(by_pipe[pipe])  # type: ignore[index]

    def dismiss(self) -> None:
        """End all workers, at once if they are in the middle of something."""
        for worker in self._workers:
            worker.pipe.close()
            if worker.task or not worker.is_ready:
                worker.process.terminate()
        for worker in self._workers:
            worker.process.join(_PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.process.close()
        self._workers.clear()

    def _free(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.is_ready and worker.task is None]

    def _hire(self) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=serve, args=(theirs, self._work), daemon=True)
        with _without_interruption():
            process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours))

    def _give(self, worker: _Worker, task: Task[Any]) -> None:
        try:
            worker.pipe.send(task.items)
        except OSError:
            self._waiting.appendleft(task)
            self._lose(worker)
        else:
            worker.task = task

    def _hear(self, worker: _Worker) -> None:
        try:
            answer: WorkerMessage = worker.pipe.recv()
        except (EOFError, OSError):
            self._lose(worker)
            return
        if answer.kind == "error":
            raise answer.content
        if answer.kind == "ready":
            worker.is_ready, self._lost_starting = True, 0
        elif not worker.is_ready:
            worker.problem = f"met {answer.content}"
            self._lose(worker)
        elif worker.task:
            task, worker.task = worker.task, None
            if answer.kind == "part":
                self._ledger.done(task, answer.content)
            else:
                self._ledger.lost(task, reason=answer.content)
            worker.done += 1
            if worker.done >= self._tasks_each:
                self._retire(worker)

    def _retire(self, worker: _Worker) -> None:
        """Let a worker go that has done its share; it ends when its pipe does."""
        self._workers.remove(worker)
        worker.pipe.close()
        worker.process.join(_PATIENCE)
        worker.process.kill()
        if self._waiting:
            self._hire()

    def _lose(self, worker: _Worker) -> None:
        """Take the worker off the list; what it was doing is done again."""
        self._workers.remove(worker)
        with suppress(OSError):
            worker.pipe.close()
        worker.process.join(_PATIENCE)
        how = worker.problem or _ending(worker.process.exitcode)
        worker.process.kill()
        self._on_event(Event("worker_lost", how))
        if worker.task:
            self._ledger.lost(worker.task, reason=f"worker {how}")
        elif not worker.is_ready:
            self._lost_starting += 1
            if self._lost_starting >= START_ATTEMPTS:
                raise ResourceError(
                    f"{START_ATTEMPTS} workers in a row were lost while they loaded their models (the last {how}): "
                    f"each needs about {MEGABYTES} MB of memory; give fewer --workers"
                )
        if self._waiting and not self._workers:
            self._hire()


@contextmanager
def _without_interruption() -> Iterator[None]:
    """Has a process that is started meanwhile never see Ctrl-C; here it takes effect at the end."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Its first start would lift the block.
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _ending(code: int | None) -> str:
    """How a process ended, in words."""
    if code is None:
        return "closed its pipe"
    return f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
