"""The example bots draft from the context, as a command and as a server."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.clients.bots import draft_all, open_bot
from touchstone.core.case import Case

BOTS = Path(__file__).parents[2] / "examples" / "bots"
CASES = [
    Case(
        id="window",
        input="How long is the refund window?",
        response="",
        context=["Parcels leave our warehouse daily.", {"id": "p2", "text": "The refund window is 14 days."}],
    ),
    Case(
        id="chat",
        input=[{"role": "user", "content": "Do parcels leave on Sunday?"}, {"role": "assistant", "content": "Refund?"}],
        response="",
        context=["The refund window is 14 days.", "Parcels leave our warehouse daily."],
    ),
    Case(id="nothing", input="How long is the refund window?", response="", context=[]),
    Case(id="unknown", input="How long is the refund window?", response=""),
]
REPLIES = [
    ("Thank you for your message. The refund window is 14 days.", 0.67),
    ("Thank you for your message. Parcels leave our warehouse daily.", 0.67),
    ("I could not find that out. I am passing your message on to a colleague.", 0),
    ("I could not find that out. I am passing your message on to a colleague.", 0),
]


def drafted(bot):
    found = draft_all(bot, CASES, repeat=1, concurrency=2, skip=lambda id, draft: False)
    return [(draft.reply, draft.confidence) for _, _, draft in found]


def test_the_command_drafts():
    with open_bot(f"{shlex.quote(sys.executable)} {shlex.quote(str(BOTS / 'command_bot.py'))}") as bot:
        assert drafted(bot) == REPLIES


@pytest.fixture
def address(monkeypatch):
    monkeypatch.setenv("BOT_TOKEN", "s3cret")
    command = [sys.executable, str(BOTS / "http_bot.py"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        yield server.stdout.readline().strip()
        server.kill()


def test_the_server_drafts_for_who_sends_the_token(address):
    with open_bot(address, headers={"Authorization": "Bearer ${BOT_TOKEN}"}) as bot:
        assert drafted(bot) == REPLIES
    with open_bot(address) as bot:
        assert bot.draft(CASES[0], draft=1).error == "AccessRefused"
