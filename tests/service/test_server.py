"""The socket that the service listens on: open before its address is told, and quick to answer."""

import socket

import uvicorn

from touchstone.service.options import Options
from touchstone.service.server import _bind


def test_answers_do_not_wait_for_acknowledgements_on_any_connection():
    options = Options(host="127.0.0.1", port=0)
    config = uvicorn.Config("unused:app", host=options.host, port=options.port, log_config=None)
    with _bind(config, options) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
