"""A model to ask: a server whose answers are kept, or records alone."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol

from touchstone.clients.llm.call import Answered, Call, Sampling, call_for
from touchstone.clients.llm.connection import Connection
from touchstone.clients.llm.faults import fault
from touchstone.clients.llm.meter import Account, Meter, Prices
from touchstone.clients.llm.records import Records
from touchstone.clients.llm.server import open_server
from touchstone.core.result import Failure
from touchstone.judges.llm.answer import Answer
from touchstone.judges.llm.request import Request


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
    records: Records | None = None
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
            return fault("NotRecorded", f"the records do not hold this call: {remedy}")
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
    records: Records | None,
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
