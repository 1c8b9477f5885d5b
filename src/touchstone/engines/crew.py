"""Batches -> tasks for workers -> parts in order, whether the workers are processes or actors on a cluster.

A batch whose worker is lost is tried once more as it is. When that worker is lost too, its items are tried one by one,
each twice, so that only the item that ends workers is given up. Lost workers are replaced as long as there is work.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, Protocol

from touchstone.core.errors import ResourceError, TouchstoneError
from touchstone.engines.engine import Event, Item, OnEvent, Part, Work

ATTEMPTS = 2
# A batch for each worker to go on with, and one being read.
AHEAD = 3
# Then a worker is replaced: what the parser remembers of every new word adds up over millions of replies.
TASKS_EACH = 1000
# What a worker with its models and full caches holds, rounded up: measured by `python -m benchmarks engines`.
MEGABYTES = 600
# So many workers in a row may end while they load their models; then the machine, not a batch, is to blame.
START_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Task(Generic[Item]):
    """Items of one batch for one worker; `at` is where in the batch a single item stands."""

    batch: int
    items: Sequence[Item]
    attempt: int = 1
    at: int | None = None


@dataclass(slots=True)
class _Open(Generic[Part]):
    """A batch that is being worked on: its parts by place, and how many are still owed."""

    owed: int = 1
    parts: dict[int, Part] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorkerMessage:
    """`ready` once models are loaded, a `part`, `failed` with the kind of error, or how the worker was `lost`.

    An `error` ends everything: Touchstone itself cannot be used, and no other worker would do better.
    """

    kind: Literal["ready", "part", "failed", "error", "lost"]
    content: Any = None


def attempt(work: Callable[[Sequence[Any]], Any], items: Sequence[Any]) -> WorkerMessage:
    """The part that the items come to, or why there is none."""
    try:
        return WorkerMessage("part", work(items))
    except TouchstoneError as error:
        return WorkerMessage("error", error)
    except Exception as error:  # noqa: BLE001 - a defect must not cost the worker; its text may quote a customer
        return WorkerMessage("failed", type(error).__name__)


def load(work: Work[Any, Any]) -> WorkerMessage:
    """Whether the worker has its models."""
    loaded = attempt(lambda _: work.prepare(), ())
    return WorkerMessage("ready") if loaded.kind == "part" else loaded


@dataclass(slots=True, eq=False)
class Worker:
    """A process or an actor, and what it is doing."""

    handle: Any
    is_ready: bool = False
    task: Task[Any] | None = None
    done: int = 0

    @property
    def is_busy(self) -> bool:
        return self.task is not None or not self.is_ready


class Hands(Protocol):
    """How workers are started, given items, heard and ended. `remedy` is for workers that are lost while they load."""

    remedy: str

    def start(self) -> Any:
        """The handle of a new worker, which loads its models."""

    def send(self, items: Sequence[Any]) -> Any:
        """The items as they are given; may be done long before a worker is free."""

    def give(self, handle: Any, sent: Any) -> bool:
        """Whether the worker could be given the items."""

    def hear(self, workers: Sequence[Worker]) -> Iterator[tuple[Worker, WorkerMessage]]:
        """What busy workers answer, once one does."""

    def end(self, handle: Any) -> str:
        """Let a worker go; how it has ended, if it was lost."""

    def dismiss(self, workers: Sequence[Worker]) -> None:
        """Let all go at once, whatever they are doing."""


class Crew(Generic[Item, Part]):
    """The workers of one map: as many as needed, replaced when lost or when they have done their share.

    At most a few batches for each worker are read and not yet given out.
    """

    def __init__(
        self,
        work: Work[Item, Part],
        batches: Iterable[Sequence[Item]],
        hands: Hands,
        *,
        size: int,
        tasks_each: int,
        on_event: OnEvent,
        start_attempts: int = START_ATTEMPTS,
    ) -> None:
        self._work = work
        self._batches = iter(batches)
        self._hands = hands
        self._size = size
        self._tasks_each = tasks_each
        self._on_event = on_event
        self._start_attempts = start_attempts
        self._workers: list[Worker] = []
        self._again: deque[Task[Item]] = deque()
        self._waiting: deque[tuple[Task[Item], Any]] = deque()
        self._open: dict[int, _Open[Part]] = {}
        self._read = 0
        self._given = 0
        self._is_read = False
        self._lost_starting = 0

    def run(self) -> Generator[tuple[Part, ...], None, None]:
        """The parts of each batch in order; the workers live as long as this iterator."""
        try:
            while self._open or not self._is_read:
                self._hand_out()
                while self._given in self._open and not self._open[self._given].owed:
                    parts = self._open.pop(self._given).parts
                    self._given += 1
                    yield tuple(parts[at] for at in sorted(parts))
                if any(worker.is_busy for worker in self._workers):
                    for worker, answer in self._hands.hear(self._workers):
                        self._hear(worker, answer)
        finally:
            self._hands.dismiss(self._workers)

    def _hand_out(self) -> None:
        """Give every free worker a task, and hire while there is more to do than there are workers."""
        while True:
            # Read while the workers work, so that none waits for it.
            if len(self._waiting) < self._size and (task := self._next_task()):
                self._waiting.append((task, self._hands.send(task.items)))
                starting = sum(not worker.is_ready for worker in self._workers)
                if len(self._workers) < self._size and len(self._waiting) > starting + len(self._free()):
                    self._hire()
            elif not (self._waiting and self._free()):
                return
            for worker in self._free()[: len(self._waiting)]:
                task, sent = self._waiting.popleft()
                if self._hands.give(worker.handle, sent):
                    worker.task = task
                else:
                    self._waiting.appendleft((task, sent))
                    self._lose(worker, self._hands.end(worker.handle))

    def _free(self) -> list[Worker]:
        return [worker for worker in self._workers if not worker.is_busy]

    def _hire(self) -> None:
        self._workers.append(Worker(self._hands.start()))

    def _hear(self, worker: Worker, answer: WorkerMessage) -> None:
        if answer.kind == "error":
            raise answer.content
        if answer.kind == "ready":
            worker.is_ready, self._lost_starting = True, 0
        elif answer.kind == "lost" or worker.task is None:
            how = self._hands.end(worker.handle)
            self._lose(worker, f"met {answer.content}" if answer.kind == "failed" else answer.content or how)
        else:
            task, worker.task = worker.task, None
            if answer.kind == "part":
                self._done(task, answer.content)
            else:
                self._try_again(task, reason=answer.content)
            worker.done += 1
            if worker.done >= self._tasks_each:
                self._workers.remove(worker)
                self._hands.end(worker.handle)
                if self._waiting:
                    self._hire()

    def _lose(self, worker: Worker, how: str) -> None:
        """Take the worker off the list; what it was doing is done again."""
        self._workers.remove(worker)
        self._on_event(Event("worker_lost", how))
        if worker.task:
            self._try_again(worker.task, reason=f"worker {how}")
        elif not worker.is_ready:
            self._lost_starting += 1
            if self._lost_starting >= self._start_attempts:
                problem = f"{self._lost_starting} workers in a row were lost while they loaded their models"
                needed = f"each needs about {MEGABYTES} MB of memory{self._hands.remedy}"
                raise ResourceError(f"{problem} (the last {how}): {needed}")
        if self._waiting and not self._workers:
            self._hire()

    def _next_task(self) -> Task[Item] | None:
        """What a free worker should do: what has to be tried again, then the next batch; None when neither is there."""
        if self._again:
            return self._again.popleft()
        if self._is_read or self._read - self._given >= AHEAD * self._size:
            return None
        items = next(self._batches, None)
        if items is None:
            self._is_read = True
            return None
        task = Task(self._read, items)
        self._open[self._read] = _Open()
        self._read += 1
        return task

    def _done(self, task: Task[Item], part: Part) -> None:
        """A worker has done its task."""
        batch = self._open[task.batch]
        batch.parts[task.at or 0] = part
        batch.owed -= 1

    def _try_again(self, task: Task[Item], *, reason: str) -> None:
        """The worker was lost, or the work itself failed: try again, take the batch apart, or give the item up."""
        if task.attempt < ATTEMPTS:
            self._tell("batch_retried", task, reason)
            self._again.append(replace(task, attempt=task.attempt + 1))
        elif task.at is None and len(task.items) > 1:
            self._tell("batch_split", task, reason)
            self._open[task.batch].owed = len(task.items)
            self._again.extend(Task(task.batch, [item], at=at) for at, item in enumerate(task.items))
        else:
            self._tell("item_lost", task, reason)
            self._done(task, self._work.lost(task.items[0], reason=reason))

    def _tell(self, kind: str, task: Task[Item], reason: str) -> None:
        place = f"batch {task.batch}" + ("" if task.at is None else f", item {task.at}")
        self._on_event(Event(kind, f"{place}: {reason}"))  # type: ignore[arg-type]
