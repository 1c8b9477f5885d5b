"""A real server on a free port of the loopback interface, which answers as it is told to, one request after another."""

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

JSON = "application/json"


@dataclass
class Answer:
    """What the server sends: `drip` seconds between single bytes, `cut` bytes that are promised and never come."""

    body: bytes = b""
    status: int = 200
    type: str | None = "text/plain"
    headers: dict = field(default_factory=dict)
    delay: float = 0
    drip: float = 0
    cut: int = 0


@dataclass
class Server:
    """The address, and the requests that came in."""

    url: str
    bodies: list = field(default_factory=list)
    headers: list = field(default_factory=list)
    at: list = field(default_factory=list)


def text(reply, **options):
    return Answer(reply.encode(), **options)


def as_json(value, **options):
    return Answer(json.dumps(value).encode(), type=JSON, **options)


@contextmanager
def serving(*answers):
    """A server that gives the answers in turn, and the last of them from then on."""
    server = Server("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            server.at.append(time.monotonic())
            server.headers.append(self.headers)
            server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            answer = answers[min(len(server.bodies), len(answers)) - 1]
            try:
                self.send(answer)
            except OSError:
                self.close_connection = True

        def send(self, answer):
            time.sleep(answer.delay)
            self.send_response(answer.status)
            if answer.type:
                self.send_header("Content-Type", answer.type)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body) + answer.cut))
            self.end_headers()
            for part in [answer.body] if not answer.drip else [bytes([one]) for one in answer.body]:
                self.wfile.write(part)
                self.wfile.flush()
                time.sleep(answer.drip)
            self.close_connection = bool(answer.cut)

        def log_message(self, format, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        server.url = f"http://127.0.0.1:{listening.server_port}/draft"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
