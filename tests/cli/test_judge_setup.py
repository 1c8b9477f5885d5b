"""`touchstone judge`: what is found is offered, tried on invented cases and written down; what is wrong is a line."""

import io
import json
from collections import Counter

import pytest
import yaml
from tests.clients.llm.faulty import Reply, faulty_server, grades, refuses, says

from touchstone.app.config import Settings
from touchstone.app.judge_trial import draw_cases
from touchstone.clients.http import Backoff
from touchstone.clients.llm import discovery
from touchstone.clients.llm import server as client
from touchstone.clients.llm.connection import PROVIDERS
from touchstone.clients.llm.discovery import Port
from touchstone.core.errors import ConfigError
from touchstone.goldset.labels import case_outcome

slow = pytest.mark.slow


def listing(*names):
    return Reply({"data": [{"id": name} for name in names]})


def enforces(asked):
    """A server that holds every answer to the schema it was given."""
    return says({"sky_code": 1}) if is_form(asked) else says(grades())


def is_form(asked):
    return "clear sky" in str(asked["messages"])


@pytest.fixture
def server(monkeypatch):
    """One model server, where Ollama would be, and an environment without any key."""
    for name in ("OPENAI_BASE_URL", "TOUCHSTONE_LLM_API_KEY", "TOUCHSTONE_LLM_BASE_URL", "TOUCHSTONE_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    for provider in PROVIDERS:
        monkeypatch.delenv(provider.key_variable, raising=False)
    monkeypatch.setattr(client, "Backoff", lambda **given: Backoff(retries=1, first=0.001))
    with faulty_server() as running:
        monkeypatch.setattr(discovery, "PLACES", (Port("vLLM", 9), Port("Ollama", running.server_port)))
        running.models = listing("small", "large")
        running.replies = [enforces]
        yield running


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def at_terminal(monkeypatch):
    """What a person types, line by line."""
    return lambda *lines: monkeypatch.setattr("sys.stdin", Terminal("".join(f"{line}\n" for line in lines)))


def section(server, model="small"):
    return {"kind": "llm", "model": model, "base_url": server.url}


def written(tmp_path):
    return yaml.safe_load((tmp_path / "touchstone.yaml").read_text())


@slow
def test_with_yes_the_first_that_is_found_is_tried_and_written(touchstone, server, tmp_path):
    ended = touchstone("judge", "setup", "--yes", "--cases", "4")
    assert ended.code == 0
    place = f"127.0.0.1:{server.server_port}"
    assert ended.err.splitlines() == [
        f"1. small: Ollama at {place}",
        f"2. large: Ollama at {place}",
        f"sending 5 requests to {place}: 4 cases of the invented set support, and no text of your customers",
        "written to touchstone.yaml; touchstone judge check repeats this",
    ]
    lines = ended.out.splitlines()
    assert lines[0].startswith("llm:small #")
    assert lines[1] == "  answers       small: kept to a JSON schema by the server"
    assert lines[2] == "  same outcome  2 of 4"
    assert lines[3].startswith("  kappa         0.00 of all grades (accuracy 0.00, completeness 0.00, tone ")
    assert lines[4].startswith("  time          ")
    assert lines[5] == "  tokens        100 in and 20 out a reply"
    assert lines[6].startswith("  cost          give --judge-set prices.input=0.15 --judge-set prices.output=0.60")
    assert lines[7] == (
        "4 cases are too few to trust: measure it with touchstone review agreement, best on cases of yours"
    )
    assert lines[8:] == ["", "judge:", "  kind: llm", "  model: small", f"  base_url: {server.url}"]
    assert written(tmp_path) == {"judge": section(server)}
    assert [asked["model"] for asked in server.asked] == ["small"] * 5
    assert sum(map(is_form, server.asked)) == 1


@slow
def test_without_a_terminal_and_without_yes_the_section_is_only_printed(touchstone, server, tmp_path):
    ended = touchstone("judge", "setup", "--cases", "2")
    assert ended.code == 0
    assert yaml.safe_load(ended.out[ended.out.index("judge:") :]) == {"judge": section(server)}
    assert not (tmp_path / "touchstone.yaml").exists()


@slow
@pytest.mark.parametrize(("answer", "is_written"), [("y", True), ("n", False), ("", False)])
def test_at_a_terminal_one_chooses_and_is_asked(  # noqa: PLR0917 - a table's row
    touchstone, server, tmp_path, at_terminal, answer, is_written
):
    (tmp_path / "touchstone.yaml").write_text("redact: true  # ours\n")
    at_terminal("2", answer)
    ended = touchstone("judge", "setup", "--cases", "2")
    assert ended.code == 0
    assert {asked["model"] for asked in server.asked} == {"large"}
    assert "which one [1]:" in ended.err
    assert "write it into touchstone.yaml? [y/N]:" in ended.err
    assert written(tmp_path) == {"redact": True} | ({"judge": section(server, "large")} if is_written else {})
    assert (tmp_path / "touchstone.yaml").read_text().startswith("redact: true  # ours\n")


def test_a_number_that_is_not_in_the_list_is_told(touchstone, server, at_terminal):
    at_terminal("3")
    ended = touchstone("judge", "setup")
    assert (ended.code, server.asked) == (2, [])
    assert "3 is not in the list: choose from 1 to 2" in ended.err


@slow
def test_a_model_and_an_address_that_are_named_are_taken(touchstone, server, tmp_path, monkeypatch):
    monkeypatch.setattr(discovery, "PLACES", ())
    ended = touchstone("judge", "setup", "--model", "mine", "--base-url", f"{server.url}/", "--yes", "--cases", "2")
    assert ended.code == 0
    assert written(tmp_path) == {"judge": section(server, "mine")}


@slow
def test_the_figures_come_as_json(touchstone, server, tmp_path):
    prices = ("--judge-set", "prices.input=1", "--judge-set", "prices.output=2", "--judge-set", "concurrency=1")
    ended = touchstone("judge", "setup", "--cases", "4", "--json", "--yes", *prices)
    found = json.loads(ended.out)
    assert found.pop("judge").startswith("llm:small #")
    assert found.pop("seconds") >= 4 * found.pop("seconds_a_reply") * 0.99 > 0
    kappas = found.pop("kappas")
    assert list(kappas) == ["accuracy", "completeness", "tone", "actionability"]
    assert kappas["accuracy"] == 0.0
    own = section(server) | {"concurrency": 1, "prices": {"input": 1, "output": 2}}
    assert yaml.safe_load(found.pop("section"))["judge"] == own
    assert written(tmp_path)["judge"] == own
    assert found == {
        "forms": {"small": "schema"},
        "cases": 4,
        "failed": 0,
        "same_outcome": 2,
        "left_open": 0,
        "kappa": 0.0,
        "tokens_a_reply": {"input": 100, "output": 20},
        "cost_of_a_hundred": pytest.approx(100 * 140 / 1e6),
        "currency": "USD",
        "problems": [],
        "found": [
            {"owner": "Ollama", "base_url": server.url, "model": name, "key_variable": None}
            for name in ("small", "large")
        ],
        "written": "touchstone.yaml",
    }


@slow
@pytest.mark.parametrize(
    ("reply", "form"),
    [
        (says({"sky_code": 3}), "schema"),
        (says({"colour": "blue"}), "json"),
        (says("The sky is blue."), "text"),
        (says("It is {blue}."), "text"),
        (says(""), "unknown"),
        (says("The sk", ended="length"), "unknown"),
        (refuses(400, "could not be met", code="json_validate_failed"), "text"),
    ],
)
def test_it_is_seen_how_far_a_server_enforces_a_form(touchstone, server, reply, form):
    server.replies = [lambda asked: reply if is_form(asked) else says(grades())]
    ended = touchstone("judge", "setup", "--cases", "2", "--json")
    assert json.loads(ended.out)["forms"] == {"small": form}


@slow
def test_a_server_that_refuses_the_schema_is_asked_in_another_form(touchstone, server):
    def picky(asked):
        if asked.get("response_format", {}).get("type") == "json_schema":
            return refuses(400, "response_format json_schema is not supported")
        return says({"colour": "blue"}) if is_form(asked) else says(grades())

    server.replies = [picky]
    ended = touchstone("judge", "setup", "--cases", "2")
    assert ended.code == 0
    assert "small: JSON, but no schema is enforced" in ended.out
    assert {asked["response_format"]["type"] for asked in server.asked[-2:]} == {"json_object"}


@slow
def test_a_model_that_answers_in_prose_is_not_written_down(touchstone, server, tmp_path):
    server.replies = [says("I would give this reply a 4.")]
    ended = touchstone("judge", "setup", "--cases", "3", "--yes")
    assert ended.code == 3
    assert "small: no form is enforced" in ended.out
    assert "  failed        3 of 3: the model answered without one JSON object of the form asked for: " in ended.out
    assert "same outcome  0 of 3, 3 left open" in ended.out
    assert "nothing is written, since no case was graded" in ended.err
    assert not (tmp_path / "touchstone.yaml").exists()


@slow
def test_what_failed_of_some_cases_is_counted_with_its_remedy(touchstone, server, tmp_path):
    answers = iter([says(grades()), says(grades()), says("no"), says("no"), refuses(400)])
    server.replies = [lambda asked: says({"sky_code": 1}) if is_form(asked) else next(answers)]
    ended = touchstone("judge", "setup", "--cases", "5", "--yes", "--json", "--judge-set", "concurrency=1")
    assert ended.code == 3
    found = json.loads(ended.out)
    assert (found["failed"], found["left_open"]) == (3, 3)
    assert [(each["error"], each["cases"]) for each in found["problems"]] == [("NotJson", 2), ("BadRequest", 1)]
    assert "use a server that enforces a JSON schema" in found["problems"][0]["message"]
    assert found["tokens_a_reply"] == {"input": 80, "output": 16}
    assert written(tmp_path)["judge"]["model"] == "small"


@slow
def test_a_model_that_thinks_too_long_is_given_more_room_and_keeps_it(touchstone, server, tmp_path):
    def thinks(asked):
        is_long = asked["max_tokens"] == 6400
        return enforces(asked) if is_long else says("", ended="length")

    server.replies = [thinks]
    ended = touchstone("judge", "setup", "--cases", "2", "--yes")
    assert ended.code == 0
    assert [asked["max_tokens"] for asked in server.asked] == [1600, 1600, 6400, 6400, 6400]
    assert "the answer was cut off at 1,600 tokens: trying with max_tokens 6,400" in ended.err
    assert ended.err.count("sending 3 requests") == 2
    assert written(tmp_path)["judge"] == section(server) | {"max_tokens": 6400}


@slow
def test_a_length_that_was_chosen_is_kept(touchstone, server):
    server.replies = [says("", ended="length")]
    ended = touchstone("judge", "setup", "--cases", "2", "--judge-set", "max_tokens=400")
    assert ended.code == 3
    assert [asked["max_tokens"] for asked in server.asked] == [400, 400, 400]


@slow
def test_a_model_that_is_cut_off_with_more_room_too_is_told_so_once(touchstone, server):
    server.replies = [says("", ended="length")]
    ended = touchstone("judge", "setup", "--cases", "2")
    assert ended.code == 3
    assert [asked["max_tokens"] for asked in server.asked] == [1600, 1600, 6400, 6400, 6400]
    assert "allow it more with --judge-set max_tokens=N" in ended.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "no model server answers on this machine (vLLM on 9)"),
        (
            ("--model", "x", "--base-url", "http://127.0.0.1:9/v1"),
            "127.0.0.1:9 could not be reached (connection refused): check that",
        ),
        (
            ("--model", "x", "--base-url", "https://llm.example/v1"),
            "no key for llm.example: set TOUCHSTONE_LLM_API_KEY",
        ),
        (("--base-url", "https://llm.example/v1"), "llm.example has no model to start with: name one with --model"),
        (
            ("--goldset", "cases.jsonl"),
            "--goldset cases.jsonl is not a set that ships, which are industries",
        ),
        (("--goldset", "support.jsonl"), "touchstone review agreement FILE"),
        (("--config", "none.yaml", "--model", "x", "--base-url", "http://127.0.0.1:9/v1"), "none.yaml cannot be read"),
    ],
)
def test_what_cannot_start_is_a_line_and_exit_code_2(  # noqa: PLR0917 - a table's row
    touchstone, server, tmp_path, monkeypatch, arguments, told
):
    monkeypatch.setattr(discovery, "PLACES", (Port("vLLM", 9),))
    (tmp_path / "cases.jsonl").write_text("{}\n")
    ended = touchstone("judge", "setup", *arguments)
    assert (ended.code, ended.out) == (2, "")
    (line,) = [line for line in ended.err.splitlines() if line.startswith("touchstone: ")]
    assert told in line
    assert ended.err.splitlines()[-1] == line


