"""A scoring streams: results in input order, failed rows in their places, a tally at the end."""

import json
from dataclasses import replace

import pytest

from touchstone.app import score as app
from touchstone.app.config import Settings
from touchstone.core.errors import InputError, ResourceError
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.core.result import Failure, Finding, Grade, Grading, Result, Score
from touchstone.io.cases import Entry
from touchstone.rubric.parse import packaged
from touchstone.runs.counts import Counts, CriterionTally, tally


def fake_evaluate(case, *, plan, rubric, policy, fitted, verifier):
    """A scorer small enough to check by eye: the score is the reply's length in tenths."""
    if case.response == "crash":
        raise KeyError(case.input)
    if len(case.response) > plan.max_reply_chars:
        return Result(case.id, "review", None, (), None, (Failure("score", "ReplyTooLong", "too long"),))
    value = len(case.response) / 10
    flag = "FAIL" if value < plan.relevance_fail else None
    verdict = "FAIL" if flag else "PASS"
    metrics = {"relevance": Score("relevance", value if case.input else None, "…", flag=flag)}
    return Result(case.id, "block" if flag else "send", verdict, (), metrics)


@pytest.fixture(autouse=True)
def _scorer(monkeypatch):
    monkeypatch.setattr(app, "evaluate", fake_evaluate)


def write_lines(path, *rows):
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def score(source, tmp_path, **options):
    seen = []
    target = str(tmp_path / "out.jsonl")
    settings = options.pop("settings", Settings())
    tally = app.score_file(source, settings=settings, target=target, on_scored=seen.append, **options)
    with open(target, encoding="utf-8") as stream:  # noqa: PTH123 - the target is a path as the user gives it
        return tally, [json.loads(line) for line in stream], seen


def test_every_row_has_one_result_in_input_order(tmp_path):
    source = write_lines(
        tmp_path / "cases.jsonl",
        {"id": "a", "input": "q", "response": "12345"},
        "{broken",
        {"id": "b", "input": "q"},
        {"id": "a", "input": "q", "response": "again"},
        {"id": "c", "input": "secret", "response": "crash"},
        {"id": "d", "input": "q", "response": "x" * 200},
        {"id": "e", "input": "q", "response": ""},
    )
    tally, results, seen = score(source, tmp_path, settings=Settings(plan=Plan(max_reply_chars=100)))
    assert [result["id"] for result in results] == ["a", None, None, None, "c", "d", "e"]
    assert [result.get("line") for result in results] == [None, 2, 3, 4, 5, 6, None]
    assert [result["decision"] for result in results] == ["send", *["review"] * 5, "block"]
    assert [scored.result.id for scored in seen] == [result["id"] for result in results]
    assert (tally.rows, tally.failed) == (7, 5)


def test_a_failed_row_is_what_the_contract_says(tmp_path):
    source = write_lines(tmp_path / "cases.jsonl", {"input": "q"})
    _, (result,), _ = score(source, tmp_path)
    failure = result.pop("failures")[0]
    assert result == {
        "id": None, "line": 1, "decision": "review", "verdict": None, "reasons": [], "metrics": None, "rubric": None,
    }  # fmt: skip
    assert (failure["stage"], failure["error"]) == ("read", "CaseError")


def test_a_defect_fails_one_row_without_quoting_the_customer(tmp_path):
    source = write_lines(tmp_path / "cases.jsonl", {"input": "my secret", "response": "crash"})
    _, (result,), _ = score(source, tmp_path)
    assert result["failures"][0]["error"] == "KeyError"
    assert "secret" not in json.dumps(result)


