"""A piece of work -> its judgements, by a process that is started again when it dies or hangs."""

import multiprocessing
import pickle
from collections.abc import Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from touchstone.app.config import Settings
from touchstone.core.case import Case
from touchstone.core.errors import ResourceError
from touchstone.core.result import Failure
from touchstone.io.cases import Entry
from touchstone.runs.evaluate import failed
from touchstone.service.scoring.worker import READY, Judgement, judgement, work

# Loading parser and embeddings takes two seconds, on a busy machine far more.
START_SECONDS = 120.0
_DIED = "the process that scored the case ended before it was done: shorten the case, or report it"
_HUNG = "the case took more than {seconds:g} seconds to score and was given up: shorten it"


class WorkerProcess:
    """One scoring process. Used by one thread at a time."""

    def __init__(self, settings: Settings, *, case_seconds: float) -> None:
        self._settings = settings
        self._case_seconds = case_seconds
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def start(self) -> None:
        """Start the process and wait until it can score; ResourceError when it cannot."""
        # A forked child would share locks and sockets with the threads of the service.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, self._settings), daemon=True, name="touchstone-scorer")
        process.start()
        theirs.close()
        self._process, self._pipe = process, ours
        if self._answer(START_SECONDS) != READY:
            self.stop()
            raise ResourceError("a scoring process could not start: touchstone score on one case shows why")

    def judge(self, entries: Sequence[Entry]) -> list[Judgement]:
        """Every entry's judgement. One that kills the process, or hangs it, is a failure; the others are scored."""
        if self._pipe is None:
            self.start()
        limit = self._case_seconds * len(entries)
        answer = self._ask(entries, seconds=limit)
        if answer is not None:
            return answer
        is_hung = self._process is not None and self._process.is_alive()
        self.stop()
        if len(entries) > 1:
            return [each for entry in entries for each in self.judge([entry])]
        return [_lost(entries[0], message=_HUNG.format(seconds=self._case_seconds) if is_hung else _DIED)]

    def stop(self) -> None:
        """End the process now."""
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None

    def _ask(self, entries: Sequence[Entry], *, seconds: float) -> list[Judgement] | None:
        assert self._pipe is not None
        try:
            self._pipe.send_bytes(pickle.dumps(entries))
        except OSError:
            return None
        raw = self._answer(seconds)
        return None if raw is None else pickle.loads(raw)

    def _answer(self, seconds: float) -> bytes | None:
        assert self._pipe is not None
        try:
            return self._pipe.recv_bytes() if self._pipe.poll(seconds) else None
        except (EOFError, OSError):
            return None


def _lost(entry: Entry, *, message: str) -> Judgement:
    id = entry.case.id if isinstance(entry.case, Case) else None
    return judgement(failed(id, Failure("score", "ScoringStopped", message), line=entry.line))
