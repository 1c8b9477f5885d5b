"""A model server may fail in every way it can: what passes is tried again, what stands is said, nothing is guessed."""

import asyncio
import logging
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from tests.clients.llm.faulty import Reply, grades, refuses, says

import touchstone as ts
from touchstone.clients.http import Backoff, duration, rate_limit_reset, retry_after
from touchstone.clients.llm.call import Answered, Sampling, Usage, call_for
from touchstone.clients.llm.connection import Connection
from touchstone.clients.llm.meter import Budget, Meter, Prices
from touchstone.clients.llm.server import MOST_IN_A_ROW, open_server
from touchstone.core.errors import ConfigError
from touchstone.core.result import Failure
from touchstone.judges.llm.prompt import packaged_prompt
from touchstone.judges.llm.request import build_requests
from touchstone.rubric.parse import packaged

CASE = ts.Case(input="May I return it?", response="A very private reply.")
(REQUEST,) = build_requests(CASE, rubric=packaged("supportai"), prompt=packaged_prompt())
CALL = call_for(REQUEST, model="small", sampling=Sampling())
HTML = Reply(b"<html>hello</html>", type="text/html")
NOW = datetime(2025, 1, 1, tzinfo=UTC)


@contextmanager
def opened(server, *, retries=2, timeout=5.0, budget=None, prices=None, url=None):
    """The client with waits that are noted and not waited for."""
    waits = []

    async def note(seconds):
        waits.append(seconds)
        await asyncio.sleep(0)

    meter = Meter(budget or Budget())
    account = meter.open_account("small", prices)
    backoff = Backoff(retries=retries, first=0.01, sleep=note, chance=lambda: 1.0)
    connection = Connection(url or server.url, "secret-key")
    with open_server(connection, account=account, timeout=timeout, backoff=backoff) as client:
        client.waits, client.meter = waits, meter
        yield client


def ask(server, **options):
    with opened(server, **options) as client:
        return client.ask(CALL)


def test_a_call_is_sent_at_temperature_0_with_a_seed_and_the_schema(server):
    found = ask(server)
    assert isinstance(found, Answered)
    assert found.usage == Usage(100, 20)
    (sent,) = server.asked
    assert (sent["model"], sent["temperature"], sent["seed"], sent["max_tokens"]) == ("small", 0.0, 7, 1600)
    assert sent["response_format"]["json_schema"] == {"name": "grades", "strict": True, "schema": REQUEST.schema}
    assert set(server.keys) == {"Bearer secret-key"}


@pytest.mark.parametrize(
    ("reply", "error", "tries"),
    [
        (refuses(429), "RateLimited", 3),
        (refuses(500), "ServerError", 3),
        (refuses(503), "ServerError", 3),
        (refuses(400, "the context size was exceeded", code="exceed_context_size_error"), "ContextTooLong", 1),
        (refuses(400, "maximum context length is 8192 tokens, lower max_tokens"), "ContextTooLong", 1),
        (refuses(413), "ContextTooLong", 1),
        (refuses(400, "A very private reply."), "BadRequest", 1),
        (refuses(429, "pay", headers={"Retry-After": "3600"}), "RateLimited", 1),
    ],
)
def test_a_refusal_is_a_failure_with_a_remedy_and_without_the_server_s_words(server, reply, error, tries):
    server.replies = [reply]
    found = ask(server)
    assert isinstance(found, Failure)
    assert (found.stage, found.error) == ("judge", error)
    assert len(server.asked) == tries
    assert "private" not in found.message
    assert "secret" not in found.message


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (refuses(401), "access refused"),
        (refuses(403), "access refused"),
        (refuses(404, "model small does not exist"), "the model's name"),
        (refuses(429, "quota", code="insufficient_quota"), "quota is used up"),
        (HTML, "does not answer in the form of OpenAI's protocol"),
        (Reply({"hello": "world"}), "does not answer in the form of OpenAI's protocol"),
    ],
)
def test_what_is_wrong_for_every_call_ends_the_command_while_nothing_was_answered(server, reply, told):
    server.replies = [reply]
    with pytest.raises(ConfigError, match=told):
        ask(server)


