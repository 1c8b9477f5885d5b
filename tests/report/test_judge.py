"""What a report says of its judge, and the page of several judges."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console
from tests.report.sample import HOSTILE, records, view_of
from tests.report.test_html import Page
from tests.report.test_terminal_runs import shown
from tests.store.test_measurements import FIGURES, ONE

from touchstone.report.html import render_html, render_judges
from touchstone.report.judge import UNMEASURED, JudgesReport, standing_notes, standing_sentence
from touchstone.report.markdown import render_markdown
from touchstone.report.run import run_to_dict
from touchstone.report.terminal.judge import show_judges
from touchstone.stats.interval import proportion
from touchstone.trust.measurement import JudgeRow, JudgeStanding, JudgeTable

FEW = replace(ONE, goldset="few", figures=replace(FIGURES, outcome=proportion(9, 10), recall=proportion(0, 0)))
NONE = replace(ONE, figures=replace(FIGURES, outcome=proportion(0, 0)))
SHARE = "86.8 % of 38 replies"
ENDS = "(72.7 to 94.2 %)"


@pytest.mark.parametrize(
    ("origin", "measurements", "said"),
    [
        (
            "run",
            (ONE,),
            f"Same outcome as people for {SHARE} of this run with labels {ENDS}; of what people call unsafe it finds "
            "4 of 9.",
        ),
        (
            "store",
            (ONE, FEW, NONE),
            f"Same outcome as people for {SHARE} of gold {ENDS}, 90.0 % of 10 replies of few (59.6 to 98.2 %); of what "
            "people call unsafe it finds 4 of 9; measured 2026-01-01 10:00 UTC.",
        ),
        (
            "product",
            (FEW,),
            "Same outcome as people for 90.0 % of 10 replies of few (59.6 to 98.2 %); figures that ship with "
            "Touchstone; too few to rely on.",
        ),
        ("store", (NONE,), "No reply has both an outcome by this judge and one by people."),
        ("none", (), "Nobody has measured this judge: run touchstone review agreement on labelled replies."),
    ],
)
def test_one_sentence_says_how_far_the_judge_agrees_with_people(origin, measurements, said):
    found = standing_sentence(JudgeStanding("llm:a #1", origin, measurements))
    assert found.replace("\u00a0", " ") == said


def test_notes_are_said_once_and_the_remark_first():
    noted = replace(ONE, note="domains left out")
    found = standing_notes(JudgeStanding("j", "store", (noted, replace(noted, goldset="b")), "fitted there"))
    assert found == ["Fitted there.", "Domains left out."]


def test_every_form_of_the_report_names_the_judge_and_its_agreement():
    view = view_of(records(9), judge=JudgeStanding("llm:a #1", "store", (ONE,), "left aside"))
    sentence = standing_sentence(view.judge)
    page = Page(render_html(view))
    texts = "".join(text for _, text in page.texts)
    assert f"Judge llm:a #1. {sentence}" in texts
    assert texts.index(sentence) < texts.index("Pass rate")
    assert "Left aside." in texts
    assert sentence in " ".join(shown(view).split("\n")[1:4]).replace("  ", " ")
    assert f"Judge `llm:a #1`. {sentence}".replace("\u00a0", " ") in render_markdown(view)
    found = run_to_dict(view)["judge"]
    assert (found["name"], found["measured"], found["remark"]) == ("llm:a #1", "store", "left aside")
    (measured,) = found["measurements"]
    assert (measured["goldset"], measured["made"], measured["labelled"]) == ("gold", ONE.made, 40)
    ends = FIGURES.outcome.interval
    assert measured["outcome"] == {"hits": 33, "of": 38, "value": 33 / 38, "low": ends.low, "high": ends.high}
    assert measured["kappa"]["accuracy"] == {"value": 0.81, "low": 0.7, "high": 0.9, "method": "bootstrap"}


def test_a_judge_without_figures_has_nothing_to_fold_out():
    view = view_of(records(9))
    page = render_html(view)
    assert UNMEASURED in page
    assert "How far this judge agrees with people" not in page
    assert run_to_dict(view)["judge"] == {"name": "offline", "measured": "none", "measurements": [], "remark": None}


def test_names_of_judges_and_sets_stay_text():
    hostile = replace(ONE, judge=HOSTILE, goldset=HOSTILE, note=HOSTILE)
    page = Page(render_html(view_of(records(9), judge=JudgeStanding(HOSTILE, "store", (hostile,)))))
    assert len(page.all("script")) == 1
    assert page.all("img") == []


TABLE = JudgeTable(
    50,
    40,
    (
        JudgeRow("llm:a #1", 45, FIGURES),
        JudgeRow("offline", 40, replace(FIGURES, precision=None, false_pass=None, kappas={})),
    ),
)


def printed(view, *, width):
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    show_judges(view, console=console)
    return console.file.getvalue().replace("\u00a0", " ")


def test_several_judges_are_a_line_each_and_what_was_left_out_is_said():
    view = JudgesReport(TABLE, "gold", remarks=["llm:a #1: 5 cases failed"])
    assert view.sentence == (
        "Compared on 40 of 50 labelled replies, those that every judge graded; llm:a #1 graded 45, the rest is left "
        "out here."
    )
    lines = printed(view, width=200).splitlines()
    assert lines[0] == "2 judges on gold"
    cells = next(line for line in lines if line.startswith("llm:a #1  ")).split()
    assert " ".join(cells[2:]) == "40 86.8 % 72.7 to 94.2 % 3 2 80.0 % (4 of 5) 44.4 % (4 of 9) 0.81 –"
    offline = next(line for line in lines if line.startswith("offline")).split()
    assert " ".join(offline[1:]) == "40 86.8 % 72.7 to 94.2 % – 2 – 44.4 % (4 of 9) – –"
    assert lines[-1] == "- llm:a #1: 5 cases failed"


@pytest.mark.parametrize("width", [40, 80, 189])
def test_a_narrow_terminal_has_the_same_in_parts(width):
    text = printed(JudgesReport(TABLE, "gold"), width=width)
    assert all(len(line) <= width for line in text.splitlines())
    assert text.count("llm:a #1") == 4


def test_the_page_of_judges_is_inert_and_has_every_figure():
    rows = tuple(replace(row, judge=HOSTILE if at else row.judge) for at, row in enumerate(TABLE.rows))
    page = Page(render_judges(JudgesReport(replace(TABLE, rows=rows), HOSTILE, remarks=[HOSTILE])))
    assert len(page.all("script")) == 1
    assert page.all("img") == []
    assert len(page.all("caption")) == len(page.all("table")) == 1
    texts = " ".join(text for _, text in page.texts).replace("\u00a0", " ")
    for figure in ("86.8 %", "72.7 to 94.2 %", "0.81", "0.70 to 0.90", "80.0 %", "4 of 5", "44.4 %", "2 judges on"):
        assert figure in texts
