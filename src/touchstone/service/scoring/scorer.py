"""Cases of many requests at once -> judgements, by a few processes that take them from lanes."""

import asyncio
import logging
import threading
from collections.abc import Sequence

from touchstone.app.config import Settings
from touchstone.core.case import Case
from touchstone.core.errors import ResourceError
from touchstone.core.result import Failure
from touchstone.io.cases import Entry
from touchstone.runs.evaluate import failed
from touchstone.service.options import Options
from touchstone.service.scoring.lanes import Lanes, OverloadError, ScoringOrder, ScoringPiece
from touchstone.service.scoring.worker import EncodedResult, WorkerProcess, judgement

# A batch with so many cases that take too long is given up: what it costs has an end.
MOST_HUNG = 3
_DIED = "the process that scored the case ended before it was done: shorten the case, or report it"
_HUNG = "the case took more than {seconds:g} seconds to score and was stopped: shorten it"
_GIVEN_UP = "not scored, since {hung} cases of the batch took more than {seconds:g} seconds each: send it without them"

log = logging.getLogger("touchstone.service")


class Scorer:
    """The lanes and the processes. `start` before use, `close` after it."""

    def __init__(self, settings: Settings, *, options: Options) -> None:
        self._options = options
        self._lanes = Lanes(prompt=options.waiting, patient=options.batched, workers=options.workers)
        self._processes = [WorkerProcess(settings, case_seconds=options.case_seconds) for _ in range(options.workers)]
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start the processes; they are ready one by one, within seconds."""
        for at, process in enumerate(self._processes):
            thread = threading.Thread(target=self._run, args=(process,), name=f"scorer-{at}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """End the processes, once each has answered the case it is at."""
        for order in self._lanes.close():
            _settle(order.future, None)
        for thread in self._threads:
            thread.join()

    @property
    def is_ready(self) -> bool:
        """Whether at least one process can score."""
        return self.ready > 0

    @property
    def ready(self) -> int:
        """How many processes can score."""
        return sum(process.is_ready for process in self._processes)

    @property
    def waiting(self) -> int:
        """How many cases were taken on and are not scored yet."""
        return self._lanes.cases

    @property
    def lag(self) -> float:
        """For how many seconds a short single case has waited, or would have."""
        return self._lanes.lag

    async def score(self, entries: Sequence[Entry]) -> list[EncodedResult]:
        """Every entry's judgement, in order; OverloadError when too many wait already.

        When this is cancelled, what has not been begun never is, and a long case under way is ended.
        """
        order = self._lanes.add(entries, asyncio.get_running_loop().create_future())
        try:
            return await order.future
        finally:
            self._lanes.remove(order)

    def _run(self, process: WorkerProcess) -> None:
        """What a thread does: hand one case after another to its process."""
        self._start(process)
        while (piece := self._lanes.take()) is not None:
            judged = self._judged(process, piece)
            self._lanes.done(piece)
            if judged is None:
                _settle(piece.order.future, None)
            else:
                piece.order.judgements[piece.at] = judged
                if len(piece.order.judgements) == len(piece.order.entries):
                    _settle(piece.order.future, piece.order)
            if not process.is_ready:
                # Not only when the next case comes: somebody would wait for it.
                self._start(process)
        process.stop()

    def _start(self, process: WorkerProcess) -> None:
        try:
            process.start()
        except ResourceError as error:
            # The next case tries again.
            log.error("%s", error)

    def _judged(self, process: WorkerProcess, piece: ScoringPiece) -> EncodedResult | None:
        """The piece's judgement, which may be a failure; None when nothing can be scored now, or nobody waits."""
        order, seconds = piece.order, self._options.case_seconds
        if not order.is_wanted():
            return None
        if order.hung >= MOST_HUNG:
            return _lost(piece.entry, message=_GIVEN_UP.format(hung=order.hung, seconds=seconds))
        try:
            answer = process.judge(piece.entry, is_wanted=order.is_wanted)
        except ResourceError as error:
            log.error("%s", error)
            return None
        except Exception as error:  # noqa: BLE001 - a thread that ends leaves everybody waiting; the text may quote
            log.error("a defect in handing over a case, %s", type(error).__name__)
            process.stop()
            return None
        if answer == "hung":
            order.hung += 1
            log.warning("a case of about %d characters took more than %g s and was stopped", piece.effort, seconds)
            return _lost(piece.entry, message=_HUNG.format(seconds=seconds))
        if answer == "died":
            return _lost(piece.entry, message=_DIED)
        return None if answer == "abandoned" else answer


def _lost(entry: Entry, *, message: str) -> EncodedResult:
    id = entry.case.id if isinstance(entry.case, Case) else None
    return judgement(failed(id, Failure("score", "ScoringStopped", message), line=entry.line))


def _settle(future: "asyncio.Future[list[EncodedResult]]", order: ScoringOrder | None) -> None:
    """Answer whoever waits; None means that nothing can be scored now."""

    def settle() -> None:
        if future.done():
            return
        if order is None:
            future.set_exception(OverloadError())
        else:
            future.set_result([order.judgements[at] for at in range(len(order.entries))])

    try:
        future.get_loop().call_soon_threadsafe(settle)
    except RuntimeError:
        # The loop is closed: nobody waits any more.
        return
