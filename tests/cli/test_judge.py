"""`--judge`: a model, its votes, a panel or a cascade grades; whatever goes wrong is said, kept and can be resumed."""

import json

import pytest
from tests.clients.llm.faulty import Reply, faulty_server, grades, refuses, says

from touchstone.clients.http import Backoff

CASES = [
    {
        "id": f"c{at}",
        "input": f"I was charged twice for order {at}. Can I have the second payment back?",
        "context": ["Duplicate charges are refunded within 5 working days after a billing case is opened."],
        "response": f"I'm sorry about that. I opened a billing case for order {at}; the refund takes 5 working days.",
    }
    for at in range(4)
]


@pytest.fixture
def server(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TOUCHSTONE_LLM_API_KEY", "TOUCHSTONE_LLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("TOUCHSTONE_LLM_MODEL", raising=False)
    with faulty_server() as running:
        yield running


@pytest.fixture
def score(server, touchstone, tmp_path):
    """Scores the cases with the model and gives (how it ended, results)."""
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))

    def score(*arguments, judge=("--judge", "llm", "--model", "small"), one_at_a_time=True):
        alone = ("--judge-set", "concurrency=1") if one_at_a_time else ()
        ended = touchstone("score", "cases.jsonl", *judge, "--base-url", server.url, *alone, *arguments)
        return ended, [json.loads(line) for line in ended.out.splitlines()]

    return score


def criteria(result):
    return {name: row["grade"] for name, row in result["rubric"]["criteria"].items()}


def errors(results):
    return [[failure["error"] for failure in result["failures"]] for result in results]


def test_a_model_grades_every_case(score, server):
    ended, results = score()
    assert ended.code == 0
    assert len(server.asked) == 4
    for result in results:
        assert result["rubric"]["judge"] == "llm:small"
        assert criteria(result) == {"accuracy": 3, "completeness": 3, "tone": 3, "actionability": 3, "safety": 4}
        assert result["metrics"]["relevance"]["score"] is not None
    assert "4 cases, 4 calls, 480 tokens" in ended.err


def test_what_was_asked_is_kept_and_a_replay_gives_the_same_bytes_without_a_server(score, server, touchstone):
    first, _ = score("--record", "calls")
    server.replies = [refuses(500)]
    again, _ = score("--record", "calls")
    replayed = touchstone("score", "cases.jsonl", "--model", "small", "--replay", "calls")
    assert first.out == again.out == replayed.out
    assert len(server.asked) == 4
    assert "4 answered from records" in replayed.err


def test_no_cache_asks_again(score, server):
    score("--record", "calls")
    score("--record", "calls", "--no-cache")
    assert len(server.asked) == 8


def test_answers_come_in_the_order_of_the_cases_however_long_they_take(score, server):
    server.replies = [
        lambda asked: Reply(says(grades()).body, delay=0.3 if "order 0" in str(asked) else 0.0),
    ]
    _, results = score(one_at_a_time=False)
    assert [result["id"] for result in results] == ["c0", "c1", "c2", "c3"]
    assert 1 < server.most_at_once <= 4


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (says("This reply is fine, I would give it a 4."), "NotJson"),
        (says('{"criteria": {"accuracy": {"reason": "so', ended="length"), "Truncated"),
        (says(None, refusal="I cannot do that"), "Refused"),
        (says(grades(accuracy=7)), "BadGrade"),
        (says(""), "EmptyAnswer"),
        (refuses(400, "context window exceeded", code="context_length_exceeded"), "ContextTooLong"),
        (refuses(400), "BadRequest"),
    ],
)
def test_a_bad_answer_to_one_case_is_marked_there_and_the_rest_goes_on(score, server, reply, error):
    server.replies = [says(grades()), reply, says(grades())]
    ended, results = score()
    assert ended.code == 3
    assert errors(results) == [[], [error], [], []]
    assert results[1]["decision"] != "send"
    assert results[1]["rubric"]["total"] is None
    assert results[1]["rubric"]["criteria"]["accuracy"]["grade"] is None
    assert results[1]["metrics"]["hallucination"]["score"] is not None
    assert results[1]["line"] == 2
    assert "cases.jsonl:2: " in ended.err


def test_a_model_that_abstains_is_no_failure_and_no_pass(score, server):
    server.replies = [says(grades(accuracy=None))]
    ended, results = score()
    assert ended.code == 0
    assert all(result["rubric"]["outcome"] is None and result["decision"] == "review" for result in results)


