"""The whole way with a real server and a real, very small model: what it grades badly, it grades within the rules."""

import json
import os

import pytest
from benchmarks.small_model import NAME, missing, small_model

pytestmark = pytest.mark.slow
CASE = {
    "id": "c1",
    "input": "I was charged twice. Please refund the duplicate.",
    "context": ["Duplicate charges: open a billing case; the refund takes 5 days."],
    "response": "I opened a billing case. Your refund takes 5 days.",
}
RUBRIC = """
name: short
version: "1"
reviewed: 2025-01-31
pass_mark: 70
criteria:
  - name: accuracy
    weight: 100
    question: Is the reply correct?
    levels: {4: "Correct", 2: "Partly correct", 0: "Wrong"}
"""


@pytest.fixture(scope="module")
def url():
    if lacks := missing():
        if os.environ.get("TOUCHSTONE_TESTS_NEED_ALL"):
            pytest.fail(lacks)
        pytest.skip(f"NO REAL MODEL WAS ASKED: {lacks}")
    with small_model() as address:
        yield address


@pytest.fixture
def judged(touchstone, tmp_path, url):
    """Scores the case with the model; the answer has to keep to the schema, or it would not be readable."""
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASE) + "\n")
    (tmp_path / "short.yaml").write_text(RUBRIC)
    common = ("score", "cases.jsonl", "--rubric", "short.yaml", "--model", NAME)

    def judged(*arguments):
        return touchstone(*common, *arguments)

    limits = ("--judge-set", "timeout=500", "--judge-set", "max_tokens=400")
    return lambda *arguments: judged("--base-url", url, *limits, *arguments), judged


def test_a_real_model_grades_within_the_schema_and_its_answers_replay_byte_for_byte(judged, tmp_path):
    ask, replay = judged
    first = ask("--record", "calls")
    assert first.code == 0, first.err
    result = json.loads(first.out)
    assert result["failures"] == []
    assert result["rubric"]["judge"] == f"llm:{NAME}"
    row = result["rubric"]["criteria"]["accuracy"]
    assert row["grade"] in (4, 2, 0, None)
    assert row["reason"]
    (record,) = (tmp_path / "calls").rglob("*.json")
    kept = json.loads(record.read_text())
    answer = json.loads(kept["answer"]["text"])
    assert list(answer["criteria"]["accuracy"]) == ["reason", "quotes", "grade", "confidence"]
    assert kept["usage"]["input"] > 100
    assert "1 case, 1 call" in first.err
    again = replay("--replay", "calls", "--judge-set", "max_tokens=400")
    assert again.out == first.out


def test_a_case_longer_than_the_model_s_window_is_marked_and_says_so(touchstone, tmp_path, url):
    long = CASE | {"context": ["Refunds take 5 days. " * 4000]}
    (tmp_path / "cases.jsonl").write_text(json.dumps(long) + "\n")
    ended = touchstone("score", "cases.jsonl", "--model", NAME, "--base-url", url, "--judge-set", "timeout=500")
    assert ended.code == 3
    (failure,) = json.loads(ended.out)["failures"]
    assert failure["error"] == "ContextTooLong"
    assert "does not fit the model's window" in ended.err


def test_an_address_with_a_wrong_path_ends_the_command_with_2(touchstone, tmp_path, url):
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASE) + "\n")
    (tmp_path / "short.yaml").write_text(RUBRIC)
    wrong = url.replace("/v1", "/v2")
    ended = touchstone("score", "cases.jsonl", "--rubric", "short.yaml", "--model", NAME, "--base-url", wrong)
    assert ended.code == 2
    assert "most often ends in /v1" in ended.err
