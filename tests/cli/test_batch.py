"""`eval --batch`: what a model is asked goes by its server's batches, is collected, and is never submitted twice."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.test_judge import CASES
from tests.clients.llm.batch_server import answered, batch_server, refused
from tests.clients.llm.faulty import Reply, grades, refuses, says

from touchstone.app import batching
from touchstone.app.config import JudgeFlags, load_settings
from touchstone.app.judging import open_judge
from touchstone.app.scaffold import EXAMPLES
from touchstone.app.score import score_case
from touchstone.clients.http import Backoff
from touchstone.clients.llm import server as client
from touchstone.clients.llm.model import Records
from touchstone.core.codec import case_from_dict
from touchstone.core.errors import InputError

pytestmark = pytest.mark.slow
GOOD, *_ = EXAMPLES


@pytest.fixture
def server(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TOUCHSTONE_LLM_API_KEY", "TOUCHSTONE_LLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("TOUCHSTONE_LLM_MODEL", raising=False)
    monkeypatch.setattr(batching, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(batching, "LONGEST_WAIT", 0.001)
    monkeypatch.setattr(client, "Backoff", lambda **given: Backoff(retries=1, first=0.001))
    with batch_server() as running:
        yield running


@pytest.fixture
def evaluate(server, touchstone, tmp_path):
    """Evaluates the cases by batch with the model."""
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))

    def evaluate(*arguments, judge=("--model", "small"), url=None):
        common = ("eval", "gold.jsonl", *judge, "--base-url", url or server.url, "--record", "calls", "--batch")
        return touchstone(*common, *arguments)

    return evaluate


def results():
    (run,) = Path("touchstone-runs").iterdir()
    return [json.loads(line) for line in (run / "results.jsonl").read_text(encoding="utf-8").splitlines()]


def judges():
    return [result["rubric"]["judge"] for result in results()]


def kept():
    return [json.loads(path.read_text()) for path in sorted(Path("calls/batches").glob("*.json"))]


def records():
    return [path for path in Path("calls").glob("*/*.json") if path.parent.name != "batches"]


def grouped(server):
    """How many requests each batch held."""
    return [len(batch) for batch in server.submitted]


def test_a_batch_answers_what_the_judge_asks(evaluate, server):
    ended = evaluate()
    assert ended.code == 0
    assert judges() == ["llm:small"] * 4
    # One call goes ahead, the others go by batch.
    assert (len(server.asked), grouped(server)) == (1, [3])
    assert "batch batch_1 is submitted to 127.0.0.1" in ended.err
    lines = [line for line in ended.err.splitlines() if line.startswith("batch 1 of 1")]
    assert lines == ["batch 1 of 1: 1 of 3 answered", "batch 1 of 1: 3 of 3 answered"]
    assert "batch batch_1 has ended as completed: 3 of 3 calls are answered\n" in ended.err
    assert "4 cases, 4 calls, 480 tokens\n" in ended.err
    (state,) = kept()
    assert (state["id"], state["status"], state["left"]) == ("batch_1", "completed", [])
    assert state["keys"] == server.custom_ids
    assert len(records()) == 4


def test_a_batch_asks_what_a_call_would_ask(evaluate, server):
    evaluate()
    (asked,) = server.asked
    for line in server.submitted[0]:
        assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
        assert line["body"].keys() == asked.keys()
        assert line["body"]["response_format"] == asked["response_format"]
        assert line["body"]["messages"][0] == asked["messages"][0]
        assert (line["body"]["temperature"], line["body"]["seed"]) == (0.0, 7)


def test_options_that_the_model_does_not_take_are_left_out_of_the_batch_too(evaluate, server):
    server.replies = [
        refuses(400, "Unsupported parameter: 'max_tokens'", param="max_tokens"),
        refuses(400, "temperature is not supported", param="temperature"),
        says(grades()),
    ]
    assert evaluate().code == 0
    for line in server.submitted[0]:
        assert "temperature" not in line["body"]
        assert line["body"]["max_completion_tokens"] == 1600
        assert "max_tokens" not in line["body"]


def test_the_results_are_those_of_calls(evaluate, server, touchstone):
    evaluate()
    by_batch = results()
    again = touchstone("score", "gold.jsonl", "--model", "small", "--replay", "calls")
    assert [json.loads(line) for line in again.out.splitlines()] == by_batch


def test_what_is_recorded_is_not_submitted(evaluate, server):
    evaluate()
    ended = evaluate("--new")
    assert ended.code == 0
    assert (len(server.asked), grouped(server)) == (1, [3])
    assert "4 cases, 0 calls, 0 tokens, 4 answered from records" in ended.err


def started(server, *arguments):
    """The command in a process of its own."""
    command = [sys.executable, "-m", "touchstone", "eval", "gold.jsonl", "--model", "small", "--base-url", server.url]
    environment = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    return subprocess.Popen(
        [*command, "--record", "calls", "--batch", *arguments], env=environment, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_command_that_ends_before_collecting_is_gone_on_with_without_a_second_submission(evaluate, server, how):
    server.script = ("validating", "in_progress")
    process = started(server)
    while process.poll() is None and not any("/v1/batches/batch_1" in path for path in server.seen):
        time.sleep(0.01)
    process.send_signal(how)
    _, told = process.communicate()
    assert ("interrupted: the batch continues there, and the same command collects its answers" in told) == (
        how == signal.SIGINT
    )
    assert ("interrupted: 0 replies are scored and kept" in told) == (how == signal.SIGINT)
    assert [state["status"] for state in kept()] == ["validating"]
    server.script = ("validating", "in_progress", "in_progress", "completed")
    ended = evaluate()
    assert ended.code == 0
    assert (len(server.asked), grouped(server)) == (1, [3])
    assert "continues: 3 calls" in ended.err
    assert judges() == ["llm:small"] * 4
    assert "4 cases, 3 calls, 360 tokens, 1 answered from records" in ended.err


def test_a_batch_that_ended_in_the_meantime_is_collected_at_once(evaluate, server):
    server.instead["GET /v1/batches/batch_1"] = [refuses(401)]
    ended = evaluate()
    assert ended.code == 3
    assert "access refused" in ended.err
    assert "the batch continues there, and the same command collects its answers" in ended.err
    assert "submitted anew" not in ended.err
    assert evaluate().code == 3
    assert (len(server.asked), grouped(server)) == (1, [3])
    del server.instead["GET /v1/batches/batch_1"]
    server.script = ("validating", "completed")
    ended = evaluate()
    assert ended.code == 0
    assert grouped(server) == [3]
    assert judges() == ["llm:small"] * 4


def test_a_batch_that_expires_half_way_is_completed_by_the_same_command(evaluate, server):
    server.script, server.most = ("validating", "expired"), 1
    ended = evaluate()
    assert ended.code == 3
    assert "batch batch_1 has ended as expired: 1 of 3 calls are answered\n" in ended.err
    remedy = "run it again: what was answered is kept, the rest is submitted anew"
    assert f"2 calls lack an answer; {remedy}" in ended.err
    assert "2 replies are graded and kept: the same command resumes from there" in ended.err
    assert len(records()) == 2
    server.script, server.most = ("validating", "completed"), None
    ended = evaluate()
    assert ended.code == 0
    # The first of the rest goes ahead again.
    assert (len(server.asked), grouped(server)) == (2, [3, 1])
    assert len(set(server.custom_ids)) == 3
    assert judges() == ["llm:small"] * 4


@pytest.mark.parametrize(
    ("status", "problem", "told"),
    [
        ("cancelled", "", "batch batch_1 has ended as cancelled: 0 of 3 calls are answered\n"),
        ("failed", "bad", "batch_1 has ended as failed: 0 of 3 calls are answered; its page at the provider says why"),
        ("failed", "token_limit_exceeded", "submit less at once with --budget tokens=N"),
    ],
)
def test_a_batch_that_ends_without_answers_is_told_and_submitted_anew(evaluate, server, status, problem, told):
    server.script, server.most, server.problem = ("validating", status), 0, problem
    ended = evaluate()
    assert ended.code == 3
    assert told in ended.err
    assert "private" not in ended.err
    server.script, server.most = ("validating", "completed"), None
    assert evaluate().code == 0
    assert grouped(server) == [3, 2]


def test_a_line_that_will_be_refused_again_marks_its_case_and_the_run_is_finished(evaluate, server):
    def line(asked):
        long = "order 2" in str(asked)
        return refused(asked, 400, "too long", code="context_length_exceeded") if long else answered(asked)

    server.line = line
    ended = evaluate()
    assert ended.code == 3
    assert "2 of 3 calls are answered, 1 refused" in ended.err
    assert "submitted anew" not in ended.err
    assert [[failure["error"] for failure in result["failures"]] for result in results()] == [
        [],
        [],
        ["ContextTooLong"],
        [],
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (lambda asked: None, "0 of 3 calls are answered\n"),
        (lambda asked: refused(asked, 500), "0 of 3 calls are answered\n"),
        (lambda asked: refused(asked, 429), "0 of 3 calls are answered\n"),
        (lambda asked: answered(asked, body={"hello": "world"}), "0 of 3 calls are answered\n"),
        (lambda asked: answered(asked) | {"custom_id": "foreign"}, "; 3 lines with an unknown custom_id left out"),
        (lambda asked: b'{"custom_id": "a', "; 1 line could not be read"),
    ],
)
def test_lines_without_an_answer_leave_their_cases_for_the_same_command(evaluate, server, line, told):
    server.line = line
    ended = evaluate()
    assert ended.code == 3
    assert told in ended.err
    assert "3 calls lack an answer; run it again" in ended.err
    assert len(records()) == 1
    server.line = answered
    assert evaluate().code == 0
    assert judges() == ["llm:small"] * 4


def test_a_truncated_last_line_and_a_second_answer_cost_nothing_else(evaluate, server):
    def line(asked):
        return answered(asked) if "order 3" not in str(asked) else b""

    server.line, server.extra = line, b'{"custom_id": "ab'
    ended = evaluate()
    assert ended.code == 3
    assert "2 of 3 calls are answered; 1 line could not be read\n" in ended.err
    assert "1 call lacks an answer" in ended.err
    assert "3 replies are graded and kept" in ended.err


@pytest.mark.parametrize("status", [404, 405, 501])
@pytest.mark.parametrize("path", ["POST /v1/files", "POST /v1/batches"])
def test_a_server_without_batches_is_told_with_the_remedy(evaluate, server, status, path):
    server.instead[path] = [refuses(status)]
    ended = evaluate()
    assert ended.code == 2
    assert "has no batches: leave out --batch, and the model is asked one call after another" in ended.err


@pytest.mark.parametrize("status", [400, 401])
def test_a_batch_that_is_refused_ends_the_command_with_2(evaluate, server, status):
    server.instead["POST /v1/files"] = [refuses(status)]
    ended = evaluate()
    assert ended.code == 2
    assert f"answered with status {status}" in ended.err


@pytest.mark.parametrize("path", ["POST /v1/files", "POST /v1/batches"])
def test_a_server_that_is_busy_when_it_is_submitted_to_leaves_all_for_later(evaluate, server, path):
    server.instead[path] = [refuses(503)]
    ended = evaluate()
    assert ended.code == 3
    assert "answered with status 503" in ended.err
    assert "3 calls lack an answer" in ended.err
    server.instead.clear()
    assert evaluate().code == 0
    assert judges() == ["llm:small"] * 4


def test_a_batch_whose_making_was_not_heard_of_is_found_and_not_made_again(evaluate, server):
    server.instead["POST /v1/batches"] = [lambda made: refuses(502)]
    server.instead["GET /v1/batches"] = [refuses(502)]
    ended = evaluate()
    assert ended.code == 3
    assert (grouped(server), [state["id"] for state in kept()]) == ([3], [None])
    server.instead.clear()
    ended = evaluate()
    assert ended.code == 0
    assert grouped(server) == [3]
    assert [(state["id"], state["left"]) for state in kept()] == [("batch_1", [])]


def test_a_file_of_which_no_batch_can_be_made_is_uploaded_anew(evaluate, server):
    server.instead["POST /v1/batches"] = [refuses(400)]
    assert evaluate().code == 2
    server.instead["POST /v1/batches"] = [refuses(400), None]
    ended = evaluate()
    assert ended.code == 0
    assert "batch file-1 is no longer at 127.0.0.1" in ended.err
    assert grouped(server) == [2]


def test_what_waits_in_an_open_batch_takes_its_room_in_the_budget(evaluate, server, tmp_path):
    server.instead["GET /v1/batches/batch_1"] = [refuses(401)]
    ended = evaluate("--budget", "tokens=1")
    longest = int(re.search(r"a call may take ([\d,]+)", ended.err)[1].replace(",", ""))
    evaluate()
    server.instead.clear()
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(case) + "\n" for case in [*CASES, {**GOOD, "id": "new"}]))
    ended = evaluate("--budget", f"tokens={round(longest * 3.5)}")
    assert ended.code == 3
    assert "the budget is reached" in ended.err
    assert (len(server.asked), grouped(server)) == (1, [3])
    assert "4 replies are graded and kept" in ended.err


def test_a_batch_that_is_gone_is_told_and_its_calls_are_submitted_anew(evaluate, server):
    server.script, server.most = ("validating", "in_progress"), None
    server.instead["GET /v1/batches/batch_1"] = [refuses(400)]
    evaluate()
    server.instead["GET /v1/batches/batch_1"] = [refuses(404)]
    server.script = ("validating", "completed")
    ended = evaluate()
    assert ended.code == 0
    assert "batch batch_1 is no longer at 127.0.0.1" in ended.err
    assert grouped(server) == [3, 2]


def test_looks_that_fail_for_a_while_are_borne(evaluate, server):
    # Each look is tried twice, and five that fail in a row are too many.
    server.instead["GET /v1/batches/batch_1"] = [*[*[Reply({}, status=503)] * 8, None] * 2, None]
    server.script = ("validating", "in_progress", "completed")
    assert evaluate().code == 0
    server.instead["GET /v1/batches/batch_2"] = [Reply({}, status=503)]
    ended = evaluate("--votes", "2", "--new")
    assert ended.code == 3
    assert server.seen.count("GET /v1/batches/batch_2") == 10


def test_a_batch_is_looked_at_after_growing_waits_of_at_most_a_minute(server, monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    server.script = ("validating", *["in_progress"] * 9, "completed")
    settings = load_settings(judge=JudgeFlags({"kind": "llm", "model": "small", "base_url": server.url}))
    waits, told = [], []
    with open_judge(settings) as judge:
        cases = [case_from_dict(row) for row in CASES[:2]]
        scored = [score_case(case, line=1, settings=settings) for case in cases]
        requests = [each for case, result in zip(cases, scored, strict=True) for each in judge.requests(case, result)]
        filled = batching.fill_records(requests, judge=judge, tell=told.append, sleep=waits.append)
        assert [model.ask(request).text for model in filled.models for request in requests] == [
            json.dumps(grades())
        ] * 2
        assert (judge.meter.calls, judge.meter.recorded) == (2, 0)
    assert waits == [5.0, 7.5, 11.25, 16.875, 25.3125, 37.96875, 56.953125, 60.0, 60.0]
    assert [line for line in told if "of 1 answered" in line] == [
        "batch 1 of 1: 0 of 1 answered",
        "batch 1 of 1: 1 of 1 answered",
    ]


def test_what_was_not_kept_when_a_disk_was_full_is_collected_by_the_same_command(evaluate, server, monkeypatch):
    keep, full = Records.keep, iter([False, False, True])

    def keep_until_full(records, call, found):
        if next(full, True):
            raise InputError("calls cannot be written (No space left on device)")
        keep(records, call, found)

    monkeypatch.setattr(Records, "keep", keep_until_full)
    assert evaluate().code == 2
    monkeypatch.setattr(Records, "keep", keep)
    ended = evaluate()
    assert ended.code == 0
    assert "batch batch_1 has ended as completed: 2 of 2 calls are answered" in ended.err
    assert (len(server.asked), grouped(server)) == (1, [3])
    assert [state["left"] for state in kept()] == [[]]


def test_files_that_cannot_be_read_yet_are_read_by_the_same_command(evaluate, server):
    server.instead["GET /v1/files/file-2/content"] = [refuses(503)]
    ended = evaluate()
    assert ended.code == 3
    assert "the batch continues there, and the same command collects its answers" in ended.err
    server.instead.clear()
    assert evaluate().code == 0
    assert grouped(server) == [3]


def test_a_budget_submits_what_fits(evaluate, server):
    ended = evaluate("--budget", "tokens=1")
    assert (ended.code, server.asked, grouped(server)) == (3, [], [])
    longest = int(re.search(r"a call may take ([\d,]+)", ended.err)[1].replace(",", ""))
    # What went ahead used 120 tokens; then one may wait, and not two.
    ended = evaluate("--budget", f"tokens={120 + longest + longest // 2}")
    assert ended.code == 3
    assert (len(server.asked), grouped(server)) == (1, [1])
    assert "the budget has room for 1 of 3 calls: raise judge.budget, or give a larger --budget" in ended.err
    assert "2 replies are graded and kept" in ended.err
    ended = evaluate()
    assert ended.code == 0
    assert (len(server.asked), grouped(server)) == (2, [1, 1])


def test_what_a_batch_costs_is_told_with_its_price(evaluate, server):
    prices = ("--judge-set", "prices.input=1", "--judge-set", "prices.output=2")
    ended = evaluate(*prices)
    assert "4 calls, 480 tokens, 0.0006 USD" in ended.err
    assert "3 calls by batch, counted at the prices given: many providers charge half of them" in ended.err
    assert "charge half" not in evaluate(*prices, "--new").err


def test_votes_and_the_models_of_a_panel_have_batches_of_their_own(evaluate, server):
    ended = evaluate("--votes", "2", judge=("--panel", "offline,small,large"))
    assert ended.code == 0
    assert grouped(server) == [7, 7]
    assert [{line["body"]["model"] for line in batch} for batch in server.submitted] == [{"small"}, {"large"}]
    assert "batch 2 of 2: 7 of 7 answered" in ended.err
    assert judges() == ["panel(offline, llm:small, llm:large)"] * 4
    assert "16 calls" in ended.err


def test_a_cascade_submits_only_what_the_offline_judge_is_unsure_of(evaluate, server, tmp_path):
    sure, *unsure = [{**case, "response": "" if at == 0 else "It depends."} for at, case in enumerate(CASES)]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in (sure, *unsure)))
    assert evaluate("--cascade").code == 0
    assert (len(server.asked), grouped(server)) == (1, [2])
    assert judges() == ["offline", *["llm:small"] * 3]


def test_cases_that_ask_the_same_are_submitted_once(evaluate, server, tmp_path):
    rows = [{**CASES[at // 2], "id": f"c{at}"} for at in range(4)]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert evaluate().code == 0
    assert (len(server.asked), grouped(server)) == (1, [1])


def test_two_commands_with_the_same_records_do_not_wait_for_the_same_batches(evaluate, server):
    server.script = ("validating", "in_progress")
    process = started(server)
    while process.poll() is None and not any("/v1/batches/batch_1" in path for path in server.seen):
        time.sleep(0.01)
    ended = evaluate()
    process.kill()
    process.communicate()
    assert ended.code == 2
    assert "another command is waiting for batches in calls" in ended.err
    assert grouped(server) == [3]


def test_a_wrong_model_shows_before_anything_is_submitted(evaluate, server):
    server.replies = [refuses(404, "model small does not exist")]
    assert evaluate().code == 2
    assert server.submitted == []


def test_a_call_that_cannot_be_asked_now_does_not_keep_the_batch_back(evaluate, server):
    server.replies = [refuses(429)]
    assert evaluate().code == 0
    assert grouped(server) == [4]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--judge", "offline"), "--batch asks a model, and the offline judge is none"),
        ((), "--batch asks a model, and the offline judge is none"),
        (("--model", "small", "--replay", "."), "--batch asks a server and --replay asks none: choose one"),
        (("--model", "small", "--no-cache"), "--no-cache passes over them: choose one"),
        (("--model", "small", "--bot", "cat"), "give it with --responses FILE"),
    ],
)
def test_what_no_batch_can_do_is_said_with_exit_code_2(touchstone, tmp_path, arguments, told):
    (tmp_path / "gold.jsonl").write_text(json.dumps(CASES[0]) + "\n")
    ended = touchstone("eval", "gold.jsonl", "--batch", *arguments)
    assert ended.code == 2
    assert told in ended.err


def test_no_key_is_written_or_told(evaluate, server, monkeypatch, tmp_path):
    monkeypatch.setenv("TOUCHSTONE_LLM_API_KEY", "secret-key")
    ended = evaluate()
    assert set(server.keys) == {"Bearer secret-key"}
    assert "secret-key" not in ended.err + ended.out
    written = [path for path in tmp_path.rglob("*") if path.is_file() and b"secret-key" in path.read_bytes()]
    assert written == []
    told = json.dumps(kept())
    assert "charged" not in told
    assert [oct(path.stat().st_mode & 0o777) for path in Path("calls/batches").glob("*.json")] == ["0o600"]