@pytest.mark.parametrize("reply", [refuses(401), HTML], ids=["401", "HTML"])
def test_what_is_wrong_for_every_call_is_a_failure_once_something_was_answered(server, reply):
    server.replies = [says(grades()), reply]
    with opened(server) as client:
        assert isinstance(client.ask(CALL), Answered)
        assert isinstance(client.ask(CALL), Failure)


def test_a_refused_key_or_an_address_without_a_server_is_said_before_anything_is_asked(server):
    server.models = refuses(401)
    with pytest.raises(ConfigError, match="check the key"), opened(server):
        pass
    with pytest.raises(ConfigError, match="could not be reached"), opened(server, url="http://127.0.0.1:9/v1"):
        pass
    assert server.asked == []


def test_a_server_that_lists_no_models_may_still_answer(server):
    server.models = refuses(404)
    assert isinstance(ask(server), Answered)


@pytest.mark.parametrize("trouble", [refuses(429), refuses(500), refuses(502)], ids=["429", "500", "502"])
def test_what_passes_is_tried_again_with_growing_waits(server, trouble):
    server.replies = [trouble, trouble, says(grades())]
    with opened(server) as client:
        assert isinstance(client.ask(CALL), Answered)
        assert client.waits == [pytest.approx(0.01), pytest.approx(0.02)]


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "7"},
        {"retry-after-ms": "7000"},
        {"Retry-After": "0", "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "7s"},
    ],
)
def test_the_wait_a_server_asks_for_is_kept(server, headers):
    server.replies = [refuses(429, headers=headers), says(grades())]
    with opened(server) as client:
        assert isinstance(client.ask(CALL), Answered)
        assert 6 < max(client.waits) <= 7


def test_a_server_that_has_no_room_left_is_not_asked_before_it_has(server):
    server.replies = [
        says(grades(), headers={"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "2s"}),
        says(grades()),
    ]
    with opened(server) as client:
        client.ask(CALL)
        assert client.waits == []
        client.ask(CALL)
        (wait,) = client.waits
        assert 0 < wait <= 2


def test_an_answer_that_takes_too_long_is_a_timeout(server):
    server.replies = [Reply({}, delay=0.6)]
    found = ask(server, timeout=0.2, retries=1)
    assert found.error == "Timeout"
    assert "within 0.2 s" in found.message
    assert "tried 2 times" in found.message


@pytest.mark.parametrize(
    ("refusals", "left"),
    [
        ([refuses(400, "maxLength is not permitted in the schema", param="response_format")], "loose schema"),
        ([refuses(400, "json_schema is not supported")] * 2, "object"),
        ([refuses(400, "Unrecognized argument: response_format")] * 3, "text"),
    ],
)
def test_a_server_that_does_not_take_the_schema_is_asked_with_less(server, refusals, left):
    server.replies = [*refusals, says(grades())]
    with opened(server) as client:
        assert isinstance(client.ask(CALL), Answered)
        client.ask(CALL)
    first, last = server.asked[-2:]
    assert first == last, "what it refused is remembered"
    asked = last.get("response_format", {"type": "text"})["type"]
    assert asked == {"loose schema": "json_schema", "object": "json_object", "text": "text"}[left]
    assert "maxLength" not in str(last)


def test_options_a_server_does_not_take_are_left_out_or_renamed(server):
    server.replies = [
        refuses(400, "use max_completion_tokens instead", param="max_tokens"),
        refuses(400, "only the default is supported", param="temperature"),
        refuses(400, "unknown parameter", param="seed"),
        says(grades()),
    ]
    assert isinstance(ask(server), Answered)
    sent = server.asked[-1]
    assert sent["max_completion_tokens"] == 1600
    assert not {"max_tokens", "temperature", "seed"} & set(sent)


def test_a_server_that_refuses_in_the_same_words_for_ever_is_given_up(server):
    server.replies = [refuses(400, "temperature, seed, max_tokens and response_format are all wrong")]
    assert ask(server).error == "BadRequest"
    assert len(server.asked) < 10


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (says("cut", ended="length"), ("cut", True, False)),
        (says("", refusal="I will not"), ("", False, True)),
        (says(None, ended="content_filter"), ("", False, True)),
        (says("prose"), ("prose", False, False)),
    ],
)
def test_cut_refused_and_prose_answers_are_told_apart(server, reply, expected):
    server.replies = [reply]
    answer = ask(server).answer
    assert (answer.text, answer.is_cut, answer.is_refusal) == expected


