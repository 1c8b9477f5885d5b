"""Options -> a running service, until it is told to end; its connections are those that send their requests soon.

uvicorn's own timeout begins when a request has been answered and ends with the first byte of the next. Whoever
connects and is silent, or sends a request byte by byte, stays: so half-open connections are closed here, and the
oldest when there are many.
"""

import asyncio
import logging
import socket
import sys
from asyncio import TimerHandle
from collections.abc import Callable, Iterator
from functools import partial
from ipaddress import ip_network
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from touchstone.app.config import Settings
from touchstone.core.errors import ConfigError
from touchstone.service.app import create_app
from touchstone.service.options import Options, check_options
from touchstone.service.problems import Refusal, problem_response
from touchstone.store.runs import Store

# How long requests under way may take once the service is told to end.
_FAREWELL_SECONDS = 10
_OWN_PROXIES = ("127.0.0.1/32", "::1/128")
_FULL = Refusal(503, "overloaded", "too many connections are open: try again in a second", headers={"Retry-After": "1"})


def serve(settings: Settings, store: Store, *, options: Options, on_start: Callable[[str], None]) -> None:
    """Answer requests; `on_start` is told the address. ConfigError when nobody could sign in or the port is taken."""
    check_options(options)
    if options.has_auth and not store.users.list():
        raise ConfigError("--auth needs somebody who can sign in: touchstone user add NAME --role lead")
    _log_to_stderr()
    config = configure(create_app(settings, store, options=options), options)
    bound = _bind(config, options)
    on_start(f"http://{_shown(options.host)}:{bound.getsockname()[1]}")
    uvicorn.Server(config).run(sockets=[bound])


def configure(app: ASGIApp, options: Options) -> uvicorn.Config:
    """How uvicorn serves the application."""
    return uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        # Its access log would show paths, which may hold a customer's name; ours shows patterns.
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_FAREWELL_SECONDS,
        http=cast(
            type[asyncio.Protocol], partial(TimedConnection, seconds=options.header_seconds, most=options.connections)
        ),
        # There are no WebSockets here, and a connection that became one would be beyond those timeouts.
        ws="none",
        # The client is the last address in X-Forwarded-For that is none of these.
        proxy_headers=options.has_auth,
        forwarded_allow_ips=[each for proxy in (*_OWN_PROXIES, *options.trusted_proxies) for each in _forms(proxy)],
    )


def _forms(network: str) -> Iterator[str]:
    """The network as connections show it: a socket for both versions of IP has IPv4 addresses as IPv6 ones."""
    yield network
    found = ip_network(network)
    if found.version == 4:
        yield f"::ffff:{found.network_address}/{96 + found.prefixlen}"


def _bind(config: uvicorn.Config, options: Options) -> socket.socket:
    try:
        bound = config.bind_socket()
    except SystemExit:
        raise ConfigError(f"port {options.port} of {options.host} cannot be used: name another with --port") from None
    # asyncio sets this only on sockets made for TCP by name, and without it each answer waits 40 ms for the last one's
    # acknowledgement. Connections inherit it.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # Whoever is told the address may connect at once.
    bound.listen(config.backlog)
    return bound


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _log_to_stderr() -> None:
    shown = logging.StreamHandler(sys.stderr)
    shown.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for name, level in (("touchstone", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers = [shown]
        logger.setLevel(level)
        logger.propagate = False


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
