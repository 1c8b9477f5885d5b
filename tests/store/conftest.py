"""The same tests on each database: an empty SQLite file, and an empty database on a PostgreSQL server of their own.

Without PostgreSQL its half is skipped; see tests/components.py.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

import pytest
from tests.components import needs, program

from touchstone.store.runs import open_store

_numbers = count()


@pytest.fixture(scope="session")
def postgresql():
    """The address of a server that runs as long as the tests do, without a database name."""
    needs(programs=("initdb", "postgres"), packages=("psycopg",))
    home = Path(tempfile.mkdtemp(prefix="touchstone-postgresql-"))
    owner = {"user": "postgres"} if os.getuid() == 0 else {}
    if owner:
        shutil.chown(home, "postgres")
    data = home / "data"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": home, **owner}
    subprocess.run(
        [program("initdb"), "-D", data, "-U", "tester", "-A", "trust", "-N", "-E", "UTF8"], check=True, **quiet
    )
    port = _free_port()
    options = ["-k", home, "-p", str(port), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
    server = subprocess.Popen([program("postgres"), "-D", data, *options], **quiet)
    try:
        _wait(server, port)
        yield f"postgresql+psycopg://tester@127.0.0.1:{port}"
    finally:
        # Its fast shutdown, which does not wait for connections.
        server.send_signal(signal.SIGINT)
        server.wait()
        shutil.rmtree(home)


@pytest.fixture(scope="session")
def postgresql_template(postgresql):
    """The name of a database that a store was opened in."""
    _create(postgresql, "template_store", template="template1")
    open_store(f"{postgresql}/template_store").close()
    return "template_store"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory):
    path = tmp_path_factory.mktemp("template") / "touchstone.db"
    open_store(str(path)).close()
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_place(request, tmp_path):
    """Where there is nothing yet, on each database in turn."""
    if request.param == "sqlite":
        return str(tmp_path / "new" / "touchstone.db")
    return _create(request.getfixturevalue("postgresql"), f"empty{next(_numbers)}", template="template1")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Where there is a store without runs, on each database in turn."""
    if request.param == "sqlite":
        return shutil.copy(request.getfixturevalue("sqlite_template"), str(tmp_path / "touchstone.db"))
    server, template = request.getfixturevalue("postgresql"), request.getfixturevalue("postgresql_template")
    return _create(server, f"store{next(_numbers)}", template=template)


@pytest.fixture
def store(place):
    with open_store(place) as opened:
        yield opened


def _create(server, name, *, template):
    import psycopg

    with psycopg.connect(f"{server}/postgres".replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    return f"{server}/{name}"


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait(server, port):
    import psycopg

    for _ in range(300):
        try:
            psycopg.connect(f"postgresql://tester@127.0.0.1:{port}/postgres").close()
        except psycopg.OperationalError:
            assert server.poll() is None, "the PostgreSQL server ended"
            time.sleep(0.1)
        else:
            return
    pytest.fail("the PostgreSQL server did not start within 30 s")