def test_a_server_that_is_away_is_not_waited_for_again_and_again(server):
    server.replies = [says(grades()), refuses(500)]
    with opened(server, retries=0) as client:
        assert isinstance(client.ask(CALL), Answered)
        errors = [client.ask(CALL).error for _ in range(MOST_IN_A_ROW + 3)]
    assert errors == ["ServerError"] * MOST_IN_A_ROW + ["ServerAway"] * 3
    assert len(server.asked) == 1 + MOST_IN_A_ROW


def test_the_budget_is_never_overrun_and_says_so(server):
    with opened(server, budget=Budget(tokens=6_000)) as client:
        found = [client.ask(CALL) for _ in range(40)]
        assert client.meter.used.total <= 6_000
    assert isinstance(found[0], Answered)
    assert found[-1].error == "BudgetReached"


def test_money_is_counted_by_the_prices_given(server):
    prices = Prices(input=1.0, output=10.0)
    with opened(server, budget=Budget(money=0.0205), prices=prices) as client:
        found = [client.ask(CALL) for _ in range(20)]
        answered = sum(isinstance(each, Answered) for each in found)
        assert client.meter.money == pytest.approx(answered * (100 * 1.0 + 20 * 10.0) / 1e6)
        assert client.meter.money <= 0.0205
    assert 0 < answered < 20


def test_a_server_that_counts_no_tokens_is_charged_by_length(server):
    server.replies = [says("x" * 400, usage=None)]
    with opened(server) as client:
        client.ask(CALL)
        assert client.meter.used == Usage(CALL.length // 4 + 1, 101)


def test_stopping_gives_up_what_is_under_way(server):
    server.replies = [Reply({}, delay=1.0)]
    with opened(server, timeout=30) as client:
        found = []
        thread = threading.Thread(target=lambda: found.append(client.ask(CALL)))
        thread.start()
        while not server.asked:
            time.sleep(0.01)
        client.stop()
        thread.join(0.5)
        assert found[0].error == "Stopped"


def test_no_log_holds_the_key_or_the_case(server, caplog):
    server.replies = [refuses(500, "A very private reply."), says(grades())]
    with caplog.at_level(logging.INFO):
        ask(server)
    assert "secret-key" not in caplog.text
    assert "private" not in caplog.text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("20", 20),
        ("1s", 1),
        ("6m0s", 360),
        ("250ms", 0.25),
        ("1h2m3.5s", 3723.5),
        ("", None),
        ("soon", None),
        ("1s soon", None),
    ],
)
def test_a_duration_is_read(text, seconds):
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Wed, 01 Jan 2025 00:00:09 GMT"}, 9),
    ],
)
def test_a_refusal_says_how_long_to_wait(headers, seconds):
    assert retry_after(headers, now=NOW) == seconds


def test_room_that_is_left_asks_for_no_wait():
    headers = {"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "9s"}
    assert rate_limit_reset(headers) is None
    assert rate_limit_reset(headers | {"x-ratelimit-remaining-requests": "0"}) == 9
