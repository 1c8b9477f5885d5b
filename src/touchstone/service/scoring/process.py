"""A case -> its judgement, by a process that is started again when it dies or hangs."""

import multiprocessing
import pickle
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Literal

from touchstone.app.config import Settings
from touchstone.core.errors import ResourceError
from touchstone.io.cases import Entry
from touchstone.service.scoring.worker import READY, EncodedResult, work

# Loading parser and embeddings takes two seconds, on a busy machine far more.
START_SECONDS = 120.0
# A case that nobody waits for any more is ended once it has taken as long as a new process takes to start.
_WORTH_ENDING_SECONDS = 2.0
_GLANCE_SECONDS = 0.25
_ATTEMPTS = 2

# Why a case has no judgement: it ended its process, took too long, or nobody waits for it any more.
Loss = Literal["died", "hung", "abandoned"]


class WorkerProcess:
    """One scoring process. Used by one thread at a time; others may look whether it is ready."""

    def __init__(self, settings: Settings, *, case_seconds: float) -> None:
        self._settings = settings
        self._case_seconds = case_seconds
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self.is_ready = False

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
        self.is_ready = True

    def judge(self, entry: Entry, *, is_wanted: Callable[[], bool] = lambda: True) -> EncodedResult | Loss:
        """The entry's judgement, or why there is none; one that ends the process is tried once more."""
        for _ in range(_ATTEMPTS):
            if self._process is None or not self._process.is_alive():
                self.stop()
                self.start()
            answer = self._ask(entry, is_wanted=is_wanted)
            if isinstance(answer, bytes):
                judged: EncodedResult = pickle.loads(answer)
                return judged
            self.stop()
            if answer != "died":
                return answer
        return "died"

    def stop(self) -> None:
        """End the process now."""
        self.is_ready = False
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None

    def _ask(self, entry: Entry, *, is_wanted: Callable[[], bool]) -> bytes | Loss:
        assert self._pipe is not None
        try:
            self._pipe.send_bytes(pickle.dumps(entry))
        except OSError:
            return "died"
        return self._answer(self._case_seconds, is_wanted=is_wanted)

    def _answer(self, seconds: float, *, is_wanted: Callable[[], bool] = lambda: True) -> bytes | Loss:
        assert self._pipe is not None
        began = time.monotonic()
        try:
            while (spent := time.monotonic() - began) < seconds:
                if self._pipe.poll(min(_GLANCE_SECONDS, seconds - spent)):
                    return self._pipe.recv_bytes()
                if spent > _WORTH_ENDING_SECONDS and not is_wanted():
                    return "abandoned"
        except (EOFError, OSError):
            return "died"
        return "hung"