def test_a_file_of_one_s_own_is_not_taken_for_the_set_that_ships(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "support").write_text('{"id": "secret", "response": "ours"}\n')
    assert [entry.file for entry in draw_cases("support", 2)] == ["support", "support"]
    assert "secret" not in [entry.case.id for entry in draw_cases("support", 130)]


@pytest.mark.parametrize(
    ("status", "told"),
    [(401, "access refused: check the key in TOUCHSTONE_LLM_API_KEY or OPENAI_API_KEY"), (404, "model's name")],
)
def test_a_refused_key_and_a_model_that_is_not_there_end_it_with_2(touchstone, server, status, told):
    server.replies = [refuses(status)]
    ended = touchstone("judge", "setup", "--model", "none")
    assert ended.code == 2
    assert told in ended.err
    assert len(server.asked) == 1


def test_a_slow_server_is_told_with_its_time_limit(touchstone, server):
    server.replies = [Reply({}, delay=1.0)]
    ended = touchstone("judge", "setup", "--judge-set", "timeout=0.2")
    assert ended.code == 2
    assert "gave no reply within 0.2 s: allow it more time with --judge-set timeout=SECONDS" in ended.err


def test_a_page_on_a_usual_port_is_passed_over(touchstone, server):
    server.models = Reply(b"<!doctype html><h1>Hello</h1>", type="text/html")
    ended = touchstone("judge", "setup", "--yes")
    assert ended.code == 2
    assert "no model server answers on this machine" in ended.err
    assert server.asked == []


