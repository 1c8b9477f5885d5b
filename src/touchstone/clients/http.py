"""A request to a bot or a model server -> its answer, or why there is none: one exchange for both.

It keeps the limits of time and size, and tries again when waiting may help: exponential backoff with full jitter, or as
long as the server asks for. Every status that is no answer becomes a failure through the table of whom it came from.
"""

import asyncio
import math
import os
import random
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from touchstone.clients.faults import RETRIED, Fault, Stage, fault
from touchstone.clients.llm.connection import is_loopback
from touchstone.clients.loop import Loop, open_loop
from touchstone.core.result import Failure

if TYPE_CHECKING:
    from httpx import AsyncClient

# A server that asks for more is not waited for: the request fails, and the run can be resumed later.
LONGEST_ASKED = 60.0
# Of an error's body no more is read.
_MOST_OF_ERROR = 64 * 1024
# How servers write what they want to be left alone for: `6m0s`, `250ms`, `20`.
_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Backoff:
    """The wait before attempt n + 1 is drawn evenly from 0 to first * 2^(n-1) seconds, at most `longest`.

    Drawing from the whole range spreads requests that failed together more evenly than a fixed wait does. `sleep` and
    `chance` are what waiting and jitter are made of.
    """

    retries: int = 2
    first: float = 0.5
    longest: float = 30.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    def wait(self, attempt: int) -> float:
        """The seconds to wait after the failed `attempt`, counted from 1."""
        doublings = min(attempt - 1, 30)
        return self.chance() * min(self.longest, self.first * 2.0**doublings)


