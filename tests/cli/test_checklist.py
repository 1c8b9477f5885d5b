"""`scope: checklist`: short questions to a server, with probabilities where it gives them; and its word on findings."""

import json
from math import log

import pytest
from tests.clients.llm.faulty import faulty_server, grades, refuses, says

CASE = {
    "id": "c",
    "input": "How long do I have to return my headphones?",
    "context": ["You have 14 days after delivery to return headphones."],
    "response": "You have 30 days to return your headphones. Send them to our depot.",
}
KEYS = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "TOUCHSTONE_LLM_API_KEY",
    "TOUCHSTONE_LLM_BASE_URL",
    "TOUCHSTONE_LLM_MODEL",
)


@pytest.fixture
def server(monkeypatch):
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    with faulty_server() as running:
        yield running


@pytest.fixture
def score(server, touchstone, tmp_path):
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASE) + "\n")

    def score(*arguments, scope="checklist"):
        judge = ("--model", "small", "--base-url", server.url, "--judge-set", f"scope={scope}")
        ended = touchstone("score", "cases.jsonl", *judge, *arguments)
        return ended, json.loads(ended.out)

    return score


def word(text, chances=None):
    """A completion of one word, with the probabilities of its first token."""
    reply = says(text, usage=(100, 1))
    if chances:
        rows = [{"token": token, "logprob": log(chance)} for token, chance in chances.items()]
        reply.body["choices"][0]["logprobs"] = {"content": [{**rows[0], "top_logprobs": rows}]}
    return reply


def is_harm(asked):
    """Whether a question is about what speaks against a reply."""
    last = asked["messages"][-1]["content"].rsplit("\n\n", 1)[1]
    return "violation" in last or "cold" in last


def good(asked):
    return word("No", {"No": 0.9, " no": 0.06, "Y": 0.04}) if is_harm(asked) else word("Yes", {"Yes": 0.9, "No": 0.1})


def test_every_question_is_asked_alone_for_one_word_with_its_probabilities(score, server):
    server.replies = [good]
    ended, result = score()
    assert ended.code == 0, ended.err
    assert len(server.asked) > 12
    for asked in server.asked:
        assert (asked["max_tokens"], asked["logprobs"], asked["top_logprobs"]) == (16, True, 20)
        assert "response_format" not in asked
    assert len({asked["messages"][0]["content"] for asked in server.asked}) == 1
    criteria = result["rubric"]["criteria"]
    assert min(criteria[name]["grade"] for name in ("accuracy", "completeness", "tone", "actionability")) >= 3
    assert "chances of yes" in criteria["accuracy"]["reason"]
    assert [each["rule"] for each in result["rubric"]["suspicions"]] == ["value.contradicted"]
    assert result["decision"] == "review"


def test_what_it_says_yes_to_is_a_violation(score, server):
    server.replies = [lambda asked: word("Yes", {"yes": 0.8, "no": 0.2})]
    _, result = score()
    (violation,) = result["rubric"]["violations"]
    assert (violation["rule"], violation["text"], violation["confidence"]) == ("value.contradicted", "30 days", 0.8)
    assert (result["decision"], result["rubric"]["outcome"]) == ("block", "FAIL")


def test_answers_are_kept_with_their_probabilities_and_replay(score, server, touchstone):
    server.replies = [good]
    first, _ = score("--record", "calls")
    before = len(server.asked)
    again = touchstone(
        "score", "cases.jsonl", "--model", "small", "--replay", "calls", "--judge-set", "scope=checklist"
    )
    assert (again.out, len(server.asked)) == (first.out, before)


def test_a_server_without_probabilities_is_asked_for_the_word_alone(score, server):
    def only_words(asked):
        if "logprobs" in asked:
            return refuses(400, "Unsupported parameter: 'logprobs'", param="logprobs")
        return word("no" if is_harm(asked) else "**Yes**.")

    server.replies = [only_words]
    ended, result = score()
    assert ended.code == 0, ended.err
    assert result["rubric"]["criteria"]["accuracy"]["grade"] >= 3
    # Refused once, left out from then on.
    assert sum("logprobs" in asked for asked in server.asked) == 1


@pytest.mark.slow
@pytest.mark.parametrize("said", ["Ja", "<think>Let me look at the sources. First", "It depends on the sources", ""])
def test_neither_yes_nor_no_leaves_the_case_open_and_says_so(score, server, said):
    server.replies = [lambda asked: word(said)]
    ended, result = score()
    assert ended.code == 3
    assert [failure["error"] for failure in result["failures"]] == ["NotYesNo"]
    assert "scope=case" in ended.err
    assert {row["grade"] for row in result["rubric"]["criteria"].values()} == {None}


def ruling(answer, quote="You have 14 days"):
    return grades() | {"questions": {"1": {"reason": "read", "quote": quote, "answer": answer}}}


def test_a_model_s_word_on_what_the_checks_found_decides(score, server, touchstone):
    server.replies = [says(ruling("confirmed"))]
    _, confirmed = score("--no-cache", scope="case")
    assert "1. hallucination: reply says 30 days" in server.asked[0]["messages"][1]["content"]
    (violation,) = confirmed["rubric"]["violations"]
    assert (violation["rule"], violation["reason"], confirmed["decision"]) == ("value.contradicted", "read", "block")
    server.replies = [says(ruling("rejected"))]
    _, rejected = score("--no-cache", scope="case")
    (dismissed,) = rejected["rubric"]["dismissed"]
    assert (dismissed["finding"]["text"], dismissed["quote"]) == ("30 days", "You have 14 days")
    assert (rejected["rubric"]["violations"], rejected["rubric"]["suspicions"]) == ([], [])
    judge = ("--model", "small", "--base-url", server.url, "--no-cache")
    shown = touchstone("score", "cases.jsonl", "--id", "c", "--explain", *judge)
    told = " ".join(shown.out.split())
    assert "Found by the checks, dismissed by the judge" in told
    assert "Dismissed: read It quotes 'You have 14 days'" in told


def test_personal_data_is_taken_out_of_what_was_dismissed(score, server, tmp_path):
    quote = "Call Maria Gonzalez on +44 20 7946 0018"
    row = CASE | {"context": [*CASE["context"], f"{quote} about returns."]}
    (tmp_path / "cases.jsonl").write_text(json.dumps(row) + "\n")
    server.replies = [says(ruling("rejected", quote))]
    ended, result = score("--redact", scope="case")
    assert result["rubric"]["dismissed"]
    assert "7946" not in ended.out
    assert "Gonzalez" not in ended.out
