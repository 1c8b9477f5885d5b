"""What the user names as the bot is an address, a command, or an error before anything is drafted."""

import subprocess
import sys

import pytest

from touchstone.clients.bots import open_bot
from touchstone.clients.command import CommandBot
from touchstone.clients.http_bot import HttpBot
from touchstone.core.errors import ConfigError

KINDS = {
    "http://localhost:1/": HttpBot,
    "HTTPS://localhost:1/": HttpBot,
    " http://localhost:1/ ": HttpBot,
    "echo http://localhost": CommandBot,
    "echo": CommandBot,
}


@pytest.mark.parametrize(("spec", "kind"), KINDS.items())
def test_an_address_is_asked_and_all_else_is_run(spec, kind):
    with open_bot(spec) as bot:
        assert isinstance(bot, kind)


WRONG = {
    "another scheme": ({"spec": "ftp://localhost"}, "starts with 'ftp://', allowed are http:// and https://"),
    "no time": ({"timeout": 0}, "timeout is 0, allowed is a number of seconds above 0"),
    "no number": ({"timeout": float("nan")}, "timeout is nan"),
    "fewer than no retries": ({"retries": -1}, "retries are -1"),
    "headers for a command": ({"headers": {"X": "y"}}, "headers are for a bot behind an address"),
    "a variable that is not set": (
        {"spec": "http://localhost", "headers": {"X": "${NO_SUCH_VARIABLE}"}},
        "'NO_SUCH_VARIABLE', which is not set",
    ),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_cannot_work_is_an_error_at_once(options, message):
    with pytest.raises(ConfigError, match=message.replace("$", r"\$")), open_bot(**{"spec": "echo", **options}):
        pass


def test_nothing_heavy_is_loaded_before_a_bot_is_opened():
    probe = "import sys, touchstone.clients.bots; print(*{'httpx', 'asyncio', 'ssl'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True, text=True)
    assert run.stdout.split() == []
