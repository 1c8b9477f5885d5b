"""Every request and answer at the edge: refused from elsewhere, protected by headers, counted, logged without text;
and what goes wrong as whoever asked can read it, problem details for a program and a page for a person."""

import logging
import re
import secrets
import time
from collections.abc import Iterable
from urllib.parse import urlsplit

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.core.errors import StoreError, TouchstoneError
from touchstone.report.plain import one_line
from touchstone.service.context import RATE_KEY, SAFE_METHODS, find_user
from touchstone.service.limits import Rates
from touchstone.service.options import Options, is_loopback
from touchstone.service.pages.render import show
from touchstone.service.problems import (
    API,
    LONGEST_DETAIL,
    TITLES,
    Refusal,
    defect,
    problem_response,
    refusal_of,
    request_id,
)
from touchstone.service.scoring.lanes import OverloadError
from touchstone.service.telemetry import Meters

_METHODS = SAFE_METHODS | {"POST", "PUT", "PATCH", "DELETE"}
# Asked every few seconds by machines.
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_NO_PAGES = _PROBES | {"/openapi.json"}
CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

# As they go over the wire, made once: every answer carries them.
_OURS = {name.lower().encode(): value.encode() for name, value in HEADERS.items()}
_NOT_KEPT = (b"cache-control", b"no-store")

log = logging.getLogger("touchstone.access")


class Edge:
    """Stands around the whole application."""

    def __init__(self, app: ASGIApp, options: Options, meters: Meters, rates: Rates) -> None:
        self._app = app
        self._options = options
        self._meters = meters
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0
        method = scope["method"]
        headers = Headers(scope=scope)
        id = headers.get("x-request-id", "")
        request_id.set(id := id if _REQUEST_ID.fullmatch(id) else secrets.token_hex(8))
        # Whatever can be got can be asked for its headers alone.
        scope = {**scope, "method": "GET" if method == "HEAD" else method}

        async def guarded_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                told = {"X-Request-ID": id, **self._limits(scope)}
                added = [(name.lower().encode(), value.encode()) for name, value in told.items()]
                message["headers"] = [*_protected(message.get("headers", ())), *added]
            elif method == "HEAD" and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        try:
            refusal = self._refusal(scope, headers)
            answer = self._app if refusal is None else problem_response(refusal)
            await answer(scope, receive, guarded_send)
        except Refusal as late:
            if not status:
                await (await _late_answer(scope, late))(scope, receive, guarded_send)
        except Exception as error:  # noqa: BLE001 - the server would log its text, which may quote a customer
            found = defect(error)
            if not status:
                await (await _late_answer(scope, found))(scope, receive, guarded_send)
        finally:
            self._note(scope, method, status, time.perf_counter() - began)

    def _limits(self, scope: Scope) -> dict[str, str]:
        return self._rates.headers(scope[RATE_KEY]) if RATE_KEY in scope else {}

    def _refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        if not self._options.has_auth and not is_loopback(_name(f"//{headers.get('host', '')}")):
            # Else a web page could have its own name lead here, and read what nobody signed in for (DNS rebinding).
            return Refusal(403, "forbidden", "the service answers to localhost only: open it by that name")
        if scope["method"] not in SAFE_METHODS and not _is_own(headers):
            return Refusal(403, "forbidden", "the request comes from another site's page: use the service's own")
        return None if scope["method"] in SAFE_METHODS else _unread(scope["path"], headers)

    def _note(self, scope: Scope, asked: str, status: int, seconds: float) -> None:
        """By the route's pattern: a path may hold a customer's name, and there is no end of paths."""
        route = getattr(scope.get("route"), "path", "none")
        method = asked if asked in _METHODS else "other"
        self._meters.answered(method=method, route=route, status=status, seconds=seconds)
        level = logging.DEBUG if route in _PROBES and status < 400 else logging.INFO
        log.log(level, "%s %s %d %.1f ms %s", method, route, status, seconds * 1000, request_id.get())


def install_problems(app: FastAPI) -> None:
    """Have every error of a route answered as a problem."""
    for error in (HTTPException, RequestValidationError, TouchstoneError, OverloadError):
        app.add_exception_handler(error, _answer)


async def _answer(request: Request, error: Exception) -> Response:
    """The refusal that an error amounts to; what leads to the login goes as it is."""
    refusal = refusal_of(error)
    if request.url.path.startswith(API) or request.url.path in _NO_PAGES or refusal.kind == "sign-in":
        return problem_response(refusal)
    try:
        user = await find_user(request, request.app.state.service)
    except StoreError:
        # The page says that the store cannot be used; who asked for it is in there.
        user = None
    errors = "; ".join(f"{each['at']}: {each['problem']}" for each in refusal.members.get("errors", ()))
    detail = one_line(errors or str(refusal.detail))[:LONGEST_DETAIL]
    # A part of a page that could not be fetched is a line in its place.
    template = "problem_part.html" if "hx-request" in request.headers else "problem.html"
    status, title = refusal.status_code, TITLES[refusal.kind]
    return show(request, template, user=user, status=status, title=title, detail=detail)


async def _late_answer(scope: Scope, refusal: Refusal) -> Response:
    try:
        return await _answer(Request(scope), refusal)
    except Exception as error:  # noqa: BLE001 - what made the request fail may make its page fail
        defect(error)
        return problem_response(refusal)


def _is_own(headers: Headers) -> bool:
    """Whether a request that changes something comes from our own page, or from no page at all."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is None or origin.partition("://")[2] == headers.get("host")


def _unread(path: str, headers: Headers) -> Refusal | None:
    """Whether the body is of a kind or in an encoding that is not taken."""
    if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        detail = "send the body as it is, without Content-Encoding"
        return Refusal(415, "media-type", detail, headers={"Accept-Encoding": "identity"})
    has_body = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if path.startswith(API) and has_body and kind != "application/json":
        return Refusal(
            415, "media-type", "send JSON with Content-Type: application/json", headers={"Accept": "application/json"}
        )
    return None


def _name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _protected(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer with ours; only how long it may be kept is for the route to say."""
    given = [pair for pair in headers if pair[0] not in _OURS]
    kept = [] if any(name == b"cache-control" for name, _ in given) else [_NOT_KEPT]
    return [*given, *_OURS.items(), *kept]
