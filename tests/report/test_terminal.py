"""The terminal shows the view: readable without colour, narrow or wide, and never as markup."""

import io

import pytest
from rich.console import Console

from touchstone.core.case import Case
from touchstone.core.result import Anchor, Evidence, Result, Score
from touchstone.report.explain import explain
from touchstone.report.summary import MetricTally, Tally, tally_to_dict
from touchstone.report.terminal import show_explanation, show_tally

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


def explanation(**options):
    return shown(lambda console: show_explanation(explain(CASE, RESULT), console=console), **options)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 200])
def test_everything_is_there_at_any_width_and_fits(width):
    text = explanation(width=width)
    assert max(map(len, text.splitlines())) <= width
    words = "".join(text.split())
    for part in ("c-17", "FAIL", "block", "hallucination0.67>0.50", "contradicted", "supported", "context[0]", "0.67"):
        assert part in words


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
)


def test_the_summary_says_what_it_came_to():
    text = shown(lambda console: show_tally(TALLY, console=console))
    for part in ("1,200 rows, 3 failed", "send 1,000 · review 190 · block 10", "PASS 1,100 · WARN 90 · FAIL 7", "0.42"):
        assert part in text
    assert "contradicted 2" in text


def test_the_summary_is_one_plain_object():
    row = tally_to_dict(TALLY)
    assert (row["rows"], row["failed"], row["metrics"]["completeness"]["mean"]) == (1200, 3, None)
    assert row["metrics"]["relevance"] == {"scored": 1100, "mean": 0.4211, "flags": {"WARN": 0, "FAIL": 7}}
