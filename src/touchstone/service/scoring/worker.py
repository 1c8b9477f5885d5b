"""A case -> its judgement, by a process that is started again when it dies or hangs: both ends of its pipe."""

import json
import logging
import multiprocessing
import pickle
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Literal

from touchstone.app.config import Settings
from touchstone.app.score import score_entries
from touchstone.core.case import Case
from touchstone.core.codec import result_from_dict, result_to_dict
from touchstone.core.errors import ResourceError
from touchstone.core.result import Result
from touchstone.io.cases import Entry

log = logging.getLogger("touchstone.service")

READY = b"ready"
# Loading parser and embeddings takes two seconds, on a busy machine far more.
START_SECONDS = 120.0
# A case that nobody waits for any more is ended once it has taken as long as a new process takes to start.
_WORTH_ENDING_SECONDS = 2.0
_GLANCE_SECONDS = 0.25
_ATTEMPTS = 2

# Why a case has no judgement: it ended its process, took too long, or nobody waits for it any more.
Loss = Literal["died", "hung", "abandoned"]

_WARM_UP = Case(
    id="warm-up",
    input="When is it due, and what does it cost?",
    response="It is due on 3 May and costs $5. Please pay under My Account.",
    context=["It is due on 3 May and costs $5."],
)


@dataclass(frozen=True, slots=True)
class EncodedResult:
    """A result as the JSON it is sent as, with what is counted of it."""

    body: bytes
    decision: str
    verdict: str | None
    outcome: str | None
    violations: tuple[str, ...]
    failed: bool
    seconds: float

    def decode(self) -> Result:
        """The result as a value."""
        return result_from_dict(json.loads(self.body))


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


def work(connection: Connection, settings: Settings) -> None:
    """Answer every entry that comes; the end of the service, however it ends, closes the pipe."""
    # Ctrl-C reaches the whole group; the service decides what is still finished.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        judge_entry(Entry("warm-up", 1, _WARM_UP), settings=settings)
        connection.send_bytes(READY)
        while True:
            entry = pickle.loads(connection.recv_bytes())
            connection.send_bytes(pickle.dumps(judge_entry(entry, settings=settings)))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except ResourceError as error:
        log.error("a scoring process cannot go on: %s", error)
    except Exception as error:  # noqa: BLE001 - the process would print its text, which may quote a customer
        log.error("a defect in a scoring process, %s", type(error).__name__)


def judge_entry(entry: Entry, *, settings: Settings) -> EncodedResult:
    """The entry's result, timed."""
    began = time.perf_counter()
    (scored,) = score_entries([entry], settings=settings)
    return judgement(scored.result, seconds=time.perf_counter() - began)


def judgement(result: Result, *, seconds: float = 0.0) -> EncodedResult:
    """The result as it is sent."""
    grading = result.rubric
    text = json.dumps(result_to_dict(result), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return EncodedResult(
        body=text.encode("utf-8", "replace"),
        decision=result.decision,
        verdict=result.verdict,
        outcome=grading.outcome if grading else None,
        violations=tuple(violation.kind for violation in grading.violations) if grading else (),
        failed=bool(result.failures),
        seconds=seconds,
    )
