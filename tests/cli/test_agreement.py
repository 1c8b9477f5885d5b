"""`touchstone review agreement`: any judge against people, as a page, as JSON and in the terminal."""

import json

import pytest
from tests.clients.llm.faulty import faulty_server, grades, says

from touchstone.store.runs import open_store

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
    assert "3 false passes (people fail the reply)" in " ".join(ended.out.split())
    assert "\x1b[31m" not in ended.out
    page = (tmp_path / "card.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<script>alert" not in page
    assert "default-src &#39;none&#39;" in page
    for title in (
        "Criterion by criterion",
        "Which grades are confused",
        "How much should go to people?",
        "Is it fair to all",
    ):
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
        (("gold.jsonl", "--results", "gold.jsonl"), "gold.jsonl:1: this is not a result"),
        (("bare.jsonl",), "has no graded case with labels"),
        (("gold.jsonl", "--results", "other.jsonl"), "other.jsonl has no result of a labelled case of gold.jsonl"),
        (("gold.jsonl", "none"), "'none' is neither a file nor a packaged name of a gold set: several must all be"),
        (("gold.jsonl", "--compare"), "--compare needs another judge"),
        (("gold.jsonl", "copy.jsonl", "--results", "a.jsonl"), "copy.jsonl has an id that gold.jsonl has too"),
        (("gold.jsonl", "--results", "a.jsonl", "--results", "b.jsonl"), "no labelled case was graded by all"),
    ],
)
def test_what_cannot_be_measured_is_said(touchstone, gold, tmp_path, arguments, told):
    (tmp_path / "copy.jsonl").write_text((tmp_path / gold).read_text())
    for name, ids in (("other", ["c99"]), ("a", ["c1"]), ("b", ["c2"])):
        (tmp_path / f"{name}.jsonl").write_text(results_of("llm:x", ids=ids, grade=4))
    (tmp_path / "bare.jsonl").write_text('{"input": "Hello?", "response": "Hello, how can I help you today?"}\n')
    ended = touchstone("review", "agreement", *arguments)
    assert ended.code == 2
    assert told in ended.err


def results_of(judge, *, ids, grade):
    """Results as a model's would be written: every criterion with this grade."""
    criteria = {
        name: {"grade": grade, "value": float(grade), "points": None, "confidence": 0.9, "reason": "so"}
        for name in ("accuracy", "completeness", "tone", "actionability", "safety")
    }
    return "".join(
        json.dumps(
            {
                "id": id, "decision": "review", "verdict": None, "reasons": [], "metrics": None, "failures": [],
                "rubric": {
                    "name": "supportai", "version": "1.0", "judge": judge, "criteria": criteria, "violations": [],
                    "issues": [], "total": 25.0 * grade, "outcome": "PASS" if grade > 2 else "FAIL", "reasons": [],
                },
            }
        ) + "\n"
        for id in ids
    )  # fmt: skip


@pytest.fixture
def results(tmp_path):
    (tmp_path / "kind.jsonl").write_text(results_of("llm:kind", ids=[f"c{at}" for at in range(6)], grade=4))
    (tmp_path / "harsh.jsonl").write_text(results_of("llm:harsh", ids=["c0", "c1", "c2", "c9"], grade=1))


def kept(tmp_path, judge):
    with open_store(str(tmp_path / ".touchstone/touchstone.db"), creates=False) as store:
        return store.measurements.of_judge(judge)


def test_several_judges_make_one_table_on_the_cases_they_share(touchstone, gold, results, tmp_path):
    arguments = ("--results", "kind.jsonl", "--results", "harsh.jsonl", "-o", "judges.html")
    ended = touchstone("review", "agreement", gold, *arguments, "--json")
    assert ended.code == 0
    found = json.loads(ended.out)
    assert (found["goldset"], found["labelled"], found["common"]) == ("gold.jsonl", 6, 3)
    kind, harsh = found["judges"]
    assert (kind["judge"], kind["graded"], kind["labelled"], kind["false_pass"]) == ("llm:kind", 6, 3, 2)
    assert (kind["outcome"]["hits"], kind["outcome"]["of"]) == (1, 3)
    assert (harsh["judge"], harsh["graded"], harsh["outcome"]["hits"], harsh["false_pass"]) == ("llm:harsh", 3, 2, 0)
    assert "table of judges written to judges.html" in ended.err
    assert "llm:harsh" in (tmp_path / "judges.html").read_text()
    shown = " ".join(touchstone("review", "agreement", gold, *arguments[:4]).out.split())
    assert "Compared on 3 of 6 labelled replies, those that every judge graded; llm:kind graded 6" in shown


