"""Cases of many requests at once -> judgements, by a few processes behind a queue that has an end.

Single cases go before batches: somebody waits to send that one reply.
"""

import asyncio
import itertools
import json
import logging
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from touchstone.app.config import Settings
from touchstone.core.case import Case
from touchstone.core.codec import result_from_dict
from touchstone.core.errors import ResourceError
from touchstone.core.result import Result
from touchstone.io.cases import Entry
from touchstone.service.options import Options
from touchstone.service.scoring.process import WorkerProcess
from touchstone.service.scoring.worker import Judgement

# A batch is cut so small that a single case that comes meanwhile waits for a fraction of a second at most.
PIECE = 8
_END, _SINGLE, _BATCH = -1, 0, 1

log = logging.getLogger("touchstone.service")


class OverloadError(Exception):
    """More is waiting than is soon scored; whoever asked may come again."""


@dataclass(order=True, slots=True)
class _Job:
    rank: int
    number: int
    entries: Sequence[Entry] = field(compare=False, default=())
    future: "asyncio.Future[list[Judgement]] | None" = field(compare=False, default=None)


class Scorer:
    """The queue and its processes. `start` before use, `close` after it."""

    def __init__(self, settings: Settings, *, options: Options) -> None:
        self._options = options
        self._jobs: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._room = {_SINGLE: options.waiting, _BATCH: options.batched}
        self._processes = [WorkerProcess(settings, case_seconds=options.case_seconds) for _ in range(options.workers)]
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._ready = 0
        self._is_closed = False

    def start(self) -> None:
        """Start the processes; they are ready one by one, within seconds."""
        for at, process in enumerate(self._processes):
            thread = threading.Thread(target=self._run, args=(process,), name=f"scorer-{at}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """End the processes, once each has answered the piece it is at."""
        self._is_closed = True
        for _ in self._threads:
            self._jobs.put(_Job(_END, next(self._numbers)))
        for thread in self._threads:
            thread.join()
        self._ready = 0

    @property
    def is_ready(self) -> bool:
        """Whether at least one process can score."""
        return self._ready > 0 and not self._is_closed

    @property
    def ready(self) -> int:
        """How many processes can score."""
        return self._ready

    @property
    def waiting(self) -> int:
        """How many cases were taken on and are not scored yet."""
        return self._options.waiting + self._options.batched - sum(self._room.values())

    async def score(self, entries: Sequence[Entry]) -> list[Judgement]:
        """Every entry's judgement, in order; OverloadError when too many wait already."""
        rank = _SINGLE if len(entries) == 1 else _BATCH
        if self._is_closed or len(entries) > self._room[rank]:
            raise OverloadError
        pieces = [entries[at : at + PIECE] for at in range(0, len(entries), PIECE)]
        self._room[rank] -= len(entries)
        try:
            if rank == _SINGLE:
                return await self._put(entries, rank=rank)
            done = await asyncio.gather(*(self._put(piece, rank=rank) for piece in pieces))
        finally:
            self._room[rank] += len(entries)
        return [each for piece in done for each in piece]

    async def result(self, case: Case) -> Result:
        """One case's result as a value."""
        (judged,) = await self.score([Entry("request", 1, case)])
        return result_from_dict(json.loads(judged.body))

    def _put(self, entries: Sequence[Entry], *, rank: int) -> "asyncio.Future[list[Judgement]]":
        future: asyncio.Future[list[Judgement]] = asyncio.get_running_loop().create_future()
        self._jobs.put(_Job(rank, next(self._numbers), entries, future))
        return future

    def _run(self, process: WorkerProcess) -> None:
        """What a thread does: hand one piece after another to its process."""
        self._start(process)
        while (job := self._jobs.get()).future is not None:
            # Whoever asked may have gone while it waited.
            if not job.future.cancelled():
                _settle(job.future, self._judged(process, job.entries))
        process.stop()

    def _start(self, process: WorkerProcess) -> None:
        try:
            process.start()
        except ResourceError as error:
            # The next case tries again.
            log.error("%s", error)
        else:
            with self._lock:
                self._ready += 1

    def _judged(self, process: WorkerProcess, entries: Sequence[Entry]) -> list[Judgement] | None:
        try:
            return process.judge(entries)
        except ResourceError as error:
            log.error("%s", error)
        except Exception as error:  # noqa: BLE001 - a thread that ends leaves everybody waiting; the text may quote
            log.error("a defect in handing over cases, %s", type(error).__name__)
            process.stop()
        return None


def _settle(future: "asyncio.Future[list[Judgement]]", judgements: list[Judgement] | None) -> None:
    """Answer whoever waits; None means that nothing can be scored now."""

    def settle() -> None:
        if future.done():
            return
        if judgements is None:
            future.set_exception(OverloadError())
        else:
            future.set_result(judgements)

    try:
        future.get_loop().call_soon_threadsafe(settle)
    except RuntimeError:
        # The loop is closed: nobody waits any more.
        return