def test_a_budget_reached_in_mid_run_marks_the_rest_and_a_second_run_goes_on(score, server):
    server.replies = [says(grades(), usage=(1500, 300))]
    ended, results = score("--budget", "tokens=6500", "--record", "calls")
    assert ended.code == 3
    marks = errors(results)
    asked = len(server.asked)
    assert marks[0] == []
    assert marks[-1] == ["BudgetReached"]
    assert "raise judge.budget" in ended.err
    ended, results = score("--record", "calls")
    assert ended.code == 0
    assert errors(results) == [[]] * 4
    assert len(server.asked) == 4 > asked


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--judge", "llm"), "no model is named: give --model NAME"),
        (("--judge", "llm", "--model", "x", "--base-url", "https://llm.example/v1"), "no key for llm.example"),
        (("--judge", "llm", "--model", "x", "--base-url", "http://127.0.0.1:9/v1"), "could not be reached"),
        (("--judge", "llm", "--model", "x", "--base-url", "nowhere"), "not an http or https address"),
        (("--model", "x", "--replay", "none"), "is not a directory"),
        (("--judge", "lmm"), "--judge: 'kind' is 'lmm', allowed is offline, llm or panel"),
        (("--model", "x", "--votes", "0"), "--votes: 'votes' is 0"),
        (("--model", "x", "--judge-set", "vote=3"), "--judge-set: unknown key 'vote'; nearest is 'votes'"),
        (("--model", "x", "--budget", "money=1"), "a budget in money needs prices"),
        (("--judge", "panel"), "a panel needs two judges or more"),
        (("--model", "x", "--judge-set", "prompt=none.yaml"), "prompt none.yaml cannot be read"),
        (("--model", "x", "--replay", ".", "--no-cache"), "choose one"),
    ],
)
def test_what_cannot_start_is_said_with_exit_code_2(server, touchstone, tmp_path, arguments, told):
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASES[0]) + "\n")
    ended = touchstone("score", "cases.jsonl", *arguments)
    assert ended.code == 2
    assert told in ended.err
    assert ended.out == ""


@pytest.mark.parametrize("status", [401, 404])
def test_a_refused_key_or_a_wrong_path_ends_the_command_with_2(score, server, status):
    server.replies = [refuses(status)]
    ended, _ = score()
    assert ended.code == 2
    assert ended.out == ""


def test_votes_are_taken_at_a_temperature_and_their_flips_are_told(score, server):
    server.replies = [says(grades(grade)) for grade in (4, 4, 0)] * 4
    ended, results = score("--votes", "3")
    assert ended.code == 0
    assert {asked["temperature"] for asked in server.asked} == {0.7}
    assert sorted({asked["seed"] for asked in server.asked}) == [7, 8, 9]
    row = results[0]["rubric"]["criteria"]["tone"]
    assert row["grade"] == 4
    assert "3 votes of llm:small: 4 4 0 (apart by 4, flip rate 33%)" in row["reason"]
    assert "votes: the outcome flips in 33.3% of them; 4 of 4 cases flip" in ended.err
    assert [result["rubric"]["flip_rate"] for result in results] == [0.3333] * 4


def test_the_report_shows_how_often_a_reply_s_votes_flip(score, server, touchstone, tmp_path):
    server.replies = [says(grades(grade)) for grade in (0, 0, 4)] * 2
    ended = touchstone(
        "eval", "cases.jsonl", "--model", "small", "--base-url", server.url, "--judge-set", "concurrency=1",
        "--votes", "3",
    )  # fmt: skip
    assert ended.code == 0
    (report,) = (tmp_path / "touchstone-runs").glob("*/report.html")
    assert "whose outcome changes in 33% of its votes" in report.read_text(encoding="utf-8")


def test_a_panel_takes_the_middle_and_tells_who_said_what(score, server):
    server.replies = [says(grades(1))]
    _, results = score(judge=("--judge", "panel", "--judge-set", "panel=offline,small,large"))
    assert {asked["model"] for asked in server.asked} == {"small", "large"}
    rubric = results[0]["rubric"]
    assert rubric["judge"] == "panel(offline, llm:small, llm:large)"
    assert "llm:small 1, llm:large 1" in rubric["criteria"]["accuracy"]["reason"]
    assert rubric["criteria"]["accuracy"]["grade"] == 1


def test_a_panel_goes_on_without_a_model_that_failed_and_marks_the_case(score, server):
    server.replies = [says("no JSON")]
    ended, results = score(judge=("--judge", "panel", "--judge-set", "panel=offline,small"))
    assert ended.code == 3
    assert results[0]["rubric"]["judge"] == "offline"
    assert results[0]["rubric"]["total"] is not None
    assert errors(results) == [["NotJson"]] * 4


def test_a_cascade_asks_only_where_the_offline_judge_would_have_it_reviewed(score, server, tmp_path):
    rows = [{**CASES[0], "id": "sure", "response": ""}, {**CASES[1], "id": "unsure", "response": "It depends."}]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ended, results = score("--cascade", "--judge-set", "prices.input=1", "--judge-set", "prices.output=2")
    assert ended.code == 0
    assert [result["rubric"]["judge"] == "offline" for result in results] == [True, False]
    assert len(server.asked) == 1
    assert "cascade: the offline judge was sure of" in ended.err
    assert "which saved about" in ended.err


