"""`touchstone review agreement`: any judge against people, as a page, as JSON and in the terminal."""

import json

import pytest
from tests.clients.llm.faulty import faulty_server, grades, says

HOSTILE = "<script>alert(1)</script>\x1b[31m"


def labelled(at, grade, *, category="billing"):
    return {
        "id": f"c{at}",
        "category": category,
        "input": f"I was charged twice for order {at}. Can I have the second payment back?",
        "context": ["Duplicate charges are refunded within 5 working days after a billing case is opened."],
        "response": f"I'm sorry about that. I opened a billing case for order {at}; the refund takes 5 working days.",
        "labels": [
            {
                "rater": "A",
                "accuracy": grade,
                "completeness": grade,
                "tone": 3,
                "actionability": grade,
                "violations": [],
            }
        ],
    }


@pytest.fixture
def gold(tmp_path):
    rows = [labelled(at, 4 if at % 2 else 1, category=HOSTILE) for at in range(6)]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "gold.jsonl"


def test_the_offline_judge_is_held_against_people(touchstone, gold):
    ended = touchstone("review", "agreement", gold, "--json")
    assert ended.code == 0
    found = json.loads(ended.out)
    assert (found["judge"], found["cases"], found["labelled"]) == ("offline", 6, 6)
    assert found["outcome"]["n"] == 6
    assert len(found["criteria"]) == 5
    assert found["standing"] == "too little to say"


@pytest.mark.slow
def test_a_model_is_held_against_people_and_the_card_is_one_inert_page(touchstone, gold, tmp_path):
    with faulty_server() as server:
        server.replies = [lambda asked: says(grades(4))]
        ended = touchstone("review", "agreement", gold, "--model", "small", "--base-url", server.url, "-o", "card.html")
    assert ended.code == 0
    assert "llm:small #" in ended.out
    assert "3 passed that people fail" in " ".join(ended.out.split())
    assert "\x1b[31m" not in ended.out
    page = (tmp_path / "card.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<script>alert" not in page
    assert "default-src &#39;none&#39;" in page
    for title in ("Criterion by criterion", "Who gives what", "How much should go to people?", "Is it fair to all"):
        assert title in page


def test_results_of_before_are_taken_as_they_are(touchstone, gold):
    assert touchstone("score", gold, "-o", "results.jsonl").code == 0
    now = json.loads(touchstone("review", "agreement", gold, "--json").out)
    before = json.loads(touchstone("review", "agreement", gold, "--results", "results.jsonl", "--json").out)
    assert before == now


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("gold.jsonl", "-o", "card.pdf"), "does not end in .html or .json"),
        (("none",), "neither a file nor a packaged name"),
        (("gold.jsonl", "--results", "gold.jsonl"), "gold.jsonl:1: this is no result"),
        (("gold.jsonl", "--results", "gold.jsonl", "--model", "x"), "leave out the judge's flags"),
        (("bare.jsonl",), "has no graded case with labels"),
    ],
)
def test_what_cannot_be_measured_is_said(touchstone, gold, tmp_path, arguments, told):
    (tmp_path / "bare.jsonl").write_text('{"input": "Hello?", "response": "Hello, how can I help you today?"}\n')
    ended = touchstone("review", "agreement", *arguments)
    assert ended.code == 2
    assert told in ended.err
