"""Connections -> those that send their requests soon: half-open ones are closed, and so is the oldest when many are.

uvicorn's own timeout begins when a request has been answered and ends with the first byte of the next. Whoever
connects and is silent, or sends a request byte by byte, stays.
"""

import asyncio
from asyncio import TimerHandle
from collections.abc import Callable
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from touchstone.service.options import Options
from touchstone.service.problems import Refusal, problem_response

_FULL = Refusal(503, "overloaded", "too many connections are open: try again in a second", headers={"Retry-After": "1"})


def timed_connections(options: Options) -> Callable[..., asyncio.Protocol]:
    """What uvicorn makes for each connection."""
    return partial(TimedConnection, seconds=options.header_seconds, most=options.connections)


class TimedConnection(HttpToolsProtocol):
    """One connection. Until a request's headers are there, and again once it is answered, it is the client's turn for
    `seconds`, in which the rest of a refused body comes as well.

    The body of a request that is not answered yet is BodyLimit's to wait for.
    """

    def __init__(self, *arguments: Any, seconds: float, most: int, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._seconds = seconds
        self._most = most
        self._deadline: TimerHandle | None = None
        self._since = self.loop.time()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin_wait()
        if len(self.connections) > self._most:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_wait()
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        self._end_wait()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # Of several requests that were sent at once, this may not be the last.
        if self.cycle.response_complete and not self.transport.is_closing():
            self._begin_wait()

    @property
    def waits_for_client(self) -> bool:
        """Whether nobody works on a request of it: it is idle, or has not sent all of one."""
        return not self.transport.is_closing() and (self._deadline is not None or self.cycle.more_body)

    def _begin_wait(self) -> None:
        self._since = self.loop.time()
        self._deadline = self.loop.call_later(self._seconds, self.transport.close)

    def _end_wait(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _make_room(self) -> None:
        """Close the connection that has kept us waiting longest; if all are at work, this one, with an answer."""
        ours = [each for each in self.connections if isinstance(each, TimedConnection) and each is not self]
        if sum(not each.transport.is_closing() for each in ours) < self._most:
            return
        idle = [each for each in ours if each.waits_for_client]
        if idle:
            min(idle, key=lambda each: each._since).transport.close()
            return
        response = problem_response(_FULL)
        head = b"".join(b"%s: %s\r\n" % pair for pair in response.raw_headers)
        self.transport.write(
            b"HTTP/1.1 503 Service Unavailable\r\n%sconnection: close\r\n\r\n%s" % (head, response.body)
        )
        self.transport.close()