@pytest.fixture
def provider(server, monkeypatch):
    """A provider whose address is the test's server, which no network is needed for; what it is sent is in `server`."""
    monkeypatch.setattr(discovery, "PLACES", ())
    monkeypatch.setenv("MISTRAL_API_KEY", "sk-very-secret")
    monkeypatch.setattr(
        discovery,
        "_offer_of",
        lambda provider, *, environment: discovery.Offer(
            provider.name, server.url, provider.model, provider.key_variable
        ),
    )
    monkeypatch.setattr(discovery.Offer, "is_near", False)
    return server


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_provider_is_asked_nothing_until_somebody_agrees(touchstone, provider, arguments):
    ended = touchstone("judge", "setup", *arguments)
    assert ended.code == 2
    assert "MISTRAL_API_KEY is set, and nobody agreed to ask there: give --yes, or --model and --base-url" in ended.err
    assert (provider.asked, provider.keys) == ([], [])


@slow
@pytest.mark.parametrize("arguments", [("--yes",), ("--model", "mistral-small-latest"), ("at a terminal",)])
def test_once_agreed_it_is_sent_its_key_and_invented_cases_alone(
    touchstone, provider, tmp_path, at_terminal, arguments
):
    (tmp_path / "touchstone.yaml").write_text("policy:\n  company: Our Company Ltd\n")
    if arguments == ("at a terminal",):
        at_terminal("1", "y")
        arguments = ()
    ended = touchstone("judge", "setup", "--cases", "2", *arguments)
    assert ended.code == 0
    assert set(provider.keys) == {"Bearer sk-very-secret"}
    assert "Our Company" not in str(provider.asked)
    assert {asked["model"] for asked in provider.asked} == {"mistral-small-latest"}
    shown = yaml.safe_load(ended.out[ended.out.index("\njudge:") :])["judge"]
    assert shown == section(provider, "mistral-small-latest") | {"key_variable": "MISTRAL_API_KEY"}
    everything = ended.out + ended.err + (tmp_path / "touchstone.yaml").read_text()
    assert "secret" not in everything


