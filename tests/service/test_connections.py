"""Half-open connections are closed, and keep nobody out meanwhile."""

import contextlib
import socket
import time
from contextlib import ExitStack

import pytest
from tests.service.conftest import running

HEAD = b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HALVES = {
    "silent": b"",
    "half a line": b"GET /heal",
    "headers without an end": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\n",
    "a body that stops": HEAD + b"Content-Length: 99\r\n\r\n{",
    "the rest of a body that was refused": HEAD + b"Content-Length: 999999999\r\n\r\n{",
}
MANY = 60


def connect(service, stack, sent=b""):
    port = int(service.address.rpartition(":")[2])
    opened = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
    # They see the end of their connection, or are told that they waited too long for it.
    opened.settimeout(60)
    opened.sendall(sent)
    return opened


def read_to_the_end(opened):
    """All that comes until the connection is closed by the other side."""
    answer = b""
    with contextlib.suppress(ConnectionResetError):
        while part := opened.recv(65536):
            answer += part
    return answer


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    place = tmp_path_factory.mktemp("doors") / "touchstone.db"
    with running(place, workers=1, waits=False, header_seconds=1.0, body_seconds=1.0, connections=MANY + 20) as started:
        yield started


@pytest.mark.parametrize("sent", HALVES.values(), ids=HALVES)
def test_half_open_connections_are_closed_and_others_are_answered_meanwhile(service, sent):
    with ExitStack() as stack:
        halves = [connect(service, stack, sent) for _ in range(MANY)]
        with service.client() as client:
            assert client.get("/healthz").status_code == 200
        for opened in halves:
            read_to_the_end(opened)
    with service.client() as client:
        assert client.get("/healthz").status_code == 200


def test_a_byte_now_and_then_does_not_keep_a_connection_open(service):
    with ExitStack() as stack:
        headers = connect(service, stack, b"GET /healthz HTTP/1.1\r\n")
        body = connect(service, stack, HEAD + b"Content-Length: 999\r\n\r\n")
        refused = connect(service, stack, HEAD + b"Content-Length: 999999999\r\n\r\n")
        until = time.monotonic() + 60
        trickling = {headers, body, refused}
        while trickling:
            assert time.monotonic() < until, "a connection stayed open"
            for opened in tuple(trickling):
                try:
                    opened.sendall(b"x")
                except OSError:
                    trickling.discard(opened)
            time.sleep(0.05)


def test_a_line_break_after_an_answer_does_not_keep_a_connection_open(service):
    with ExitStack() as stack:
        opened = connect(service, stack, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert opened.recv(65536).startswith(b"HTTP/1.1 200 ")
        opened.sendall(b"\r\n")
        read_to_the_end(opened)


def test_a_body_that_is_too_slow_is_told_so(service):
    with ExitStack() as stack:
        answer = read_to_the_end(connect(service, stack, HALVES["a body that stops"]))
    assert b"408" in answer.partition(b"\r\n")[0]
    assert b"urn:touchstone:problem:too-slow" in answer


def test_requests_on_one_connection_go_on_beyond_the_time_for_one(service):
    with service.client() as client:
        for _ in range(6):
            assert client.get("/healthz").status_code == 200
            time.sleep(0.3)


def test_when_too_many_are_open_the_oldest_half_open_one_makes_room(tmp_path):
    with (
        running(tmp_path / "touchstone.db", workers=1, waits=False, connections=5, header_seconds=600.0) as service,
        ExitStack() as stack,
    ):
        halves = [connect(service, stack, b"GET /healthz HTTP/1.1\r\n") for _ in range(5)]
        for each in halves:
            each.setblocking(False)
        with service.client() as client:
            assert client.get("/healthz").status_code == 200
        ended = []
        for at, each in enumerate(halves):
            with contextlib.suppress(BlockingIOError, ConnectionResetError):
                if each.recv(1) == b"":
                    ended.append(at)
        assert len(ended) == 1


def test_when_all_are_at_work_the_next_is_refused_with_an_answer(tmp_path):
    with (
        running(tmp_path / "touchstone.db", workers=1, waits=False, connections=1) as service,
        ExitStack() as stack,
    ):
        case = b'{"response": "' + b"1-" * 40_000 + b'"}'
        connect(service, stack, HEAD + b"Content-Length: %d\r\n\r\n" % len(case) + case)
        until = time.monotonic() + 60
        while not service.app.state.service.scorer.waiting:
            assert time.monotonic() < until
            time.sleep(0.01)
        answer = read_to_the_end(connect(service, stack))
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1" in answer
        assert b"urn:touchstone:problem:overloaded" in answer
