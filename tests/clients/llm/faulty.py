"""A model server on this machine that answers as it is told: well, badly, late, or not at all."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAMES = ("accuracy", "completeness", "tone", "actionability")


@dataclass
class Reply:
    """One answer over HTTP."""

    body: object = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    type: str = "application/json"


def grades(grade=3, **grades):
    """What a model that does its task says."""
    opinion = {"reason": "it does", "quotes": [], "confidence": 0.9}
    return {"criteria": {name: opinion | {"grade": grades.get(name, grade)} for name in NAMES}, "violations": []}


def says(content, *, ended="stop", usage=(100, 20), refusal=None, headers=None):
    """A completion with this text."""
    text = content if isinstance(content, str) or content is None else json.dumps(content)
    body = {
        "id": "x",
        "object": "chat.completion",
        "choices": [
            {"index": 0, "finish_reason": ended, "message": {"role": "assistant", "content": text, "refusal": refusal}}
        ],
    }
    if usage:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Reply(body, headers=headers or {})


def refuses(status, message="no", *, code=None, param=None, headers=None):
    """An error of the protocol."""
    error = {"message": message, "type": "error", "code": code, "param": param}
    return Reply({"error": error}, status=status, headers=headers or {})


class FaultyServer(ThreadingHTTPServer):
    """Gives out `replies` in turn, the last one ever after. `models` is what it says when it is asked for a list."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies = [says(grades())]
        self.models = Reply({"object": "list", "data": []})
        self.asked = []
        self.keys = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    def answer(self, asked):
        """The next reply; a function is asked for it."""
        with self._lock:
            self.asked.append(asked)
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        reply = reply(asked) if callable(reply) else reply
        time.sleep(reply.delay)
        with self._lock:
            self._at_once -= 1
        return reply

    def handle_error(self, request, client_address):
        """A client that hangs up is part of what is tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.keys.append(self.headers.get("Authorization"))
        self.send(self.server.models if self.path == "/v1/models" else refuses(404))

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.keys.append(self.headers.get("Authorization"))
        self.send(self.server.answer(asked) if self.path == "/v1/chat/completions" else refuses(404))

    def send(self, reply):
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in {"Content-Type": reply.type, "Content-Length": str(len(body)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@contextmanager
def faulty_server() -> Iterator[FaultyServer]:
    server = FaultyServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