@slow
def test_a_model_without_a_name_is_asked_for(touchstone, provider, monkeypatch, at_terminal):
    monkeypatch.delenv("MISTRAL_API_KEY")
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-x")
    at_terminal("1", "some/model", "n")
    ended = touchstone("judge", "setup", "--cases", "2")
    assert ended.code == 0
    assert "the model's name at OpenRouter:" in ended.err
    assert {asked["model"] for asked in provider.asked} == {"some/model"}


def test_half_of_the_cases_pass_and_they_are_spread_over_categories():
    drawn = draw_cases("support", 10)
    assert drawn == draw_cases("support", 10)
    rubric = Settings().rubric
    outcomes = Counter(case_outcome(entry.case, rubric=rubric) for entry in drawn)
    assert outcomes == {"PASS": 5, "FAIL": 5}
    assert len({entry.case.category for entry in drawn}) >= 5
    assert len({entry.case.id for entry in drawn}) == 10
    assert [entry.line for entry in drawn] == sorted(entry.line for entry in drawn)


@pytest.mark.parametrize(("n", "counts"), [(1, (0, 1)), (3, (1, 2)), (120, (65, 55)), (130, (75, 55)), (999, (75, 55))])
def test_what_one_side_lacks_the_other_makes_up_for(n, counts):
    rubric = Settings().rubric
    outcomes = Counter(case_outcome(entry.case, rubric=rubric) for entry in draw_cases("support", n))
    assert (outcomes["PASS"], outcomes["FAIL"]) == counts


