"""Requests -> those that are small enough, come whole and not too often, and whose answer somebody waits for."""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.service.options import Options
from touchstone.service.problems import Refusal, problem_response

# Callers whose buckets are remembered; whoever was longest away begins with a full one.
_MOST_CALLERS = 10_000
# How many seconds' worth may come at once.
_BURST_SECONDS = 2.0
# What a body has to come at, in bytes a second, once its first seconds are over.
_LEAST_RATE = 16 * 1024

Answer = TypeVar("Answer")


async def while_connected(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer:
    """What the work comes to; it is cancelled, and the Refusal is for the log, when the client hangs up first."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise _gone()
        return working.result()
    finally:
        for each in (working, leaving):
            each.cancel()


async def _disconnected(request: Request) -> None:
    """Returns when the client is gone; for a request whose body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        continue


def _gone() -> Refusal:
    return Refusal(499, "gone", "the client hung up before the answer was there")


class Rates:
    """Token buckets by caller: `rate` a second, in bursts of twice that. With None there is no limit."""

    def __init__(self, rate: float | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._full_at: OrderedDict[str, float] = OrderedDict()

    def take(self, caller: str, *, cost: int = 1) -> None:
        """Count what a caller asks for; Refusal, with the time to wait, when it is too much."""
        if self._rate is None:
            return
        now = self._clock()
        # When the bucket would be full again: one number says how much is left in it.
        full_at = max(now, self._full_at.pop(caller, now)) + cost / self._rate
        late = full_at - now - max(_BURST_SECONDS, cost / self._rate)
        if late > 1e-9:
            self._full_at[caller] = full_at - cost / self._rate
            detail = f"more than {self._rate:g} cases a second: wait {late:.1f} s, or raise touchstone serve --rate"
            raise Refusal(429, "too-many", detail, headers={"Retry-After": str(int(late) + 1)})
        self._full_at[caller] = full_at
        if len(self._full_at) > _MOST_CALLERS:
            self._full_at.popitem(last=False)

    def headers(self, caller: str) -> dict[str, str]:
        """What a caller may still ask for (draft-ietf-httpapi-ratelimit-headers)."""
        if self._rate is None:
            return {}
        owed = max(0.0, self._full_at.get(caller, 0.0) - self._clock())
        left, burst = int(max(0.0, _BURST_SECONDS - owed) * self._rate + 1e-6), max(1, int(_BURST_SECONDS * self._rate))
        return {
            "RateLimit-Policy": f'"cases";q={burst};w={_BURST_SECONDS:g}',
            "RateLimit": f'"cases";r={min(left, burst)};t={math.ceil(owed)}',
        }


class BodyLimit:
    """Refuses bodies that are too large, before they are read where their size is told, and those that never come."""

    def __init__(self, app: ASGIApp, options: Options) -> None:
        self._app = app
        self._options = options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        told = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if told.isdigit() and int(told) > self._options.max_body:
            await problem_response(self._too_large())(scope, receive, send)
            return
        await self._app(scope, self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        size = 0
        is_whole = False
        began = asyncio.get_running_loop().time()

        async def counted() -> Message:
            nonlocal size, is_whole
            if is_whole:
                # What comes after the body is the client going away, for which there is no hurry.
                return await receive()
            allowed = self._options.body_seconds + size / _LEAST_RATE
            try:
                async with asyncio.timeout_at(began + allowed):
                    message = await receive()
            except TimeoutError:
                raise Refusal(408, "too-slow", f"it was not there after {allowed:.0f} seconds: send it again") from None
            if message["type"] == "http.disconnect":
                raise _gone()
            size += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if size > self._options.max_body:
                raise self._too_large()
            return message

        return counted

    def _too_large(self) -> Refusal:
        most = self._options.max_body
        return Refusal(413, "too-large", f"the body is larger than {most:,} bytes: send fewer cases at once")
