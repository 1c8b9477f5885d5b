"""What a worker does: take items, answer with their part; a worker process ends when its pipe does."""

import pickle
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Literal

from touchstone.core.errors import TouchstoneError

# What a worker with its models and full caches holds, rounded up: measured by `python -m benchmarks engines`.
MEGABYTES = 600


@dataclass(frozen=True, slots=True)
class Answer:
    """`ready` once models are loaded, a `part`, or `failed` with the kind of error that the work met.

    An `error` ends everything: Touchstone itself cannot be used, and no other worker would do better.
    """

    kind: Literal["ready", "part", "failed", "error"]
    content: Any = None


def attempt(work: Callable[[Sequence[Any]], Any], items: Sequence[Any]) -> Answer:
    """The part that the items come to, or why there is none."""
    try:
        return Answer("part", work(items))
    except TouchstoneError as error:
        return Answer("error", error)
    except Exception as error:  # noqa: BLE001 - a defect must not cost the worker; its text may quote a customer
        return Answer("failed", type(error).__name__)


def serve(pipe: Connection, work: bytes) -> None:
    """Work until the driver closes the pipe or is gone."""
    # The driver is told to stop by the same Ctrl-C and then ends its workers in good order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        do = pickle.loads(work)
        do.prepare()
    except TouchstoneError as error:
        pipe.send(Answer("error", error))
        return
    except Exception as error:  # noqa: BLE001 - such as too little memory: the driver says what to do
        pipe.send(Answer("failed", type(error).__name__))
        return
    pipe.send(Answer("ready"))
    while True:
        try:
            pipe.send(attempt(do, pipe.recv()))
        except (EOFError, OSError):
            return
