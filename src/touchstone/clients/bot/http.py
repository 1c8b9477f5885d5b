"""The address of a server -> a bot: one POST for each draft, tried again when waiting may help."""

import asyncio
import os
import random
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from touchstone.clients.bot.exchange import LONGEST_ANSWER, html_reply, question, read_answer, too_long
from touchstone.clients.bot.faults import fault
from touchstone.clients.bot.loop import Loop, open_loop
from touchstone.clients.bot.retry import LONGEST_ASKED, Backoff, asked_wait
from touchstone.core.case import Case, Draft
from touchstone.core.errors import ConfigError
from touchstone.core.result import Failure

if TYPE_CHECKING:
    from httpx import AsyncClient, Response

_OURS = {"Content-Type": "application/json", "Accept": "application/json, text/plain;q=0.9", "User-Agent": "touchstone"}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ACCESS = (401, 403, 404, 405, 407)
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
# RFC 9110: a token, and visible ASCII with blanks between.
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?|")

Sleep = Callable[[float], Awaitable[None]]


@contextmanager
def open_http(
    url: str,
    *,
    timeout: float,
    backoff: Backoff,
    headers: Mapping[str, str],
    sleep: Sleep = asyncio.sleep,
    chance: Callable[[], float] = random.random,
) -> Iterator["HttpBot"]:
    """The bot behind an address. `sleep` and `chance` are what waiting and jitter are made of."""
    name = checked_address(url)
    client = _client(url, headers=expand_headers(headers, environment=os.environ))
    with open_loop(last=client.aclose) as loop:
        yield HttpBot(
            url, name=name, timeout=timeout, backoff=backoff, client=client, loop=loop, sleep=sleep, chance=chance
        )


@dataclass(frozen=True, slots=True)
class _BotSetback:
    """A failure that may pass with time, and how long the server asks to be left alone."""

    failure: Failure
    asked: float | None = None


class HttpBot:
    """A bot behind an address. Everything but `draft` and `stop` runs on its loop, so that nothing needs a lock."""

    def __init__(
        self,
        url: str,
        *,
        name: str,
        timeout: float,
        backoff: Backoff,
        client: "AsyncClient",
        loop: Loop,
        sleep: Sleep,
        chance: Callable[[], float],
    ) -> None:
        self.name = name
        self._url = url
        self._timeout = timeout
        self._backoff = backoff
        self._client = client
        self._loop = loop
        self._sleep = sleep
        self._chance = chance
        self._not_before = 0.0

    def draft(self, case: Case, *, draft: int) -> Draft | Failure:
        """The reply to one case; `draft` is passed on, so that a bot may vary its replies by it."""
        return self._loop.run(self._draft(question(case, draft=draft)))

    def stop(self) -> None:
        """Gives up the requests under way; the bot drafts nothing more."""
        self._loop.stop()

    async def _draft(self, body: bytes) -> Draft | Failure:
        attempt = 0
        while True:
            attempt += 1
            await self._wait_as_asked()
            tried = await self._attempt(body)
            if isinstance(tried, Draft):
                return replace(tried, attempts=attempt)
            if isinstance(tried, Failure):
                return tried
            if attempt > self._backoff.retries or (tried.asked or 0) > LONGEST_ASKED:
                return _given_up(tried, attempts=attempt)
            # What one draft is asked to wait holds for all of them.
            self._not_before = max(self._not_before, time.monotonic() + (tried.asked or 0))
            await self._sleep(self._backoff.wait(attempt, chance=self._chance()))

    async def _wait_as_asked(self) -> None:
        if (left := self._not_before - time.monotonic()) > 0:
            await self._sleep(left)

    async def _attempt(self, body: bytes) -> Draft | Failure | _BotSetback:
        """One request. The time limit holds from connecting to the last byte, however slowly they drip in."""
        import httpx

        start = time.monotonic()
        try:
            async with (
                asyncio.timeout(self._timeout),
                self._client.stream("POST", self._url, content=body) as response,
            ):
                answer = await _read(response)
        except TimeoutError:
            problem = f"the bot gave no reply within {self._timeout:g} s"
            return _BotSetback(fault("Timeout", f"{problem}: allow it more time, or look into the server's log"))
        except (httpx.HTTPError, OSError) as error:
            problem = f"the bot could not be reached ({_cause(error)})"
            return _BotSetback(fault("Unreachable", f"{problem}: check that the server runs and the address is right"))
        return replace(answer, seconds=time.monotonic() - start) if isinstance(answer, Draft) else answer


