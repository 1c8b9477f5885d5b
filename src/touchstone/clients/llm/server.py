"""A call -> an answer from a server that speaks OpenAI's protocol, tried again when waiting may help.

Servers differ in what they take. What one refuses is left out from then on: a schema's length limits, the schema, JSON
mode, the seed, the temperature, the older name of the token limit, or a system message apart from the user's.
"""

import asyncio
import json
import random
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from touchstone.clients.bot.faults import STOPPED
from touchstone.clients.bot.loop import Loop, open_loop
from touchstone.clients.bot.retry import LONGEST_ASKED, Backoff, asked_wait
from touchstone.clients.llm.call import Answered, Call
from touchstone.clients.llm.connection import Connection
from touchstone.clients.llm.faults import STANDING, fault, refused, refused_option
from touchstone.clients.llm.meter import Account
from touchstone.clients.llm.protocol import FORMATS, body_of, read_body
from touchstone.core.errors import ConfigError
from touchstone.core.result import Failure
from touchstone.judges.llm.answer import STAGE

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# Failures in a row after which the server is taken to be away, and the rest is not waited for.
MOST_IN_A_ROW = 5
RETRIED = frozenset({"Unreachable", "Timeout", "RateLimited", "ServerError"})
BUDGET_REMEDY = "raise judge.budget, or give a larger --budget, and run it again; what was answered is kept"
# How servers write what they want to be left alone for.
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}
_LIMITED = ("requests", "tokens")

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]


@contextmanager
def open_server(
    connection: Connection,
    *,
    account: Account,
    timeout: float = 60.0,
    backoff: Backoff | None = None,
    sleep: Sleep = asyncio.sleep,
    chance: Callable[[], float] = random.random,
) -> Iterator["Server"]:
    """The server, reached and let in; ConfigError when it is not there or refuses the key."""
    client = _client(connection)
    with open_loop(last=client.close) as loop:
        server = Server(
            connection,
            client=client,
            loop=loop,
            account=account,
            timeout=timeout,
            backoff=backoff or Backoff(retries=4, first=1.0),
            sleep=sleep,
            chance=chance,
        )
        server.check()
        yield server


@dataclass(frozen=True, slots=True)
class _Setback:
    """A failed attempt, how long the server asks to be left alone, and whether another form of the call may do."""

    failure: Failure
    asked: float | None = None
    is_adapted: bool = False