@pytest.fixture
def configured(server, tmp_path):
    (tmp_path / "touchstone.yaml").write_text(
        f"judge:\n  kind: llm\n  model: small\n  base_url: {server.url}\n  cascade: true\n"
        "  prices: {input: 10, output: 20, currency: EUR}\n"
    )
    return server


@slow
def test_check_repeats_it_with_the_judge_of_the_file(touchstone, configured):
    for at in (1, 2):
        ended = touchstone("judge", "check", "--cases", "2")
        assert ended.code == 0
        assert len(configured.asked) == 3 * at
    assert "same outcome  1 of 2" in ended.out
    assert "cost          0.1400 EUR for a hundred replies" in ended.out
    assert "sending 3 requests to 127.0.0.1" in ended.err
    assert "\njudge:" not in ended.out


@slow
def test_check_of_records_asks_nobody(touchstone, configured):
    touchstone("judge", "check", "--cases", "2", "--record", "calls")
    configured.asked.clear()
    ended = touchstone("judge", "check", "--cases", "2", "--replay", "calls", "--json")
    assert ended.code == 0
    found = json.loads(ended.out)
    assert (found["forms"], found["seconds_a_reply"]) == ({}, None)
    assert found["tokens_a_reply"] == {"input": 100, "output": 20}
    assert found["cost_of_a_hundred"] == pytest.approx(0.14)
    assert configured.asked == []
    assert "sending" not in ended.err


@slow
def test_check_asks_every_model_of_a_panel(touchstone, configured):
    panel = ("--judge", "panel", "--judge-set", "panel=offline,small,large")
    ended = touchstone("judge", "check", "--cases", "2", *panel)
    assert ended.code == 0
    assert "sending 6 requests to 127.0.0.1" in ended.err
    assert Counter(asked["model"] for asked in configured.asked) == {"small": 3, "large": 3}
    assert "  answers       large: kept to a JSON schema by the server" in ended.out
    assert "tokens        200 in and 40 out a reply" in ended.out


@slow
def test_check_counts_the_requests_of_every_vote_and_criterion(touchstone, configured):
    ended = touchstone("judge", "check", "--cases", "2", "--votes", "2", "--judge-set", "scope=criterion")
    assert ended.code == 0
    assert "sending 21 requests" in ended.err
    assert len(configured.asked) == 21


@slow
def test_check_tells_a_case_that_failed_with_3(touchstone, configured):
    configured.replies = [lambda asked: enforces(asked) if is_form(asked) else says("no")]
    ended = touchstone("judge", "check", "--cases", "2", "--json")
    assert ended.code == 3
    assert json.loads(ended.out)["failed"] == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "the offline judge asks no model: name one with --model, or run touchstone judge setup"),
        (("--model", "x", "--base-url", "http://127.0.0.1:9/v1"), "could not be reached"),
        (("--model", "x", "--panel", "offline,x"), "put the model into --panel"),
        (("--model", "x", "--base-url", "http://127.0.0.1:9/v1", "--goldset", "mine"), "is not a set that ships"),
    ],
)
def test_check_that_cannot_start_is_a_line_and_exit_code_2(touchstone, server, arguments, told):
    ended = touchstone("judge", "check", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err.splitlines()[-1]


def test_a_set_with_a_name_that_ships_alone_is_taken():
    with pytest.raises(ConfigError, match="for cases of yours use touchstone review agreement FILE"):
        draw_cases("./support", 2)
