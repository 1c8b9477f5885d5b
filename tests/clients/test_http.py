"""A server drafts: real requests to a real server, each with one way to go wrong."""

import asyncio
import gzip
import socket
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.clients.server import JSON, Answer, as_json, serving, text

from touchstone.clients.bot_protocol import LONGEST_ANSWER
from touchstone.clients.bots import open_bot
from touchstone.clients.http import Backoff
from touchstone.clients.http_bot import expand_headers, open_http
from touchstone.core.case import Case, Passage
from touchstone.core.errors import ConfigError

CASE = Case(id="c-1", input="Where is Jane Roe's parcel?", response="", context=["It is on its way."])
PAGE = b"<!doctype html><title>Jane Roe"
ENVIRONMENT = {"TOKEN": "s3cret", "BROKEN": "s3cret\nX-Other: 1", "EMPTY": ""}


@contextmanager
def bot_at(url, *, waits=None, timeout=20, retries=2):
    """The bot with waits that are noted down and not waited for."""

    async def sleep(seconds):
        if waits is not None:
            waits.append(seconds)
        await asyncio.sleep(0)

    backoff = Backoff(retries, sleep=sleep, chance=lambda: 1.0)
    with open_http(url, timeout=timeout, backoff=backoff, headers={}) as bot:
        yield bot


def drafted(*answers, **options):
    with serving(*answers) as server, bot_at(server.url, **options) as bot:
        return bot.draft(CASE, draft=2), len(server.bodies)


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


REPLIES = {
    "text": (text("Hello.\n"), ("Hello.", None, None)),
    "text without a type": (text("Hello.", type=None), ("Hello.", None, None)),
    "text in Latin-1": (Answer("Grüße".encode("latin-1"), type="text/plain; charset=latin-1"), ("Grüße", None, None)),
    "Markdown": (text("Hello.", type="text/markdown; charset=utf-8"), ("Hello.", None, None)),
    "an object": (as_json({"response": "Hello."}), ("Hello.", None, None)),
    "an object with all": (
        as_json({"response": "Hello.", "confidence": 0.5, "context": ["One."]}),
        ("Hello.", 0.5, (Passage("One."),)),
    ),
    "an object of a JSON kind": (
        Answer(b'{"response": "Hello."}', type="application/vnd.bot+json"),
        ("Hello.", None, None),
    ),
    "an object declared as text": (text('{"response": "Hello."}'), ("Hello.", None, None)),
    "an object that is compressed": (
        Answer(gzip.compress(b'{"response": "Hello."}'), type=JSON, headers={"Content-Encoding": "gzip"}),
        ("Hello.", None, None),
    ),
    "created": (text("Hello.", status=201), ("Hello.", None, None)),
}


@pytest.mark.parametrize(("answer", "expected"), REPLIES.values(), ids=REPLIES.keys())
def test_a_reply_is_text_or_an_object(answer, expected):
    found, requests = drafted(answer)
    assert (found.reply, found.confidence, found.context) == expected
    assert requests == 1


def test_the_case_is_posted_as_json_without_the_answer():
    with serving(text("Hello.")) as server, bot_at(server.url) as bot:
        bot.draft(Case(id="c", input="q", response="SECRET", expected_output="SECRET"), draft=2)
    assert server.bodies == [
        {"id": "c", "draft": 2, "input": "q", "context": None, "category": None, "metadata": {}},
    ]
    assert server.headers[0]["Content-Type"] == JSON


# What no second attempt would change.
FINAL = {
    "nothing": (text(""), "EmptyReply", "no text at all"),
    "no content": (Answer(status=204, type=None), "EmptyReply", "no text at all"),
    "a page": (Answer(PAGE, type="text/html"), "HtmlReply", "login or an error page"),
    "a page declared as text": (Answer(PAGE), "HtmlReply", "login or an error page"),
    "a page declared as JSON": (Answer(PAGE, type=JSON), "HtmlReply", "login or an error page"),
    "text declared as JSON": (text("Hello.", type=JSON), "WrongShape", "broken at line 1, column 1"),
    "a list": (as_json(["Hello."]), "WrongShape", "is not an object"),
    "another shape": (as_json({"choices": [1]}), "WrongShape", "the keys 'choices' and no 'response'"),
    "an image": (Answer(b"x", type="image/png"), "NotText", "content type is 'image/png'"),
    "bytes that are no text": (Answer(b"\xff\xfe"), "NotText", "2 bytes that are not utf-8"),
    "too much": (text("x" * (LONGEST_ANSWER + 1)), "TooLong", "more than 1,000,000 bytes"),
    "a redirect to a login": (
        Answer(status=302, headers={"Location": "https://u:p@sso.example.com/login?next=token"}),
        "Redirect",
        "status 302, a redirect to 'sso.example.com/login'",
    ),
    "a redirect to nowhere": (Answer(status=301), "Redirect", "a redirect to ''"),
    "a bad request": (Answer(PAGE, status=400), "BadStatus", "status 400"),
    "no access": (Answer(PAGE, status=401), "AccessRefused", "status 401"),
    "no such path": (Answer(PAGE, status=404), "AccessRefused", "check the address and the path"),
    "a case that is refused": (as_json({"response": "Jane"}, status=422), "BadStatus", "status 422"),
}