class Server:
    """A model server. What starts with an underscore runs on its loop, so that nothing needs a lock."""

    def __init__(
        self,
        connection: Connection,
        *,
        client: "AsyncOpenAI",
        loop: Loop,
        account: Account,
        timeout: float,
        backoff: Backoff,
        sleep: Sleep,
        chance: Callable[[], float],
    ) -> None:
        self.place = connection.place
        self.timeout = timeout
        self._key_variables = connection.key_variables
        self._client = client
        self._loop = loop
        self._account = account
        self._backoff = backoff
        self._sleep = sleep
        self._chance = chance
        self._not_before = 0.0
        self._left_out: set[str] = set()
        self._format = 0
        self._answers = 0
        self._in_a_row = 0

    def check(self) -> None:
        """ConfigError unless the server is there and takes the key; not every server lists its models."""
        found = self._loop.run(self._list_models())
        if isinstance(found, Failure):
            raise ConfigError(found.message)

    def ask(self, call: Call) -> Answered | Failure:
        """The model's answer. What is wrong for every call is a ConfigError as long as none was answered."""
        found = self._loop.run(self._ask(call))
        if isinstance(found, Failure) and found.error == STOPPED:
            return Failure(STAGE, STOPPED, "the run was stopped before the model answered: run it again to go on")
        return found

    def send(self, work: Callable[["AsyncOpenAI"], Awaitable[T]], *, timeout: float | None = None) -> T | Failure:
        """What comes of any other request, which is tried again as calls are."""
        return self._loop.run(self._again(lambda: self._sent(work, timeout=timeout or self.timeout)))

    def body(self, call: Call) -> dict[str, Any]:
        """The call in the form that the server has taken so far; not while calls are under way."""
        return body_of(call, left_out=self._left_out, form=FORMATS[self._format])

    def refusal(self, status: int, body: Any) -> Failure:
        """The failure that an error of this server stands for."""
        return refused(status, body, place=self.place, key_variables=self._key_variables)

    def stop(self) -> None:
        """Gives up what is under way."""
        self._loop.stop()

    async def _list_models(self) -> Failure | None:
        try:
            async with asyncio.timeout(self.timeout):
                await self._client.models.with_raw_response.list()
        except Exception as error:  # noqa: BLE001 - sorted below; what is not the server's is raised again there
            setback = self._setback(error)
            is_fatal = setback.failure.error in ("Unreachable", "Timeout", "AccessRefused")
            return setback.failure if is_fatal else None
        return None

    async def _ask(self, call: Call) -> Answered | Failure:
        if self._in_a_row >= MOST_IN_A_ROW:
            problem = f"{self.place} failed {self._in_a_row} times in a row and was not asked again"
            return fault("ServerAway", f"{problem}: run it again when the server is back")
        reserved = self._account.reserve(call)
        if reserved is None:
            most, used = self._account.estimate(call).total, self._account.used_by_all.total
            problem = f"the budget is reached: {used:,} tokens are used and a call may take {most:,}"
            return fault("BudgetReached", f"{problem}; {BUDGET_REMEDY}")
        found = await self._again(lambda: self._attempt(call))
        self._account.settle(reserved, found.usage if isinstance(found, Answered) else None, call=call)
        if isinstance(found, Answered):
            self._answers += 1
            self._in_a_row = 0
        elif found.error in STANDING and not self._answers:
            raise ConfigError(found.message)
        elif found.error in STANDING | RETRIED:
            self._in_a_row += 1
        else:
            self._in_a_row = 0
        return found

    async def _again(self, once: Callable[[], Awaitable[T | _Setback]]) -> T | Failure:
        """What comes of it, tried again as long as that may help."""
        attempt = 0
        while True:
            await self._wait_as_asked()
            tried = await once()
            if not isinstance(tried, _Setback):
                return tried
            if tried.is_adapted:
                continue
            attempt += 1
            gives_up = attempt > self._backoff.retries or (tried.asked or 0) > LONGEST_ASKED
            if gives_up or tried.failure.error not in RETRIED:
                told = f" (tried {attempt} times)" if attempt > 1 else ""
                return replace(tried.failure, message=f"{tried.failure.message}{told}")
            # What one call is asked to wait holds for all of them.
            self._not_before = max(self._not_before, time.monotonic() + (tried.asked or 0))
            await self._sleep(self._backoff.wait(attempt, chance=self._chance()))

    async def _wait_as_asked(self) -> None:
        if (left := self._not_before - time.monotonic()) > 0:
            await self._sleep(left)

    async def _attempt(self, call: Call) -> Answered | _Setback:
        """One request; the time limit holds until the last byte."""
        form = (self._format, frozenset(self._left_out))
        try:
            async with asyncio.timeout(self.timeout):
                raw = await self._client.chat.completions.with_raw_response.create(**self.body(call))
                body = json.loads(raw.content)
        except Exception as error:  # noqa: BLE001 - sorted below; what is not the server's is raised again there
            return self._setback(error, form=form)
        wait = wait_before_next(raw.headers)
        self._not_before = max(self._not_before, time.monotonic() + min(wait or 0.0, LONGEST_ASKED))
        return read_body(body, call) or _Setback(_no_server(self.place))

    async def _sent(self, work: Callable[["AsyncOpenAI"], Awaitable[T]], *, timeout: float) -> T | _Setback:
        try:
            async with asyncio.timeout(timeout):
                return await work(self._client)
        except Exception as error:  # noqa: BLE001 - sorted below; what is not the server's is raised again there
            return self._setback(error, timeout=timeout)

    def _setback(
        self, error: Exception, *, form: tuple[int, frozenset[str]] | None = None, timeout: float | None = None
    ) -> _Setback:
        import openai

        if isinstance(error, openai.APIStatusError):
            status, body = error.status_code, error.body
            failure = self.refusal(status, body)
            if form is not None and self._adapts(refused_option(status, body), form):
                return _Setback(failure, is_adapted=True)
            asked = wait_after_refusal(error.response.headers, now=datetime.now(UTC)) if status >= 429 else None
            return _Setback(failure, asked)
        if isinstance(error, TimeoutError | openai.APITimeoutError):
            remedy = "allow it more time with --judge-set timeout=SECONDS, or look into the server's log"
            waited = f"{timeout or self.timeout:g} s"
            return _Setback(fault("Timeout", f"{self.place} gave no answer within {waited}: {remedy}"))
        if isinstance(error, openai.APIConnectionError | OSError):
            remedy = "check that the server runs and that the address is right"
            return _Setback(fault("Unreachable", f"{self.place} could not be reached: {remedy}"))
        if isinstance(error, ValueError | openai.OpenAIError):
            return _Setback(_no_server(self.place))
        raise error

    def _adapts(self, option: str | None, form: tuple[int, frozenset[str]]) -> bool:
        """Whether the call can be put in another form. One that was sent in an older form only needs the newer one."""
        if option is None:
            return False
        if form != (self._format, frozenset(self._left_out)):
            return True
        if option == "format":
            self._format += 1
            return self._format < len(FORMATS) or self._end_of_formats()
        if option in self._left_out:
            return False
        self._left_out.add(option)
        return True

    def _end_of_formats(self) -> bool:
        self._format = len(FORMATS) - 1
        return False


