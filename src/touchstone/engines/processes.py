"""Batches -> parts on all cores of this machine; a worker that is killed is replaced and its batch tried again."""

import multiprocessing
import os
import pickle
import signal
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from touchstone.engines.crew import TASKS_EACH, Crew, Worker, WorkerMessage, attempt, load
from touchstone.engines.engine import Item, OnEvent, Part, Work, ignore

_PATIENCE = 5.0


def serve(pipe: Connection, work: bytes) -> None:
    """Work until the driver closes the pipe or is gone."""
    # The driver is told to stop by the same Ctrl-C and then ends its workers in good order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    do = pickle.loads(work)
    loaded = load(do)
    pipe.send(loaded)
    while loaded.kind == "ready":
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
        hands, each = _ProcessHands(pickle.dumps(work)), self._tasks_each
        yield from Crew(work, batches, hands, size=self.workers, tasks_each=each, on_event=self._on_event).run()


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class _Process:
    """A process and the driver's end of its pipe."""

    process: Any
    pipe: Connection


class _ProcessHands:
    """Workers that are processes of this machine."""

    remedy = "; give fewer --workers"

    def __init__(self, work: bytes) -> None:
        self._work = work
        self._context = multiprocessing.get_context("spawn")

    def start(self) -> _Process:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=serve, args=(theirs, self._work), daemon=True)
        with _without_interruption():
            process.start()
        theirs.close()
        return _Process(process, ours)

    def send(self, items: Sequence[Any]) -> Sequence[Any]:
        return items

    def give(self, handle: _Process, sent: Sequence[Any]) -> bool:
        try:
            handle.pipe.send(sent)
        except OSError:
            return False
        return True

    def hear(self, workers: Sequence[Worker]) -> Iterator[tuple[Worker, WorkerMessage]]:
        by_pipe = {worker.handle.pipe: worker for worker in workers if worker.is_busy}
        for pipe in wait(list(by_pipe)):
            worker = by_pipe[pipe]
            try:
                answer: WorkerMessage = worker.handle.pipe.recv()
            except (EOFError, OSError):
                answer = WorkerMessage("lost")
            yield worker, answer

    def end(self, handle: _Process) -> str:
        with suppress(OSError):
            handle.pipe.close()
        handle.process.join(_PATIENCE)
        how = _ending(handle.process.exitcode)
        handle.process.kill()
        return how

    def dismiss(self, workers: Sequence[Worker]) -> None:
        for worker in workers:
            worker.handle.pipe.close()
            if worker.is_busy:
                worker.handle.process.terminate()
        for process in [worker.handle.process for worker in workers]:
            process.join(_PATIENCE)
            if process.is_alive():
                process.kill()
                process.join()
            process.close()


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
