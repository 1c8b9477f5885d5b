"""Options -> a running service, until it is told to end."""

import asyncio
import logging
import socket
import sys
from collections.abc import Callable, Iterator
from ipaddress import ip_network
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from touchstone.app.config import Settings
from touchstone.core.errors import ConfigError
from touchstone.service.app import create_app
from touchstone.service.connections import timed_connections
from touchstone.service.options import Options, check_options
from touchstone.store.runs import Store

# How long requests under way may take once the service is told to end.
_FAREWELL_SECONDS = 10
_OWN_PROXIES = ("127.0.0.1/32", "::1/128")


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
        http=cast(type[asyncio.Protocol], timed_connections(options)),
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
