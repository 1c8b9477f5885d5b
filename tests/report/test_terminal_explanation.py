"""The terminal shows the view: readable without colour, narrow or wide, and never as markup."""

import io
from dataclasses import asdict, replace

import pytest
from rich.console import Console

from touchstone.core.case import Case
from touchstone.core.result import Anchor, Dismissed, Evidence, Finding, Grade, Grading, Result, Score
from touchstone.report.explain import explain
from touchstone.report.terminal.explanation import show_explanation
from touchstone.report.terminal.job import show_tally
from touchstone.runs.counts import CriterionTally, GradingTally, MetricTally, Tally

CASE = Case(
    id="c-17",
    input="How long is [bold]it[/bold]?",
    response="It is 30 days [link=http://x]or[/link] two weeks.",
    context=["The window is 14 days."],
)
RESULT = Result(
    "c-17", "block", "FAIL", ("hallucination 0.67 > 0.50",),
    {
        "relevance": Score("relevance", None, "no customer message"),
        "hallucination": Score("hallucination", 0.67, "2 anchors: 1 contradicted", flag="FAIL", anchors=(
            Anchor("duration", "30 days", 6, 13, "30 day", "contradicted", "reply says 30 days, source says 14 days",
                   (Evidence("context[0]", 14, 21, "14 days"),)),
            Anchor("duration", "two weeks", 39, 48, "14 day", "supported", "context[0] states 14 days"),
        )),
    },
)  # fmt: skip


def shown(show, *, width=80, **options):
    console = Console(file=io.StringIO(), width=width, highlight=False, **options)
    show(console)
    return console.file.getvalue()


GRADED = replace(
    RESULT,
    rubric=Grading(
        "supportai", "1.0", "offline",
        (
            Grade("accuracy", 1, 1.3, 10.0, 0.8, "a figure [b]differs[/b] from the source"),
            Grade("warmth", None, None, None, None, "this judge does not grade this criterion"),
            Grade("safety", 0, 0.0, 0.0, 1.0, "hallucination: 30 days"),
        ),
        (
            Finding("hallucination", "30 days", 6, 13, "reply says 30 days, source says 14 days",
                      (Evidence("context[0]", 14, 21, "14 days"),)),
        ),
        ("should state the 14-day window",), None, "FAIL", ("safety", "score"),
    ),
)  # fmt: skip


def explanation(result=RESULT, **options):
    return shown(lambda console: show_explanation(explain(CASE, result), console=console), **options)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 200])
def test_everything_is_there_at_any_width_and_fits(width):
    text = explanation(width=width)
    assert max(map(len, text.splitlines())) <= width
    words = "".join(text.split())
    for part in ("c-17", "FAIL", "block", "hallucination0.67>0.50", "contradicted", "supported", "context[0]", "0.67"):
        assert part in words


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 200])
def test_the_grading_is_there_at_any_width_and_fits(width):
    text = explanation(GRADED, width=width)
    assert max(map(len, text.splitlines())) <= width
    words = "".join(text.split())
    for part in ("rubricFAIL:safety+score", "Rubricsupportai1.0,judgeoffline", "accuracy", "1/4", "10.00", "0.80",
                 "a", "total–of100FAIL(safety+score)", "shouldstatethe14-daywindow", "[!1]hallucination:30days",
                 "context[0]:Thewindowis14days."):  # fmt: skip
        assert part in words


def test_criteria_are_bars_and_an_open_grade_is_said_to_be_none():
    lines = explanation(GRADED, width=120).splitlines()
    assert any(
        line.split() == ["safety", "░" * 10, "0/4", "0.00", "1.00", "hallucination:", "30", "days"] for line in lines
    )
    assert any(line.split()[:6] == ["warmth", "░" * 10, "not", "graded", "–", "–"] for line in lines)
    narrower = explanation(GRADED, width=80).splitlines()
    at = next(at for at, line in enumerate(narrower) if line.strip().startswith("accuracy"))
    assert narrower[at].split() == ["accuracy", "██" + "░" * 8, "1/4", "10.00", "points", "confidence", "0.80"]
    assert narrower[at + 1].strip() == "a figure [b]differs[/b] from the source"


def test_violations_are_highlighted_unlike_anchors_and_a_legend_says_so():
    text = explanation(GRADED, force_terminal=True, color_system="standard", no_color=False)
    assert "\x1b[1;37;45m30 days\x1b[0m" in text
    assert "\x1b[32mtwo weeks\x1b[0m" in text
    assert "\x1b[1;37;45mviolation\x1b[0m" in text
    plain = explanation(GRADED)
    assert "It is 30 days[1][!1] [link" in plain
    assert "[n] anchor: supported, contradicted · [!n] violation" in plain
    assert "[!n]" not in explanation()


def test_a_suspicion_is_apart_from_violations_with_a_mark_of_its_own():
    doubt = Finding("pii_leakage", "two weeks", 39, 48, "may be a secret", rule="pii.name", confidence=0.41)
    doubted = replace(GRADED, rubric=replace(GRADED.rubric, suspicions=(doubt,), pass_probability=0.031))
    text = explanation(doubted)
    assert "two weeks[2][?1]" in text
    assert "[!n] violation · [?n] suspected" in text
    part = text.split("Suspected, for a person to check")[1].split("Anchors")[0]
    assert part.split() == "[?1] pii_leakage: two weeks may be a secret (pii.name, confidence 0.41)".split()
    assert "pii.name" not in text.split("Violations")[1].split("Suspected")[0]
    assert "pass probability 0.03\n" in text
    assert "block: reply says 30 days, source says 14 days\n" in text
    coloured = explanation(doubted, force_terminal=True, color_system="standard", no_color=False)
    assert "\x1b[30;43mtwo weeks\x1b[0m" in coloured


