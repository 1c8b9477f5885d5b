"""Batches -> tasks for workers, and finished tasks -> batches in order: who still owes what, and what is tried again.

A batch whose worker is lost is tried once more as it is. When that worker is lost too, its items are tried one by one,
each twice, so that only the item that ends workers is given up.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

from touchstone.engines.engine import Event, Item, OnEvent, Part, Work, ignore

ATTEMPTS = 2
# A batch for each worker to go on with, and one being read.
AHEAD = 3
# Then a worker is replaced: what the parser remembers of every new word adds up over millions of replies.
TASKS_EACH = 1000


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


class Ledger(Generic[Item, Part]):
    """Hands out tasks and takes parts back; at most `window` batches are open at a time."""

    def __init__(
        self,
        work: Work[Item, Part],
        batches: Iterable[Sequence[Item]],
        *,
        workers: int,
        on_event: OnEvent = ignore,
    ) -> None:
        self._work = work
        self._batches = iter(batches)
        self._window = AHEAD * workers
        self._on_event = on_event
        self._again: deque[Task[Item]] = deque()
        self._open: dict[int, _Open[Part]] = {}
        self._read = 0
        self._given = 0
        self._is_read = False

    def next_task(self) -> Task[Item] | None:
        """What a free worker should do: what has to be tried again, then the next batch; None when neither is there."""
        if self._again:
            return self._again.popleft()
        if self._is_read or self._read - self._given >= self._window:
            return None
        items = next(self._batches, None)
        if items is None:
            self._is_read = True
            return None
        task = Task(self._read, items)
        self._open[self._read] = _Open()
        self._read += 1
        return task

    def done(self, task: Task[Item], part: Part) -> None:
        """A worker has done its task."""
        batch = self._open[task.batch]
        batch.parts[task.at or 0] = part
        batch.owed -= 1

    def lost(self, task: Task[Item], *, reason: str) -> None:
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
            self.done(task, self._work.lost(task.items[0], reason=reason))

    def finished(self) -> Iterator[tuple[Part, ...]]:
        """The parts of every batch that is complete and whose turn it is."""
        while self._given in self._open and not self._open[self._given].owed:
            parts = self._open.pop(self._given).parts
            self._given += 1
            yield tuple(parts[at] for at in sorted(parts))

    @property
    def is_done(self) -> bool:
        """Whether every batch has been read and given out."""
        return self._is_read and not self._open

    def _tell(self, kind: str, task: Task[Item], reason: str) -> None:
        place = f"batch {task.batch}" + ("" if task.at is None else f", item {task.at}")
        self._on_event(Event(kind, f"{place}: {reason}"))  # type: ignore[arg-type]