def test_the_offline_judge_is_put_beside_results_of_before(touchstone, gold, results):
    found = json.loads(touchstone("review", "agreement", gold, "--results", "kind.jsonl", "--compare", "--json").out)
    assert [row["judge"] for row in found["judges"]] == ["llm:kind", "offline"]
    alone = json.loads(touchstone("review", "agreement", gold, "--json").out)
    assert found["judges"][1]["outcome"]["value"] == alone["outcome"]["agreement"]
    both = touchstone("review", "agreement", gold, "--results", "kind.jsonl", "--judge", "offline", "--json")
    assert json.loads(both.out) == found


def test_a_model_is_put_beside_the_offline_judge_in_one_scoring(touchstone, gold, tmp_path):
    assert touchstone("eval", gold, "-q").code == 0
    with faulty_server() as server:
        server.replies = [lambda asked: says(grades(4))]
        flags = ("--model", "small", "--base-url", server.url, "--compare", "--json")
        found = json.loads(touchstone("review", "agreement", gold, *flags).out)
    model, offline = (row["judge"] for row in found["judges"])
    assert model.startswith("llm:small #")
    assert offline == "offline"
    (measured,) = kept(tmp_path, model)
    assert measured.figures.false_pass == found["judges"][0]["false_pass"] == 3
    with open_store(str(tmp_path / ".touchstone/touchstone.db"), creates=False) as store:
        assert kept(tmp_path, store.find_run("latest").receipt.judge)[0].goldset == gold


def test_two_files_of_one_judge_are_distinguished(touchstone, gold, results, tmp_path):
    (tmp_path / "again.jsonl").write_text((tmp_path / "kind.jsonl").read_text())
    arguments = ("--results", "kind.jsonl", "--results", "again.jsonl", "--results", "kind.jsonl", "--json")
    found = json.loads(touchstone("review", "agreement", gold, *arguments).out)
    assert [row["judge"] for row in found["judges"]] == ["llm:kind (kind.jsonl)", "llm:kind (again.jsonl)"]


def test_several_gold_sets_are_measured_and_kept_each_by_itself(touchstone, gold, tmp_path):
    rows = [labelled(at, 4) for at in range(20, 24)]
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert touchstone("eval", gold, "-q").code == 0
    found = json.loads(touchstone("review", "agreement", gold, "more.jsonl", gold, "--json").out)
    assert (found["goldset"], found["cases"]) == ("gold.jsonl, more.jsonl", 10)
    assert [(each["name"], each["figures"]["labelled"]) for each in found["sets"]] == [
        ("gold.jsonl", 6),
        ("more.jsonl", 4),
    ]
    report = json.loads(touchstone("runs", "show", "--json").out)["judge"]
    assert report["measured"] == "store"
    assert [(each["goldset"], each["labelled"]) for each in report["measurements"]] == [("more.jsonl", 4), (gold, 6)]
    assert "measured 20" in " ".join(touchstone("runs", "show").out.split())


def test_figures_are_kept_in_a_store_that_is_there_or_that_is_named(touchstone, gold, results, tmp_path):
    ended = touchstone("review", "agreement", gold)
    assert ended.code == 0
    assert "the figures are not kept for reports: the store .touchstone/touchstone.db does not exist" in ended.err
    assert not (tmp_path / ".touchstone/touchstone.db").exists()
    assert touchstone("review", "agreement", gold, "--results", "kind.jsonl").err == ""
    assert touchstone("review", "agreement", gold, "--store", "new/s.db").err == ""
    assert (tmp_path / "new/s.db").exists()


def test_results_do_not_tell_what_shaped_the_judge_so_nothing_is_kept_of_them(touchstone, gold, results, tmp_path):
    assert touchstone("eval", gold, "-q").code == 0
    assert touchstone("review", "agreement", gold, "--results", "kind.jsonl").code == 0
    assert kept(tmp_path, "llm:kind") == ()


def test_violations_are_held_against_people(touchstone, tmp_path):
    rows = [labelled(at, 4) for at in range(4)]
    rows[0]["labels"][0]["violations"] = ["hallucination"]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = json.loads(touchstone("review", "agreement", "gold.jsonl", "--json").out)["violations"]
    assert [each["name"] for each in found] == ["any violation", "hallucination"]
    assert (found[0]["recall"]["hits"], found[0]["recall"]["of"], found[0]["n"]) == (0, 1, 4)
    assert "hallucination – (0/0)" in " ".join(touchstone("review", "agreement", "gold.jsonl").out.split())


def test_settings_that_name_a_model_ask_nobody_when_results_are_given(touchstone, gold, results, tmp_path):
    (tmp_path / "touchstone.yaml").write_text(
        "judge:\n  kind: llm\n  model: costly\n  base_url: http://127.0.0.1:9/v1\n"
    )
    ended = touchstone("review", "agreement", gold, "--results", "kind.jsonl", "--json")
    assert (ended.code, json.loads(ended.out)["judge"]) == (0, "llm:kind")
