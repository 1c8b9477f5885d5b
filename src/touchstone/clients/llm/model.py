"""A model to ask: a server whose answers are kept, or records alone.

Records are files named by the hash of their call: what a model answered once need not be asked, paid or waited for
again.
"""

import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import TypeAdapter

from touchstone.clients.faults import fault
from touchstone.clients.llm.call import Answered, Call, Sampling, call_for
from touchstone.clients.llm.connection import Connection
from touchstone.clients.llm.meter import Account, Meter, Prices
from touchstone.clients.llm.server import open_server
from touchstone.core.errors import InputError
from touchstone.core.result import Failure
from touchstone.judges.llm.answer import Answer
from touchstone.judges.llm.request import Request

_RECORD = TypeAdapter(Answered)


class Answerer(Protocol):
    """Whatever answers calls; `ask` is called from several threads."""

    def ask(self, call: Call) -> Answered | Failure: ...

    def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Seat:
    """A model as a judge: what it is called, its own name, and where it is; None for the records alone."""

    name: str
    model: str
    connection: Connection | None = None
    prices: Prices | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """A model by what it is called. Answers come from the records where they have one, else from the server, and are
    then kept.

    Without a server, what is not recorded is a failure. `asks_anew` passes over what is recorded.
    """

    seat: Seat
    sampling: Sampling
    account: Account
    server: Answerer | None = None
    records: "Records | None" = None
    asks_anew: bool = False

    @property
    def name(self) -> str:
        return self.seat.name

    def call(self, request: Request, *, vote: int = 1) -> Call:
        """What is asked of this model for one vote on a request."""
        return call_for(request, model=self.seat.model, sampling=self.sampling, vote=vote, judge=self.seat.name)

    def ask(self, request: Request, *, vote: int = 1) -> Answer | Failure:
        """The answer to a request, or why there is none."""
        call = self.call(request, vote=vote)
        if self.records and not self.asks_anew and (known := self.records.find(call)):
            self.account.note_recorded(known.usage)
            return known.answer
        if self.server is None:
            remedy = "record it with --record, with the same model, prompt and settings"
            return fault("judge", "NotRecorded", f"the records do not hold this call: {remedy}")
        found = self.server.ask(call)
        if isinstance(found, Failure):
            return found
        if self.records:
            self.records.keep(call, found)
        return found.answer

    def stop(self) -> None:
        """Gives up what is under way."""
        if self.server is not None:
            self.server.stop()


@contextmanager
def open_models(
    seats: Sequence[Seat],
    *,
    meter: Meter,
    sampling: Sampling,
    records: "Records | None",
    timeout: float = 60.0,
    asks_anew: bool = False,
) -> Iterator[tuple[Model, ...]]:
    """The models, each on its server and all under one meter.

    Two models of one server have a client each: what one of them refuses, the other may take.
    """
    with ExitStack() as stack:
        models = []
        for seat in seats:
            account = meter.open_account(seat.name, seat.prices)
            server = None
            if seat.connection is not None:
                server = stack.enter_context(open_server(seat.connection, account=account, timeout=timeout))
            models.append(Model(seat, sampling, account, server, records, asks_anew))
        yield tuple(models)


class Records:
    """A directory of calls with their answers. Files hold customers' words: only their owner can read them."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)

    def find(self, call: Call) -> Answered | None:
        """The answer recorded for exactly this call; a file that cannot be read is none."""
        try:
            return _RECORD.validate_json(self._path(call).read_bytes())
        except (OSError, ValueError):
            return None

    def keep(self, call: Call, answered: Answered) -> None:
        """Writes the call and its answer."""
        answer = {name: value for name, value in asdict(answered.answer).items() if value is not None}
        row = {"call": call.to_dict(), "answer": answer, "usage": asdict(answered.usage)}
        write_row(self._path(call), row)

    def _path(self, call: Call) -> Path:
        key = call.key
        return self.directory / key[:2] / f"{key}.json"


def write_row(path: Path, row: Mapping[str, Any]) -> None:
    """Writes a file that only its owner can read; it is there whole or not at all."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(row, stream, ensure_ascii=False, sort_keys=True, indent=1)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        problem = error.strerror or type(error).__name__
        raise InputError(f"{path.parent} cannot be written ({problem}): name another with --record") from error


def open_replay(directory: str) -> Records:
    """Records that must be there already."""
    if not Path(directory).is_dir():
        raise InputError(f"--replay {directory} is not a directory: record one first with --record {directory}")
    return Records(directory)
