"""A bot as a server: takes one case as JSON in a POST to /draft, answers with its reply as JSON.

It drafts like the command next to it. Standard library only.

    BOT_TOKEN=secret python examples/bots/http_bot.py 8000 &
    touchstone eval goldset.jsonl --bot http://localhost:8000/draft --header 'Authorization=Bearer ${BOT_TOKEN}'
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from command_bot import draft

TOKEN = os.environ.get("BOT_TOKEN")


class Drafts(BaseHTTPRequestHandler):
    """One request, one reply."""

    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_POST(self):
        case = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/draft":
            self.answer(404, {"error": "POST to /draft"})
        elif TOKEN and self.headers["Authorization"] != f"Bearer {TOKEN}":
            self.answer(401, {"error": "send the token"})
        else:
            self.answer(200, draft(case))

    def answer(self, status, body):
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format, *args):
        """Nothing: a log of requests has no place among the progress of a run."""


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    with ThreadingHTTPServer(("127.0.0.1", port), Drafts) as server:
        sys.stdout.write(f"http://127.0.0.1:{server.server_port}/draft\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main()
