"""A model to ask: a server whose answers are kept, or records alone."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol

from touchstone.clients.llm.call import Answered, Call, Sampling, call_for
from touchstone.clients.llm.connection import Connection
from touchstone.clients.llm.faults import fault
from touchstone.clients.llm.meter import Meter
from touchstone.clients.llm.records import Records
from touchstone.clients.llm.server import open_server
from touchstone.core.result import Failure
from touchstone.judges.llm.answer import Answer
from touchstone.judges.llm.request import Request


class Asked(Protocol):
    """Whatever answers calls; `ask` is called from several threads."""

    def ask(self, call: Call) -> Answered | Failure: ...

    def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Model:
    """A model by name. Answers come from the records where they have one, else from the server, and are then kept.

    Without a server, what is not recorded is a failure. `asks_anew` passes over what is recorded.
    """

    name: str
    sampling: Sampling
    meter: Meter
    server: Asked | None = None
    records: Records | None = None
    asks_anew: bool = False

    def ask(self, request: Request, *, vote: int = 1) -> Answer | Failure:
        """The answer to a request, or why there is none."""
        call = call_for(request, model=self.name, sampling=self.sampling, vote=vote)
        if self.records and not self.asks_anew and (known := self.records.find(call)):
            self.meter.note_recorded()
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
    names: tuple[str, ...],
    *,
    connection: Connection | None,
    meter: Meter,
    sampling: Sampling,
    records: Records | None,
    timeout: float = 60.0,
    asks_anew: bool = False,
) -> Iterator[tuple[Model, ...]]:
    """The models, all on one server and under one meter; `connection` None asks the records alone."""
    with ExitStack() as stack:
        server = None
        if connection is not None:
            server = stack.enter_context(open_server(connection, meter=meter, timeout=timeout))
        yield tuple(Model(name, sampling, meter, server, records, asks_anew) for name in names)
