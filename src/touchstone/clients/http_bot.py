"""The address of a server -> a bot: one POST for each draft, tried again when waiting may help."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

from touchstone.clients.bot_protocol import LONGEST_ANSWER, html_reply, question, read_answer
from touchstone.clients.faults import Fault, fault
from touchstone.clients.http import Backoff, Exchange, HttpAnswer, Peer, Setback, open_exchange
from touchstone.core.case import Case, Draft
from touchstone.core.errors import ConfigError
from touchstone.core.result import Failure

_OURS = {"Content-Type": "application/json", "Accept": "application/json, text/plain;q=0.9"}
_NO_ACCESS: tuple[Fault, str] = (
    "AccessRefused",
    ": check the address and the path, and give the access it needs as a header",
)
_BOT = Peer(
    stage="draft",
    name="the bot",
    slow="allow it more time, or look into the server's log",
    busy="lower the concurrency, or run it again later",
    refusals=dict.fromkeys((401, 403, 404, 405, 407), _NO_ACCESS),
    otherwise="BadStatus",
)
_EXPECTED = "write it like http://localhost:8000/draft"
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
# RFC 9110: a token, and visible ASCII with blanks between.
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?|")


@contextmanager
def open_http(url: str, *, timeout: float, backoff: Backoff, headers: Mapping[str, str]) -> Iterator["HttpBot"]:
    """The bot behind an address."""
    name = checked_address(url)
    sent = {**_OURS, **expand_headers(headers, environment=os.environ)}
    with open_exchange(_BOT, url, headers=sent, timeout=timeout, backoff=backoff) as exchange:
        yield HttpBot(url, name=name, exchange=exchange)


class HttpBot:
    """A bot behind an address."""

    def __init__(self, url: str, *, name: str, exchange: Exchange) -> None:
        self.name = name
        self._url = url
        self._exchange = exchange

    def draft(self, case: Case, *, draft: int) -> Draft | Failure:
        """The reply to one case; `draft` is passed on, so that a bot may vary its replies by it."""
        body = question(case, draft=draft)
        return self._exchange.run(self._exchange.retried(lambda _: self._attempt(body)))

    def stop(self) -> None:
        """Gives up the requests under way; the bot drafts nothing more."""
        self._exchange.stop()

    async def _attempt(self, body: bytes) -> Draft | Failure | Setback:
        answer = await self._exchange.send("POST", self._url, most=LONGEST_ANSWER, content=body)
        if isinstance(answer, Setback):
            return answer
        if not answer.is_success:
            asked, location = answer.asked, answer.headers.get("location", "")
            return Setback(_BOT.refusal(answer.status, asked=asked, location=location), asked)
        return _read(answer)


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


def expand_headers(headers: Mapping[str, str], *, environment: Mapping[str, str]) -> dict[str, str]:
    """The headers with each `${NAME}` filled in; a ConfigError that names the header and the variable otherwise.

    So a secret is in the environment alone, and not in a command line, a configuration or a run. No message shows a
    value.
    """
    expanded = {}
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ConfigError(f"{name[:60]!r} is not a header's name: write it like 'Authorization'")
        for variable in _VARIABLE.findall(value):
            if variable not in environment:
                raise ConfigError(f"header '{name}' asks for the environment variable '{variable}', which is not set")
        filled = _VARIABLE.sub(lambda found: environment[found[1]], value).strip()
        if not _HEADER_VALUE.fullmatch(filled):
            problem = "holds a line break or another character that may not be sent"
            raise ConfigError(f"header '{name}' {problem}: remove it")
        expanded[name] = filled
    return expanded


def _read(answer: HttpAnswer) -> Draft | Failure:
    kind = answer.headers.get("content-type", "text/plain").partition(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml"):
        return html_reply()
    is_json = kind == "application/json" or kind.endswith("+json")
    if not is_json and not kind.startswith("text/"):
        problem = f"the bot's content type is {kind[:60]!r}"
        return fault("draft", "NotText", f"{problem}: answer with application/json or text/plain")
    return read_answer(answer.content, encoding=answer.encoding or "utf-8", is_json=is_json)
