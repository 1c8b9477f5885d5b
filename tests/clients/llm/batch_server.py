"""A model server on this machine that takes batches too, by OpenAI's published protocol: a file of requests, a status
at each look, and at the end a file of answers and one of errors."""

import json
import re
import threading
from contextlib import contextmanager
from email import message_from_bytes

from tests.clients.llm.faulty import FaultyServer, Reply, _Handler, grades, refuses, says

ENDED = ("completed", "failed", "expired", "cancelled")
USUAL = ("validating", "in_progress", "completed")


def answered(asked, *, body=None, status=200):
    """A line of the output file, or with another status one of the error file."""
    response = {"status_code": status, "request_id": "r", "body": body or says(grades()).body}
    return {"id": "x", "custom_id": asked["custom_id"], "response": response, "error": None}


def refused(asked, status, message="no", **options):
    return answered(asked, body=refuses(status, message, **options).body, status=status)


def expired(asked):
    error = {"code": "batch_expired", "message": "This request could not be executed before the window expired."}
    return {"id": "x", "custom_id": asked["custom_id"], "response": None, "error": error}


class BatchServer(FaultyServer):
    """`script` is the statuses that a batch goes through, one at each look; `line` answers a request with a line, with
    bytes that are none, or with None; `most` is how many are answered before the batch ends.

    `instead` has replies to give in place of those of a path, such as `{"POST /v1/files": [refuses(404)]}`, in turn and
    the last one ever after. None is the usual reply; a function is asked for one when the work is done.
    """

    def __init__(self):
        super().__init__()
        self.RequestHandlerClass = _BatchHandler
        self.script = USUAL
        self.line = answered
        self.most = None
        self.extra = b""
        self.problem = "invalid_json_line"
        self.instead = {}
        self.files = {}
        self.batches = {}
        self.seen = []

    @property
    def submitted(self):
        """The requests of each batch, as they were uploaded."""
        return [self.requests_of(row) for row in self.batches.values()]

    @property
    def custom_ids(self):
        return [asked["custom_id"] for batch in self.submitted for asked in batch]

    def requests_of(self, row):
        return [json.loads(line) for line in self.files[row["input_file_id"]].splitlines()]

    def add_file(self, content):
        id = f"file-{len(self.files) + 1}"
        self.files[id] = content
        return id

    def create(self, asked):
        assert asked["endpoint"] == "/v1/chat/completions"
        assert asked["completion_window"] == "24h"
        assert self.script[0] not in ENDED
        id = f"batch_{len(self.batches) + 1}"
        row = {"id": id, "object": "batch", "status": self.script[0], **asked, "output_file_id": None}
        self.batches[id] = row | {"error_file_id": None, "request_counts": {}, "looks": 0}
        return self.shown(id)

    def look(self, id):
        row = self.batches[id]
        if row["status"] not in ENDED:
            row["looks"] += 1
            row["status"] = self.script[min(row["looks"], len(self.script) - 1)]
            self.go_on(row)
        return self.shown(id)

    def shown(self, id):
        return {name: value for name, value in self.batches[id].items() if name != "looks"}

    def go_on(self, row):
        requests = self.requests_of(row)
        counts = {"total": len(requests), "completed": 0, "failed": 0}
        row["request_counts"] = counts
        if row["status"] == "in_progress":
            counts["completed"] = len(requests) // 2
        if row["status"] not in ENDED:
            return
        if row["status"] == "failed" or not self.is_valid(requests):
            row["status"] = "failed"
            row["errors"] = {"object": "list", "data": [{"code": self.problem, "message": "a private word"}]}
            return
        most = len(requests) if self.most is None else self.most
        lines = [self.line(asked) for asked in requests[:most]] + [expired(asked) for asked in requests[most:]]
        # Lines come in any order, and what failed in a file of its own.
        lines = [line for line in reversed(lines) if line is not None]
        good = [line for line in lines if isinstance(line, bytes) or (line["response"] or {}).get("status_code") == 200]
        bad = [line for line in lines if line not in good]
        counts |= {"completed": len(good), "failed": len(bad)}
        row["output_file_id"] = self.add_file(jsonl(good) + self.extra) if good or self.extra else None
        row["error_file_id"] = self.add_file(jsonl(bad)) if bad else None

    def is_valid(self, requests):
        ids = [asked["custom_id"] for asked in requests]
        forms = {(asked["method"], asked["url"], asked["body"]["model"]) for asked in requests}
        return len(set(ids)) == len(ids) and max(map(len, ids)) <= 64 and len(forms) == 1


def jsonl(lines):
    return b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)


class _BatchHandler(_Handler):
    def do_GET(self):
        path = self.path.partition("?")[0]
        if match := re.fullmatch(r"/v1/batches/([\w-]+)", path):
            self.give(path, lambda: self.server.look(match[1]) if match[1] in self.server.batches else None)
        elif match := re.fullmatch(r"/v1/files/([\w-]+)/content", path):
            self.give(path, lambda: self.server.files.get(match[1]))
        elif path == "/v1/batches":
            rows = [self.server.shown(id) for id in reversed(self.server.batches)]
            self.give(path, lambda: {"object": "list", "data": rows})
        else:
            super().do_GET()

    def do_POST(self):
        if self.path == "/v1/files":
            fields = self.form()
            assert fields["purpose"] == b"batch"
            self.give(self.path, lambda: {"id": self.server.add_file(fields["file"]), "object": "file"})
        elif self.path == "/v1/batches":
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.give(self.path, lambda: self.server.create(asked))
        else:
            super().do_POST()

    def give(self, path, work):
        """What the path gives, or what is to be given instead."""
        self.server.keys.append(self.headers.get("Authorization"))
        name = f"{self.command} {path}"
        self.server.seen.append(name)
        waiting = self.server.instead.get(name, [])
        other = waiting.pop(0) if len(waiting) > 1 else waiting[0] if waiting else None
        if isinstance(other, Reply):
            self.send(other)
            return
        done = work()
        usual = refuses(404) if done is None else Reply(done)
        self.send(other(done) if callable(other) else usual)

    def form(self):
        """The fields of a multipart form."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        whole = message_from_bytes(b"Content-Type: " + self.headers["Content-Type"].encode() + b"\r\n\r\n" + body)
        parts = {part.get_param("name", header="content-disposition"): part for part in whole.get_payload()}
        return {name: part.get_payload(decode=True) for name, part in parts.items()}


@contextmanager
def batch_server():
    server = BatchServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