@dataclass(frozen=True, slots=True)
class Peer:
    """Whom requests go to, as messages name it, and what its statuses mean: each a fault and what to do about it."""

    stage: Stage
    name: str
    slow: str
    busy: str
    refusals: Mapping[int, tuple[Fault, str]]
    otherwise: Fault

    def refusal(self, status: int, *, asked: float | None = None, location: str = "") -> Failure:
        """The failure that a status stands for; `asked` are the seconds that the server wants to be left alone."""
        wait = f" and asks to wait {asked:g} s" if asked else ""
        told = f"{self.name} answered with status {status}"
        if status in self.refusals:
            error, remedy = self.refusals[status]
            return fault(self.stage, error, f"{told}{remedy}")
        if status == 429:
            return fault(self.stage, "RateLimited", f"{told}, too many requests{wait}: {self.busy}")
        if status >= 500:
            return fault(self.stage, "ServerError", f"{told}{wait}: look into the server's log")
        if 300 <= status < 400:
            target = urlsplit(location)
            shown = repr(f"{target.netloc.rpartition('@')[2]}{target.path}"[:100])
            remedy = "if that is the right address, give it; if it is a login, give the access it needs"
            return fault(self.stage, "Redirect", f"{told}, a redirect to {shown}: {remedy}")
        return fault(self.stage, self.otherwise, f"{told}: look into the server's log for why it refused the request")


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What a server sent; of a body longer than was asked for, the start alone."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    encoding: str | None

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def asked(self) -> float | None:
        """The seconds that the server wants to be left alone."""
        return retry_after(self.headers, now=datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class Setback:
    """A failed attempt, how long the server asks to be left alone, and the status and body if there were any."""

    failure: Failure
    asked: float | None = None
    status: int = 0
    body: Any = None


@contextmanager
def open_exchange(
    peer: Peer,
    url: str,
    *,
    headers: Mapping[str, str],
    timeout: float,
    backoff: Backoff,
    follows_redirects: bool = False,
) -> Iterator["Exchange"]:
    """Requests to the server at an address, without cookies or the library's own time limits."""
    import httpx

    client = httpx.AsyncClient(
        headers=httpx.Headers({"User-Agent": "touchstone", **headers}),
        timeout=None,
        limits=httpx.Limits(max_connections=None),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        # A proxy for the outside world cannot reach a server on this machine.
        trust_env=not is_loopback(url),
        follow_redirects=follows_redirects,
    )
    with open_loop(peer.stage, last=client.aclose) as loop:
        yield Exchange(peer, client=client, loop=loop, timeout=timeout, backoff=backoff)


class Exchange:
    """Requests to one server. Coroutines run on its loop, so that nothing needs a lock."""

    def __init__(self, peer: Peer, *, client: "AsyncClient", loop: Loop, timeout: float, backoff: Backoff) -> None:
        self.peer = peer
        self.timeout = timeout
        self._client = client
        self._loop = loop
        self._backoff = backoff
        self._not_before = 0.0

    def run(self, work: Coroutine[Any, Any, T]) -> T | Failure:
        """What the coroutine returns, for any thread; the failure `Stopped` when it was given up."""
        return self._loop.run(work)

    def stop(self) -> None:
        """Gives up the requests under way; nothing more is asked."""
        self._loop.stop()

    async def retried(self, once: Callable[[int], Awaitable[T | Setback]]) -> T | Failure:
        """What comes of it, tried again as long as that may help; `once` is given the attempt, counted from 1."""
        attempt = 0
        while True:
            attempt += 1
            if (left := self._not_before - time.monotonic()) > 0:
                await self._backoff.sleep(left)
            tried = await once(attempt)
            if not isinstance(tried, Setback):
                return tried
            gives_up = attempt > self._backoff.retries or (tried.asked or 0) > LONGEST_ASKED
            if gives_up or tried.failure.error not in RETRIED:
                told = f" (tried {attempt} times)" if attempt > 1 else ""
                return replace(tried.failure, message=f"{tried.failure.message}{told}")
            self._hold_off(tried.asked)
            await self._backoff.sleep(self._backoff.wait(attempt))

    async def send(
        self, method: str, url: str, *, most: int, timeout: float | None = None, **content: Any
    ) -> HttpAnswer | Setback:
        """One request. The time limit holds from connecting to the last byte, however slowly they drip in."""
        import httpx

        peer, limit = self.peer, timeout or self.timeout
        body = bytearray()
        try:
            async with asyncio.timeout(limit), self._client.stream(method, url, **content) as response:
                most = most if response.is_success else _MOST_OF_ERROR
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > most:
                        break
        except TimeoutError:
            return Setback(fault(peer.stage, "Timeout", f"{peer.name} gave no reply within {limit:g} s: {peer.slow}"))
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            remedy = "check that the server runs and that the address is right"
            problem = f"{peer.name} could not be reached ({_cause(error)})"
            return Setback(fault(peer.stage, "Unreachable", f"{problem}: {remedy}"))
        answer = HttpAnswer(response.status_code, response.headers, bytes(body), response.charset_encoding)
        if answer.is_success:
            self._hold_off(min(rate_limit_reset(answer.headers) or 0.0, LONGEST_ASKED))
        return answer

    def _hold_off(self, seconds: float | None) -> None:
        """What one request is asked to wait holds for all of them."""
        self._not_before = max(self._not_before, time.monotonic() + (seconds or 0.0))


def retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """The seconds that a refused request is asked to wait; None when the server names none."""
    if (milliseconds := headers.get("retry-after-ms", "")).replace(".", "", 1).isdecimal():
        return float(milliseconds) / 1000
    text = headers.get("retry-after", "").strip()
    wait = duration(text)
    return (_seconds_until(text, now=now) if wait is None else wait) or rate_limit_reset(headers)


def rate_limit_reset(headers: Mapping[str, str]) -> float | None:
    """The seconds until the server has room again, if it says that none is left."""
    waits = [
        duration(headers.get(f"x-ratelimit-reset-{kind}", ""))
        for kind in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{kind}", "").strip() == "0"
    ]
    return max((wait for wait in waits if wait is not None), default=None)


def duration(text: str) -> float | None:
    """`6m0s`, `1.5s`, `250ms` or `20` in seconds; None for anything else."""
    given = text.strip().lower()
    parts = list(_DURATION_PART.finditer(given))
    if not parts or "".join(part[0] for part in parts) != given or len(given) > 40:
        return None
    return sum(float(part[1]) * _SECONDS[part[2]] for part in parts)


def _seconds_until(text: str, *, now: datetime) -> float | None:
    """The seconds until the moment of an HTTP date; None when it is none."""
    try:
        moment = parsedate_to_datetime(text)
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, math.ceil(seconds.total_seconds()))


def _cause(error: Exception) -> str:
    """What went wrong below the request; the text is the library's or the system's, never the server's."""
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return "its certificate is not trusted"
    deepest: BaseException = error
    while (below := deepest.__cause__ or deepest.__context__) is not None:
        deepest = below
    if isinstance(deepest, OSError) and deepest.errno and deepest.strerror:
        # The names of errors below 0 are the resolver's own; asyncio puts addresses into the others.
        return (os.strerror(deepest.errno) if deepest.errno > 0 else deepest.strerror).lower()
    return type(error).__name__
