"""One entry in, its judgement out: what a scoring process does until its pipe is closed."""

import json
import logging
import pickle
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

from touchstone.app.config import Settings
from touchstone.app.score import score_entries
from touchstone.core.case import Case
from touchstone.core.codec import result_to_dict
from touchstone.core.errors import ResourceError
from touchstone.core.result import Result
from touchstone.io.cases import Entry

log = logging.getLogger("touchstone.service")

READY = b"ready"
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
