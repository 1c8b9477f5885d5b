"""A service that runs for real: uvicorn on a free port of this machine, with a store and scoring processes."""

import socket
import threading
import time
from contextlib import contextmanager
from itertools import count

import httpx
import pytest
import uvicorn
from tests.store.conftest import _create, postgresql, postgresql_template  # noqa: F401 - fixtures

from touchstone.app.config import Settings
from touchstone.service.app import create_app
from touchstone.service.options import Options
from touchstone.service.server import configure
from touchstone.store.runs import open_store

_numbers = count()


@contextmanager
def running(place, *, settings=None, waits=True, **options):
    """The address of a service over the store at `place`."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        with open_store(str(place)) as store:
            made = Options(port=port, **options)
            app = create_app(settings or Settings(store=str(place)), store, options=made)
            server = uvicorn.Server(configure(app, made))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
            thread.start()
            address = f"http://127.0.0.1:{port}"
            try:
                until = time.monotonic() + 120
                while not server.started or (waits and not app.state.service.scorer.is_ready):
                    assert thread.is_alive(), "the service ended"
                    assert time.monotonic() < until, "the service did not start"
                    time.sleep(0.05)
                yield Running(address, store, app)
            finally:
                server.should_exit = True
                thread.join(30)


class Running:
    """A service under test: its address, the store behind it and its parts."""

    def __init__(self, address, store, app):
        self.address = address
        self.store = store
        self.app = app

    def client(self, **options):
        return httpx.Client(base_url=self.address, timeout=60, **options)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def either_place(request, tmp_path_factory):
    """Where an empty store is, on each database in turn: for suites whose answers come out of the store."""
    if request.param == "sqlite":
        return str(tmp_path_factory.mktemp("service") / "touchstone.db")
    server, template = (request.getfixturevalue(name) for name in ("postgresql", "postgresql_template"))
    return _create(server, f"service{next(_numbers)}", template=template)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A service on loopback, without login."""
    with running(tmp_path_factory.mktemp("service") / "touchstone.db", workers=1) as started:
        yield started


@pytest.fixture
def client(service):
    with service.client() as opened:
        yield opened
