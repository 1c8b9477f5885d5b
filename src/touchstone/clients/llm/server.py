"""A call -> an answer from a server that speaks OpenAI's protocol, tried again when waiting may help.

Servers differ in what they take. What one refuses is left out from then on: a schema's length limits, the schema, JSON
mode, the seed, the temperature, the older name of the token limit, or a system message apart from the user's.
"""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from touchstone.clients.faults import MISCONFIGURED, RETRIED, Fault, fault
from touchstone.clients.http import Backoff, Exchange, HttpAnswer, Peer, Setback, open_exchange
from touchstone.clients.llm.call import Answered, Call
from touchstone.clients.llm.connection import Connection
from touchstone.clients.llm.meter import Account
from touchstone.clients.llm.protocol import FORMATS, Option, body_of, read_body, refusal, refused_option
from touchstone.core.errors import ConfigError
from touchstone.core.result import Failure

# Failures in a row after which the server is taken to be away, and the rest is not waited for.
MOST_IN_A_ROW = 5
BUDGET_REMEDY = "raise judge.budget, or give a larger --budget, and run it again; what was answered is kept"
LONGEST_ANSWER = 10_000_000

T = TypeVar("T")


@contextmanager
def open_server(
    connection: Connection, *, account: Account, timeout: float = 60.0, backoff: Backoff | None = None
) -> Iterator["Server"]:
    """The server, reached and let in; ConfigError when it is not there or refuses the key."""
    with open_exchange(
        peer_at(connection),
        connection.base_url,
        headers=connection.headers,
        timeout=timeout,
        backoff=backoff or Backoff(retries=4, first=1.0),
        follows_redirects=True,
    ) as exchange:
        server = Server(connection, exchange=exchange, account=account)
        server.check()
        yield server


def peer_at(connection: Connection) -> Peer:
    """The server as messages name it, and what its statuses mean."""
    key = " or ".join(connection.key_variables)
    refused: tuple[Fault, str] = ("AccessRefused", f", access refused: check the key in {key}, and what it may use")
    remedy = "check the address, which most often ends in /v1, and the model's name"
    absent: tuple[Fault, str] = ("NotFound", f", not found: {remedy}")
    later: tuple[Fault, str] = ("ServerError", ": look into the server's log")
    return Peer(
        stage="judge",
        name=connection.place,
        slow="allow it more time with --judge-set timeout=SECONDS, or look into the server's log",
        busy="ask less at once with --judge-set concurrency=1, or run it again later",
        refusals={401: refused, 403: refused, 404: absent, 405: absent, 408: later, 409: later, 425: later},
        otherwise="BadRequest",
    )


class Server:
    """A model server. What starts with an underscore runs on its exchange's loop, so that nothing needs a lock."""

    def __init__(self, connection: Connection, *, exchange: Exchange, account: Account) -> None:
        self.place = connection.place
        self.timeout = exchange.timeout
        self.peer = exchange.peer
        self._base_url = connection.base_url
        self._exchange = exchange
        self._account = account
        self._left_out: set[Option] = set()
        self._format = 0
        self._answers = 0
        self._in_a_row = 0

    def check(self) -> None:
        """ConfigError unless the server is there and takes the key; not every server lists its models."""
        found = self._exchange.run(self.request("GET", "/models"))
        failure = found.failure if isinstance(found, Setback) else None
        if failure and failure.error in ("Unreachable", "Timeout", "AccessRefused"):
            raise ConfigError(failure.message)

    def ask(self, call: Call) -> Answered | Failure:
        """The model's answer. What is wrong for every call is a ConfigError as long as none was answered."""
        return self._exchange.run(self._ask(call))

    def retried(self, once: Callable[[int], Awaitable[T | Setback]]) -> T | Failure:
        """What comes of any other requests, which are tried again as calls are."""
        return self._exchange.run(self._exchange.retried(once))

    def body(self, call: Call) -> dict[str, Any]:
        """The call in the form that the server has taken so far; not while calls are under way."""
        return body_of(call, left_out=self._left_out, form=FORMATS[self._format])

    def stop(self) -> None:
        """Gives up what is under way."""
        self._exchange.stop()

    async def request(
        self,
        method: str,
        path: str,
        *,
        row: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        most: int = LONGEST_ANSWER,
        **content: Any,
    ) -> HttpAnswer | Setback:
        """One request, with `row` as JSON if there is one; a setback unless the server does what it is asked to."""
        if row is not None:
            content = {"content": json.dumps(row).encode("ascii"), "headers": {"Content-Type": "application/json"}}
        answer = await self._exchange.send(method, f"{self._base_url}{path}", most=most, timeout=timeout, **content)
        if isinstance(answer, Setback):
            return answer
        if not answer.is_success:
            body = parsed(answer.content) or answer.content.decode("utf-8", "replace")
            asked = answer.asked
            return Setback(refusal(answer.status, body, peer=self.peer, asked=asked), asked, answer.status, body)
        if len(answer.content) > most:
            remedy = "look into the server's log"
            return Setback(fault("judge", "TooLong", f"{self.place} wrote more than {most:,} bytes: {remedy}"))
        return answer

    def not_a_server(self) -> Setback:
        """The setback of an answer that is not the protocol's."""
        problem = f"{self.place} does not answer in the form of OpenAI's protocol"
        return Setback(fault("judge", "NotAServer", f"{problem}: check the address, which most often ends in /v1"))

    async def _ask(self, call: Call) -> Answered | Failure:
        if self._in_a_row >= MOST_IN_A_ROW:
            problem = f"{self.place} failed {self._in_a_row} times in a row and was not asked again"
            return fault("judge", "ServerAway", f"{problem}: run it again when the server is back")
        reserved = self._account.reserve(call)
        if reserved is None:
            most, used = self._account.estimate(call).total, self._account.meter.used.total
            problem = f"the budget is reached: {used:,} tokens are used and a call may take {most:,}"
            return fault("judge", "BudgetReached", f"{problem}; {BUDGET_REMEDY}")
        found = await self._exchange.retried(lambda _: self._attempt(call))
        self._account.settle(reserved, found.usage if isinstance(found, Answered) else None, call=call)
        if isinstance(found, Answered):
            self._answers += 1
            self._in_a_row = 0
        elif found.error in MISCONFIGURED and not self._answers:
            raise ConfigError(found.message)
        elif found.error in MISCONFIGURED | RETRIED:
            self._in_a_row += 1
        else:
            self._in_a_row = 0
        return found

    async def _attempt(self, call: Call) -> Answered | Setback:
        """One answer, asked for in other forms as long as the server refuses the form and there is another."""
        while True:
            form = self._form
            answer = await self.request("POST", "/chat/completions", row=self.body(call))
            if isinstance(answer, HttpAnswer):
                return read_body(parsed(answer.content), call) or self.not_a_server()
            if not self._adapts(refused_option(answer.status, answer.body), form):
                return answer

    @property
    def _form(self) -> tuple[int, frozenset[Option]]:
        return self._format, frozenset(self._left_out)

    def _adapts(self, option: Option | None, form: tuple[int, frozenset[Option]]) -> bool:
        """Whether the call can be put in another form. One that was sent in an older form only needs the newer one."""
        if option is None:
            return False
        if form != self._form:
            return True
        if option == "format":
            has_another = self._format + 1 < len(FORMATS)
            self._format += has_another
            return has_another
        is_new = option not in self._left_out
        self._left_out.add(option)
        return is_new


def parsed(content: bytes) -> Any:
    """The JSON value in a server's answer; None when it holds none."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