def test_the_judge_can_be_set_in_the_file(server, touchstone, tmp_path):
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASES[0]) + "\n")
    (tmp_path / "touchstone.yaml").write_text(
        f"judge:\n  kind: llm\n  model: small\n  base_url: {server.url}\n  scope: criterion\n  max_tokens: 400\n"
    )
    server.replies = [lambda asked: says(grades())]
    ended = touchstone("score", "cases.jsonl")
    assert ended.code == 0
    assert len(server.asked) == 5
    assert {asked["max_tokens"] for asked in server.asked} == {400}
    offline = touchstone("score", "cases.jsonl", "--judge", "offline")
    assert json.loads(offline.out)["rubric"]["judge"] == "offline"


def test_an_evaluation_with_a_model_is_kept_under_its_name_and_goes_on_after_the_budget(server, touchstone, tmp_path):
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    server.replies = [says(grades(), usage=(1500, 300))]
    common = (
        "eval",
        "gold.jsonl",
        "--model",
        "small",
        "--base-url",
        server.url,
        "--judge-set",
        "concurrency=1",
        "--json",
    )
    ended = touchstone(*common, "--budget", "tokens=6500")
    assert ended.code == 3
    assert "the same command resumes from there" in ended.err
    asked = len(server.asked)
    assert 0 < asked < 4
    ended = touchstone(*common)
    assert ended.code == 0, ended.err
    assert f"resumed after {asked} replies" in ended.err
    assert len(server.asked) == 4
    shown = json.loads(ended.out)
    assert "llm:small #" in json.dumps(shown)


def test_no_message_holds_the_key_or_a_customer_s_words(score, server, monkeypatch):
    monkeypatch.setenv("TOUCHSTONE_LLM_API_KEY", "sk-very-secret")
    server.replies = [refuses(400, CASES[0]["response"]), says(CASES[1]["response"])]
    ended, _ = score()
    assert "Bearer sk-very-secret" in server.keys
    assert "secret" not in ended.err + ended.out
    assert "billing case" not in ended.err


def test_a_dry_run_says_what_asking_would_take_and_asks_nothing(score, server, touchstone):
    prices = ("--judge-set", "prices.input=1", "--judge-set", "prices.output=2", "--judge-set", "max_tokens=1000")
    asking = ("score", "cases.jsonl", "--model", "small", "--base-url", server.url)
    ended = touchstone(*asking, "--dry-run", *prices, "--votes", "2")
    assert ended.code == 0
    assert server.asked == []
    assert "4 cases; nothing was asked" in ended.out
    assert "llm:small: 8 calls; about" in ended.out
    assert "at most 8,000" in ended.out
    assert "USD, at most" in ended.out
    (model,) = json.loads(touchstone(*asking, "--dry-run", *prices, "--json").out)["models"]
    assert model["calls"] == 4
    assert model["money"] == pytest.approx((model["input"] + 2 * model["output"]) / 1e6)
    score("--judge-set", "max_tokens=1000")
    again = touchstone(*asking, "--dry-run", "--judge-set", "max_tokens=1000")
    assert "llm:small: 0 calls, 4 more are answered from records" in again.out
    assert "for the cost, give prices" in again.out


def test_what_can_be_made_good_later_is_said_with_where_answers_are_kept(score, server):
    server.replies = [says(grades()), refuses(429, headers={"Retry-After": "3600"})]
    ended, results = score("--record", "calls")
    assert ended.code == 3
    assert errors(results)[1:] == [["RateLimited"]] * 3
    assert "3 cases lack a model's grades; what was answered is kept in calls" in ended.err
    server.replies = [says(grades())]
    ended, results = score("--record", "calls")
    assert (ended.code, errors(results)) == (0, [[]] * 4)
    assert "3 calls" in ended.err


@pytest.mark.parametrize(
    ("reply", "error", "remedy"),
    [
        (Reply({}, delay=2.5), "Timeout", "--judge-set timeout=SECONDS"),
        (refuses(500), "ServerError", "answered with status 500"),
        (refuses(429), "RateLimited", "--judge-set concurrency=1"),
        (says("{", ended="length"), "Truncated", "--judge-set max_tokens=N"),
    ],
)
def test_remedies_name_what_to_type(score, server, monkeypatch, reply, error, remedy):  # noqa: PLR0917 - a table's row
    from touchstone.clients.llm import server as client

    monkeypatch.setattr(client, "Backoff", lambda **given: Backoff(retries=1, first=0.001))
    server.replies = [reply]
    ended, (result,) = score("--id", "c0", "--judge-set", "timeout=2")
    assert ended.code == 3
    assert errors([result]) == [[error]]
    assert remedy in ended.err
    assert result["decision"] != "send"
    assert result["metrics"]["relevance"]["score"] is not None