def test_what_a_model_dismissed_is_listed_apart_with_its_reason_and_quote():
    doubt = Finding("pii_leakage", "two weeks", 39, 48, "may be a secret", rule="pii.name", confidence=0.41)
    kept = (Dismissed(doubt, "it is a period.", "within two weeks"),)
    text = explanation(replace(GRADED, rubric=replace(GRADED.rubric, dismissed=kept)))
    part = text.split("Found by the checks, dismissed by the judge")[1].split("Anchors")[0]
    said = "may be a secret. Dismissed: it is a period. It quotes 'within two weeks' (pii.name, confidence 0.41)"
    assert part.split() == f"[–1] pii_leakage: two weeks {said}".split()
    assert "dismissed" not in explanation(GRADED)


def test_a_reply_that_passes_has_no_reason_and_one_without_outcome_says_what_is_open():
    passed = replace(GRADED, rubric=replace(GRADED.rubric, outcome="PASS", reasons=(), total=86.25, violations=()))
    assert "total 86.25 of 100  PASS" in [line.strip() for line in explanation(passed).splitlines()]
    assert "rubric" not in explanation(passed).split("Question")[0]
    undecided = replace(GRADED, rubric=replace(GRADED.rubric, outcome=None, reasons=(), violations=()))
    assert "no outcome: warmth not graded" in explanation(undecided).split("Question")[0]


def test_the_reply_stands_beside_the_anchors_where_there_is_room():
    wide, narrow = explanation(width=120), explanation(width=80)
    assert any("Question" in line and "Anchors" in line for line in wide.splitlines())
    assert not any("Question" in line and "Anchors" in line for line in narrow.splitlines())


def test_text_from_outside_is_never_markup():
    assert "[bold]it[/bold]" in explanation()
    assert "[link=http://x]or[/link]" in explanation()


def test_anchors_are_coloured_by_status_in_a_terminal_that_has_colours():
    text = explanation(force_terminal=True, color_system="standard", no_color=False)
    assert "\x1b[1;31m30 days\x1b[0m" in text
    assert "\x1b[32mtwo weeks\x1b[0m" in text


def test_no_color_and_no_terminal_mean_no_escapes(monkeypatch):
    assert "\x1b" not in explanation()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31m" not in explanation(force_terminal=True, color_system="standard")


TALLY = Tally(
    rows=1200,
    failed=3,
    decisions={"send": 1000, "review": 190, "block": 10},
    verdicts={"PASS": 1100, "WARN": 90, "FAIL": 7},
    metrics={"relevance": MetricTally(1100, 0.4211, {"WARN": 0, "FAIL": 7}), "completeness": MetricTally(0, None, {})},
    anchors={"supported": 5, "derived": 0, "contradicted": 2, "unsupported": 1},
    rubric=GradingTally(
        outcomes={"PASS": 900, "FAIL": 297},
        pass_rate=900 / 1197,
        criteria={"accuracy": CriterionTally(1197, 3.25), "warmth": CriterionTally(0, None)},
        violations={"hallucination": 12, "pii_leakage": 0, "harmful_content": 1},
        unsafe=13,
    ),
)


def test_the_summary_says_what_it_came_to():
    text = shown(lambda console: show_tally(TALLY, console=console))
    for part in ("1,200 rows, 3 failed", "send 1,000 · review 190 · block 10", "PASS 1,100 · WARN 90 · FAIL 7", "0.42"):
        assert part in text
    assert "contradicted 2" in text


def test_the_summary_says_what_the_rubric_came_to():
    text = shown(lambda console: show_tally(TALLY, console=console))
    assert "outcome: PASS 900 · FAIL 297 · pass rate 75.2% of 1,197" in text
    assert "violations: hallucination 12 · harmful_content 1 in 13 replies" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["accuracy", "3.25", "████████░░", "1,197"] in rows
    assert ["warmth", "–", "░░░░░░░░░░", "0"] in rows


def test_the_summary_without_violations_or_outcomes_says_so():
    rubric = replace(TALLY.rubric, outcomes={"PASS": 0, "FAIL": 0}, pass_rate=None, violations={}, unsafe=0)
    text = shown(lambda console: show_tally(replace(TALLY, rubric=rubric), console=console))
    assert "outcome: PASS 0 · FAIL 0\n" in text
    assert "violations: none\n" in text


def test_the_summary_of_rows_without_grades_leaves_the_rubric_out():
    rubric = GradingTally({"PASS": 0, "FAIL": 0}, None, {}, {}, 0)
    text = shown(lambda console: show_tally(replace(TALLY, rubric=rubric), console=console))
    assert "outcome" not in text
    assert "criterion" not in text


def test_the_summary_is_one_plain_object():
    row = asdict(TALLY)
    assert (row["rows"], row["failed"], row["metrics"]["completeness"]["mean"]) == (1200, 3, None)
    assert row["rubric"]["outcomes"] == {"PASS": 900, "FAIL": 297}
    assert row["rubric"]["criteria"]["accuracy"] == {"graded": 1197, "mean": 3.25}
    assert (row["rubric"]["unsafe"], row["rubric"]["violations"]["hallucination"]) == (13, 12)
    assert row["metrics"]["relevance"] == {"scored": 1100, "mean": 0.4211, "flags": {"WARN": 0, "FAIL": 7}}