@pytest.mark.parametrize(("answer", "error", "message"), FINAL.values(), ids=FINAL.keys())
def test_an_answer_that_is_no_reply_fails_at_once_and_is_not_quoted(answer, error, message):
    failure, requests = drafted(answer)
    assert (failure.stage, failure.error, requests) == ("draft", error, 1)
    assert message in failure.message
    assert not any(secret in failure.message for secret in ("Jane", "u:p", "token"))


# What a second attempt may cure.
PASSING = {
    "overload": (Answer(status=503), "ServerError", "status 503"),
    "a broken server": (Answer(PAGE, status=500), "ServerError", "status 500"),
    "a broken gateway": (Answer(status=502), "ServerError", "status 502"),
    "too many requests": (Answer(status=429), "RateLimited", "status 429"),
    "an answer that breaks off": (text("Hel", cut=10), "Unreachable", "could not be reached"),
    "silence": (text("Hello.", delay=5), "Timeout", "no reply within 0.3 s"),
    "a drip": (text("Hello, hello.", drip=0.2), "Timeout", "no reply within 0.3 s"),
}


@pytest.mark.parametrize(("answer", "error", "message"), PASSING.values(), ids=PASSING.keys())
def test_a_server_that_is_not_there_is_tried_again_and_then_a_failure(answer, error, message):
    failure, requests = drafted(answer, timeout=0.3 if error == "Timeout" else 20)
    assert failure.error == error
    # On a busy machine the time may be up before the server has read the request.
    assert requests == 3 or (error == "Timeout" and requests < 3)
    assert message in failure.message
    assert failure.message.endswith("(tried 3 times)")


@pytest.mark.parametrize(("answer", "error", "_"), PASSING.values(), ids=PASSING.keys())
def test_a_server_that_is_back_is_forgiven(answer, error, _):
    found, requests = drafted(answer, text("Hello."), timeout=2 if error == "Timeout" else 20)
    assert (found.reply, requests) == ("Hello.", 2)


def test_a_server_that_does_not_run_is_unreachable():
    with bot_at(f"http://127.0.0.1:{free_port()}/draft") as bot:
        failure = bot.draft(CASE, draft=1)
    assert failure.error == "Unreachable"
    assert "(connection refused): check that the server runs" in failure.message


def test_a_host_that_does_not_exist_is_unreachable():
    with bot_at("http://bot.invalid/draft") as bot:
        assert bot.draft(CASE, draft=1).error == "Unreachable"


def test_a_plain_server_asked_over_tls_is_unreachable():
    with serving(text("Hello.")) as server, bot_at(server.url.replace("http:", "https:")) as bot:
        assert bot.draft(CASE, draft=1).error == "Unreachable"


def test_waits_double_from_half_a_second():
    waits = []
    drafted(Answer(status=500), waits=waits, retries=4)
    assert waits == [0.5, 1, 2, 4]


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_is_left_alone_for_as_long_as_it_asks(status):
    waits = []
    found, requests = drafted(Answer(status=status, headers={"Retry-After": "7"}), text("Hello."), waits=waits)
    assert (found.reply, requests) == ("Hello.", 2)
    assert waits == [0.5, pytest.approx(7, abs=2)]


def test_what_one_draft_is_asked_to_wait_all_of_them_wait():
    waits = []
    answers = [Answer(status=429, headers={"Retry-After": "9"}), text("Hello.")]
    with serving(*answers) as server, bot_at(server.url, waits=waits) as bot:
        bot.draft(CASE, draft=1)
        waits.clear()
        bot.draft(CASE, draft=2)
    assert waits == [pytest.approx(9, abs=2)]