def checked_address(url: str) -> str:
    """The address as it may be shown, without user, password and query; a ConfigError when it is none."""
    import httpx

    try:
        parts = urlsplit(url)
        port = parts.port
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        raise ConfigError(f"the bot's address is not valid: {_EXPECTED}") from None
    if not parts.hostname or any(letter.isspace() for letter in url):
        raise ConfigError(f"the bot's address names no host, or holds white space: {_EXPECTED}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{parts.path}"


_EXPECTED = "write it like http://localhost:8000/draft"


def expand_headers(headers: Mapping[str, str], *, environment: Mapping[str, str]) -> dict[str, str]:
    """The headers with each `${NAME}` filled in; a ConfigError that names the header and the variable otherwise.

    So a secret is in the environment alone, and not in a command line, a configuration or a run. No message shows a
    value.
    """
    return {
        _header_name(name): _header_value(value, header=name, environment=environment)
        for name, value in headers.items()
    }


def _header_name(name: str) -> str:
    if not _HEADER_NAME.fullmatch(name):
        raise ConfigError(f"{name[:60]!r} is no name of a header: write it like 'Authorization'")
    return name


def _header_value(value: str, *, header: str, environment: Mapping[str, str]) -> str:
    def variable(found: re.Match[str]) -> str:
        if (filled := environment.get(found[1])) is None:
            raise ConfigError(f"header '{header}' asks for the environment variable '{found[1]}', which is not set")
        return filled

    filled = _VARIABLE.sub(variable, value).strip()
    if not _HEADER_VALUE.fullmatch(filled):
        raise ConfigError(f"header '{header}' holds a line break or another character that may not be sent: remove it")
    return filled


def _client(url: str, *, headers: Mapping[str, str]) -> "AsyncClient":
    """One pool of connections, without time limits of its own, redirects or cookies: each draft stands alone."""
    import httpx

    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    # A proxy for the outside world cannot reach a bot on this machine.
    is_near = urlsplit(url).hostname in _LOOPBACK
    limits = httpx.Limits(max_connections=None)
    sent = httpx.Headers({**_OURS, **headers})
    return httpx.AsyncClient(headers=sent, timeout=None, limits=limits, cookies=no_cookies, trust_env=not is_near)


async def _read(response: "Response") -> Draft | Failure | _BotSetback:
    status = response.status_code
    if status == 429 or status >= 500:
        return _unwilling(response)
    if status >= 300 or status < 200:
        return _refused(response)
    type = response.headers.get("content-type", "text/plain").partition(";")[0].strip().lower()
    if type in ("text/html", "application/xhtml+xml"):
        return html_reply()
    is_json = type == "application/json" or type.endswith("+json")
    if not is_json and not type.startswith("text/"):
        return fault("NotText", f"the bot's content type is {type[:60]!r}: answer with application/json or text/plain")
    raw = bytearray()
    async for part in response.aiter_bytes():
        raw += part
        if len(raw) > LONGEST_ANSWER:
            return too_long()
    return read_answer(bytes(raw), encoding=response.charset_encoding or "utf-8", is_json=is_json)


def _unwilling(response: "Response") -> _BotSetback:
    """The server is overloaded or broken; 429 and 503 may say for how long."""
    status = response.status_code
    asked = asked_wait(response.headers.get("retry-after"), now=datetime.now(UTC)) if status in (429, 503) else None
    wait = f" and asks to wait {asked:g} s" if asked else ""
    if status == 429:
        remedy = "lower the concurrency, or run it again later"
        return _BotSetback(
            fault("RateLimited", f"the bot answered with status 429, too many requests{wait}: {remedy}"), asked
        )
    problem = f"the bot answered with status {status}{wait}"
    return _BotSetback(fault("ServerError", f"{problem}: look into the server's log"), asked)


def _refused(response: "Response") -> Failure:
    status = response.status_code
    if status in _ACCESS:
        remedy = "check the address and the path, and give the access it needs as a header"
        return fault("AccessRefused", f"the bot answered with status {status}: {remedy}")
    if 300 <= status < 400:
        target = urlsplit(response.headers.get("location", ""))
        place = repr(f"{target.netloc.rpartition('@')[2]}{target.path}"[:100])
        problem = f"the bot answered with status {status}, a redirect to {place}"
        return fault("Redirect", f"{problem}: if that is the bot, give its address; if it is a login, give a header")
    return fault(
        "BadStatus", f"the bot answered with status {status}: look into the server's log why it refuses the case"
    )


def _given_up(setback: _BotSetback, *, attempts: int) -> Failure:
    tried = "once" if attempts == 1 else f"{attempts} times"
    return replace(setback.failure, message=f"{setback.failure.message} (tried {tried})")


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
