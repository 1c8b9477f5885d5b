"""A panel whose models are on servers of their own: each with its key and prices, one budget, records that replay."""

import json
from contextlib import ExitStack

import pytest
from tests.cli.test_judge import CASES, criteria, errors
from tests.clients.llm.faulty import faulty_server, grades, refuses, says


@pytest.fixture
def servers(monkeypatch):
    """Two servers: the near one gives 1 on everything, the far one 3."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TOUCHSTONE_LLM_API_KEY", "TOUCHSTONE_LLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with ExitStack() as stack:
        near, far = (stack.enter_context(faulty_server()) for _ in range(2))
        near.replies = [says(grades(1))]
        yield near, far


@pytest.fixture
def score(servers, touchstone, tmp_path):
    """Scores the cases under the section `judge` given, and gives (how it ended, results)."""
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))

    def score(judge, *arguments):
        alone = {"kind": "panel", "concurrency": 1, "record": "calls"}
        (tmp_path / "touchstone.yaml").write_text(json.dumps({"judge": alone | judge}))
        ended = touchstone("score", "cases.jsonl", *arguments)
        return ended, [json.loads(line) for line in ended.out.splitlines()]

    return score


def panel_of(servers, **far):
    near_url, far_url = (server.url for server in servers)
    return {"panel": [{"model": "small", "base_url": near_url}, {"model": "large", "base_url": far_url} | far]}


def test_each_model_is_asked_on_its_own_server(score, servers):
    ended, results = score(panel_of(servers))
    assert ended.code == 0, ended.err
    assert [{asked["model"] for asked in server.asked} for server in servers] == [{"small"}, {"large"}]
    assert results[0]["rubric"]["judge"] == "panel(llm:small, llm:large)"
    assert "llm:small 1, llm:large 3" in results[0]["rubric"]["criteria"]["tone"]["reason"]
    assert "4 cases, 8 calls, 960 tokens" in ended.err


def test_flags_name_a_model_with_its_server(servers, touchstone, tmp_path):
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASES[0]) + "\n")
    near, far = servers
    panel = f"offline,small@{near.url},large@{far.url}"
    ended = touchstone("score", "cases.jsonl", "--panel", panel)
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["rubric"]["judge"] == "panel(offline, llm:small, llm:large)"
    assert len(near.asked) == len(far.asked) == 1


def test_a_server_is_handed_its_own_key_and_no_other(score, servers, monkeypatch):
    monkeypatch.setenv("TOUCHSTONE_NEAR_KEY", "near-key")
    monkeypatch.setenv("TOUCHSTONE_FAR_KEY", "far-key")
    settings = panel_of(servers, key_variable="TOUCHSTONE_FAR_KEY")
    settings["panel"][0]["key_variable"] = "TOUCHSTONE_NEAR_KEY"
    ended, _ = score(settings)
    assert ended.code == 0
    assert [set(server.keys) for server in servers] == [{"Bearer near-key"}, {"Bearer far-key"}]
    assert "near-key" not in ended.err + ended.out


def test_a_refused_key_is_said_with_the_variable_it_came_from(score, servers, monkeypatch):
    monkeypatch.setenv("TOUCHSTONE_FAR_KEY", "wrong")
    servers[1].models = refuses(401)
    ended, _ = score(panel_of(servers, key_variable="TOUCHSTONE_FAR_KEY"))
    assert ended.code == 2
    assert "check the key in TOUCHSTONE_FAR_KEY" in ended.err


def test_a_replay_needs_neither_server_and_gives_the_same_bytes(score, servers):
    first, _ = score(panel_of(servers))
    for server in servers:
        server.shutdown()
        server.server_close()
    again, _ = score(panel_of(servers), "--replay", "calls")
    assert again.out == first.out
    assert "0 calls, 0 tokens, 8 answered from records" in again.err


def test_models_of_one_name_on_two_servers_are_told_apart_by_names_and_in_records(score, servers):
    settings = panel_of(servers, model="small")
    ended, _ = score(settings)
    assert ended.code == 2
    assert "two judges of the panel are called 'small'" in ended.err
    settings = panel_of(servers, model="small", name="small-q8")
    first, results = score(settings)
    assert "llm:small 1, llm:small-q8 3" in results[0]["rubric"]["criteria"]["tone"]["reason"]
    assert {asked["model"] for server in servers for asked in server.asked} == {"small"}
    again, _ = score(settings, "--replay", "calls")
    assert again.out == first.out


def test_one_budget_holds_for_all_servers_and_money_is_counted_by_each_price(score, servers):
    cheap, dear = {"input": 1, "output": 1}, {"input": 100, "output": 1000}
    settings = panel_of(servers, prices=dear)
    settings["panel"][0]["prices"] = cheap
    ended, _ = score(settings)
    # 4 calls of 100 and 20 tokens each, by each price.
    assert "960 tokens, 0.1205 USD" in ended.err
    for server in servers:
        server.asked.clear()
    ended, results = score(settings | {"budget": {"money": 1.72}, "max_tokens": 1600}, "--no-cache")
    assert ended.code == 3
    assert errors(results)[-1] == ["BudgetReached"]
    assert "llm:large: the budget is reached" in ended.err
    assert len(servers[0].asked) >= len(servers[1].asked)
    assert results[-1]["rubric"]["judge"] == "llm:small"


def test_tokens_of_all_models_count_against_one_budget(score, servers):
    for server in servers:
        server.replies = [says(grades(), usage=(1500, 300))]
    ended, results = score(panel_of(servers) | {"budget": {"tokens": 8000}})
    assert ended.code == 3
    assert sum(len(server.asked) for server in servers) < 5
    assert errors(results)[-1] == ["BudgetReached", "BudgetReached"]
    ended, results = score(panel_of(servers))
    assert ended.code == 0
    assert errors(results) == [[]] * 4
    assert sum(len(server.asked) for server in servers) == 8


def test_a_model_without_a_price_is_named(score, servers):
    settings = panel_of(servers, prices={"input": 1, "output": 1})
    ended, _ = score(settings)
    assert "no price is given for small" in ended.err
    ended, _ = score(settings | {"budget": {"money": 1}})
    assert ended.code == 2
    assert "small has none" in ended.err


def test_one_server_that_fails_leaves_the_others_their_voice_and_is_named(score, servers):
    servers[1].replies = [says(grades()), refuses(400)]
    ended, results = score(panel_of(servers))
    assert ended.code == 3
    assert results[1]["rubric"]["judge"] == "llm:small"
    assert criteria(results[1])["tone"] == 1
    assert results[1]["failures"][0]["message"].startswith("llm:large: ")
    assert results[1]["decision"] != "send"


def test_what_one_model_refuses_the_other_is_still_asked_for(score, servers):
    near, far = servers
    near.replies = [refuses(400, "unknown parameter", param="seed"), says(grades(1))]
    ended, _ = score({"panel": ["small", {"model": "large", "base_url": far.url}], "base_url": near.url})
    assert ended.code == 0
    assert "seed" not in near.asked[-1]
    assert far.asked[-1]["seed"] == 7


@pytest.mark.parametrize(
    ("panel", "told"),
    [
        (["offline", {"base_url": "http://localhost:1/v1"}], "touchstone.yaml:1: 'judge.panel[1]' has no 'model'"),
        (["offline", {"model": "x", "url": "http://localhost:1/v1"}], "unknown key 'judge.panel[1].url'; known are"),
        (["offline", {"model": "x", "key_variable": "AWS_SECRET_ACCESS_KEY"}], "starts with TOUCHSTONE_"),
        (["offline", {"model": "x", "prices": {"input": 1}}], "give both prices"),
        (["offline", 7], "allowed is a list of offline, models' names and {model, base_url"),
        (["offline", "x@http://user:pw@host/v1"], "holds a user or password"),
        (["offline", "x@https://llm.example/v1"], "name its variable as key_variable in judge.panel"),
        (
            ["offline", {"model": "x", "base_url": "https://llm.example/v1", "key_variable": "TOUCHSTONE_NONE"}],
            "no key for llm.example: set TOUCHSTONE_NONE in the environment",
        ),
        (
            ["offline", {"model": "x", "base_url": "https://llm.example/v1", "key_variable": "OPENAI_API_KEY"}],
            "OPENAI_API_KEY is not sent to llm.example",
        ),
        (
            [
                {"model": "x", "prices": {"input": 1, "output": 1}},
                {"model": "y", "prices": {"input": 1, "output": 1, "currency": "EUR"}},
            ],
            "the panel's prices are in EUR and USD",
        ),
        (["offline", "offline"], "a panel of offline judges alone"),
    ],
)
def test_a_panel_that_cannot_work_is_said_before_anything_is_asked(score, monkeypatch, panel, told):
    monkeypatch.setenv("TOUCHSTONE_LLM_API_KEY", "for-the-judge-s-own-server")
    ended, _ = score({"panel": panel})
    assert ended.code == 2
    assert told in ended.err
    assert ended.out == ""


def test_a_model_and_a_panel_cannot_both_be_named(touchstone, tmp_path):
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASES[0]) + "\n")
    ended = touchstone("score", "cases.jsonl", "--model", "x", "--panel", "offline,y")
    assert ended.code == 2
    assert "put the model into --panel" in ended.err