def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for():
    waits = []
    failure, requests = drafted(Answer(status=429, headers={"Retry-After": "3600"}), waits=waits)
    assert (failure.error, requests, waits) == ("RateLimited", 1, [])
    assert "asks to wait 3600 s: lower the concurrency, or run it again later" in failure.message


def test_waits_are_real_when_nothing_else_is_asked_for():
    answers = [Answer(status=503, headers={"Retry-After": "1"}), text("Hello.")]
    with serving(*answers) as server, open_bot(server.url, retries=1) as bot:
        assert bot.draft(CASE, draft=1).reply == "Hello."
    first, second = server.at
    assert second - first >= 0.9


def test_a_header_is_filled_from_the_environment_and_shown_nowhere(monkeypatch, caplog):
    monkeypatch.setenv("BOT_TOKEN", "s3cret")
    caplog.set_level("DEBUG")
    headers = {"Authorization": "Bearer ${BOT_TOKEN}"}
    with serving(Answer(status=401)) as server, open_bot(server.url, headers=headers) as bot:
        failure = bot.draft(CASE, draft=1)
        shown = f"{bot.name} {failure} {caplog.text}"
    assert server.headers[0]["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in shown


def test_variables_are_filled_in():
    headers = {"Authorization": "Bearer ${TOKEN}", "X-Team": "support", "X-None": "${EMPTY}", "X-Price": "$5 {x}"}
    assert expand_headers(headers, environment=ENVIRONMENT) == {
        "Authorization": "Bearer s3cret",
        "X-Team": "support",
        "X-None": "",
        "X-Price": "$5 {x}",
    }


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(ConfigError, match="'Authorization' asks for the environment variable 'TOKE', which is not set"):
        expand_headers({"Authorization": "${TOKE}"}, environment=ENVIRONMENT)


@pytest.mark.parametrize(
    "headers", [{"X": "${BROKEN}"}, {"X": "é s3cret"}, {"X": "s3cret\0"}, {"X y": "s3cret"}, {"": "s3cret"}]
)
def test_what_may_not_be_sent_is_refused_without_showing_it(headers):
    with pytest.raises(ConfigError) as raised:
        expand_headers(headers, environment=ENVIRONMENT)
    assert "s3cret" not in str(raised.value)


def test_a_cookie_is_not_carried_from_one_draft_to_the_next():
    with serving(text("Hello.", headers={"Set-Cookie": "session=1"})) as server, bot_at(server.url) as bot:
        bot.draft(CASE, draft=1)
        bot.draft(CASE, draft=2)
    assert [headers["Cookie"] for headers in server.headers] == [None, None]


def test_a_proxy_of_the_environment_is_not_asked_for_a_bot_on_this_machine(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    assert drafted(text("Hello."))[0].reply == "Hello."


def test_connections_are_kept_and_closed_at_the_end():
    with serving(text("Hello.")) as server:
        before = open_files()
        with bot_at(server.url) as bot:
            for number in range(5):
                bot.draft(CASE, draft=number)
        time.sleep(0.05)
        assert open_files() <= before + 1  # the server's own end may take a moment


@pytest.mark.parametrize("answer", [text("Hello.", delay=30), Answer(status=503, headers={"Retry-After": "50"})])
def test_stopping_gives_up_requests_and_waits_at_once(answer):
    with serving(answer) as server, open_bot(server.url) as bot:
        found = []
        thread = threading.Thread(target=lambda: found.append(bot.draft(CASE, draft=1)))
        thread.start()
        while not server.bodies:
            time.sleep(0.01)
        time.sleep(0.1)
        bot.stop()
        # Sooner than the answer, or the end of the wait, could come.
        thread.join(20)
        assert [failure.error for failure in found] == ["Stopped"]


NAMES = {
    "http://localhost:8000/draft": "http://localhost:8000/draft",
    "https://user:pass@bots.example.com/v1/draft?key=s3cret#x": "https://bots.example.com/v1/draft",
    "http://[::1]:80": "http://[::1]:80",
}


@pytest.mark.parametrize(("url", "name"), NAMES.items())
def test_a_bot_goes_by_its_address_without_secrets(url, name):
    with open_bot(url) as bot:
        assert bot.name == name


@pytest.mark.parametrize("url", ["http://", "http:///draft", "http://localhost:port/", "http://a b/", "http://[::1/"])
def test_an_address_that_is_not_valid_is_an_error_at_once(url):
    with pytest.raises(ConfigError, match="write it like http://localhost:8000/draft"), open_bot(url):
        pass