def wait_after_refusal(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """The seconds that a refused call is asked to wait; None when the server does not say."""
    if (milliseconds := headers.get("retry-after-ms", "")).replace(".", "", 1).isdigit():
        return float(milliseconds) / 1000
    asked = asked_wait(headers.get("retry-after"), now=now)
    return duration(headers.get("retry-after")) if asked is None else asked or wait_before_next(headers)


def wait_before_next(headers: Mapping[str, str]) -> float | None:
    """The seconds until the server has room again, if it says that none is left."""
    waits = [
        duration(headers.get(f"x-ratelimit-reset-{kind}"))
        for kind in _LIMITED
        if headers.get(f"x-ratelimit-remaining-{kind}", "").strip() == "0"
    ]
    return max((wait for wait in waits if wait is not None), default=None)


def duration(text: str | None) -> float | None:
    """`6m0s`, `1.5s`, `250ms` or `20` in seconds; None for anything else."""
    given = (text or "").strip().lower()
    parts = list(_DURATION_PART.finditer(given))
    if not parts or "".join(part[0] for part in parts) != given or len(given) > 40:
        return None
    return sum(float(part[1]) * _SECONDS[part[2]] for part in parts)


def _no_server(place: str) -> Failure:
    remedy = "check the address, which most often ends in /v1"
    return fault("NotAServer", f"{place} does not answer in the form of OpenAI's protocol: {remedy}")


def _client(connection: Connection) -> "AsyncOpenAI":
    try:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient
    except ImportError as error:
        raise ConfigError(
            "the language-model judge needs the openai client: pip install 'touchstone-eval[llm]'"
        ) from error
    # A proxy for the outside world cannot reach a server on this machine. Time limits and retries are ours.
    http = DefaultAsyncHttpxClient(trust_env=not connection.is_near, timeout=None)
    return AsyncOpenAI(
        base_url=connection.base_url,
        api_key=connection.key,
        default_headers=connection.headers,
        max_retries=0,
        timeout=None,
        http_client=http,
    )