def test_a_missing_part_of_touchstone_ends_the_scoring(tmp_path, monkeypatch):
    def without_parser(case, **options):
        raise ResourceError("no parser")

    monkeypatch.setattr(app, "evaluate", without_parser)
    source = write_lines(tmp_path / "cases.jsonl", {"response": "r"})
    with pytest.raises(ResourceError):
        score(source, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["cases.jsonl"]


def test_the_tally_counts_and_averages_what_was_scored(tmp_path):
    rows = [{"input": "q", "response": "x" * size} for size in (0, 4, 8)] + [{"response": "x" * 10}]
    tally, _, _ = score(write_lines(tmp_path / "cases.jsonl", *rows), tmp_path)
    assert tally.decisions == {"send": 3, "review": 0, "block": 1}
    assert tally.verdicts == {"PASS": 3, "WARN": 0, "FAIL": 1}
    relevance = tally.metrics["relevance"]
    assert (relevance.scored, relevance.flags) == (3, {"WARN": 0, "FAIL": 1})
    assert relevance.mean == pytest.approx(0.4)


def grading(*grades, violations=(), outcome=None):
    graded = tuple(Grade(criterion, grade, grade, grade, 1.0, "…") for criterion, grade in grades)
    return Grading("own", "1", "person", graded, tuple(violations), (), None, outcome, ())


def test_the_tally_counts_outcomes_grades_and_violations():
    leak, promise = (Finding(kind, "…", 0, 1, "…") for kind in ("pii_leakage", "unauthorized_promise"))
    counts = Counts()
    for rubric in (
        grading(("tone", 4), ("warmth", None), outcome="PASS"),
        grading(("tone", 1), ("warmth", None), outcome="FAIL", violations=[leak, leak, promise]),
        grading(("tone", 1), ("warmth", None), outcome="FAIL"),
        grading(("tone", None), ("warmth", None)),
        None,
    ):
        counts.add_result(Result("c", "review", None, (), None, rubric=rubric))
    found = tally(counts.results).rubric
    assert (found.outcomes, found.pass_rate) == ({"PASS": 1, "FAIL": 2}, pytest.approx(1 / 3))
    assert found.criteria == {"tone": CriterionTally(3, 2.0), "warmth": CriterionTally(0, None)}
    assert {kind: count for kind, count in found.violations.items() if count} == {
        "pii_leakage": 2, "unauthorized_promise": 1,
    }  # fmt: skip
    assert (len(found.violations), found.unsafe) == (5, 1)


def test_without_grades_the_pass_rate_is_not_known(tmp_path):
    tally, _, _ = score(write_lines(tmp_path / "cases.jsonl", {"response": "r"}), tmp_path)
    assert (tally.rubric.pass_rate, tally.rubric.criteria) == (None, {})


def test_one_case_can_be_picked_by_its_id(tmp_path):
    rows = [{"id": name, "input": "q", "response": "r"} for name in "abc"]
    source = write_lines(tmp_path / "cases.jsonl", *rows, "{broken")
    tally, results, _ = score(source, tmp_path, id="b")
    assert ([result["id"] for result in results], tally.rows) == (["b"], 1)
    with pytest.raises(InputError, match="has no case with the id 'x'"):
        score(source, tmp_path, id="x")


def test_an_empty_file_is_an_error_that_leaves_nothing_behind(tmp_path):
    source = write_lines(tmp_path / "cases.jsonl")
    with pytest.raises(InputError, match=r"cases\.jsonl holds no cases"):
        score(source, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["cases.jsonl"]


def test_columns_of_the_settings_are_taken(tmp_path):
    source = write_lines(tmp_path / "cases.jsonl", {"reply": "12345", "input": "q"})
    tally, _, _ = score(source, tmp_path, settings=Settings(columns={"reply": "response"}))
    assert tally.metrics["relevance"].mean == 0.5


def test_rubric_and_policy_of_the_settings_reach_the_scorer(tmp_path, monkeypatch):
    given = []

    def evaluate(case, **options):
        given.append((options["rubric"].name, options["policy"].company))
        return fake_evaluate(case, **options)

    monkeypatch.setattr(app, "evaluate", evaluate)
    source = write_lines(tmp_path / "cases.jsonl", {"response": "r"})
    score(source, tmp_path)
    own = replace(packaged("supportai"), name="own")
    score(source, tmp_path, settings=Settings(rubric=own, policy=Policy(company="Acme")))
    assert given == [("supportai", None), ("own", "Acme")]


def test_the_share_read_is_told_along(tmp_path):
    source = write_lines(tmp_path / "cases.jsonl", *[{"response": "r"}] * 3)
    _, _, seen = score(source, tmp_path)
    assert all(0 < scored.share_read <= 1 for scored in seen)


def test_one_case_is_scored_from_its_fields_with_an_id_of_its_own():
    seen = []
    fields = {"input": "q", "response": "12345"}
    tally = app.score_fields(fields, settings=Settings(), target=None, on_scored=seen.append, source="command line")
    assert tally.rows == 1
    assert len(seen[0].result.id) == 16


def test_nothing_is_read_ahead_of_what_is_scored():
    asked = []

    def entries():
        for line in range(1, 100):
            asked.append(line)
            yield Entry("f", line, Failure("read", "…", "…"))

    scored = app.score_entries(entries(), settings=Settings())
    assert next(scored).result.line == 1
    assert asked == [1]
