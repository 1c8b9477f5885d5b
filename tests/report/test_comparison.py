"""Two runs beside each other, in every form."""

import json
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console
from tests.report.sample import HOSTILE, RECEIPT, RUBRIC, RUN, record, records
from tests.report.test_exports import ACTIVE, tokens
from tests.report.test_html import Page

from touchstone.report.comparison import ComparisonReport, comparison_to_dict
from touchstone.report.html import render_comparison_html
from touchstone.report.markdown import render_comparison_markdown
from touchstone.report.terminal.runs import show_comparison
from touchstone.runs.comparison import compare

AFTER = replace(RUN, id="run-8", labels={"prompt": "v8"})


def improved(found):
    return [
        replace(each, outcome="PASS", total=90.0, tags=(), violations=(), verdict="PASS") if n % 2 else each
        for n, each in enumerate(found)
    ]


def view_of(before, after, *, runs=(RUN, AFTER)):
    return ComparisonReport(*runs, compare(before, after, rubric=RUBRIC))


def forms(view, width=110):
    console = Console(file=StringIO(), width=width)
    show_comparison(view, console=console)
    return console.file.getvalue(), render_comparison_markdown(view), render_comparison_html(view)


def test_a_clear_improvement_is_called_one_everywhere():
    view = view_of(records(90), improved(records(90)))
    assert view.standing == "better"
    assert (view.regressed, view.improved) == (0, 15)
    for text in forms(view):
        assert view.sentence.split(":")[0] in text
        assert "c-0006" in text


def test_fewer_violations_are_better():
    view = view_of(records(180), improved(records(180)))
    safety = view.groups[0].lines[1]
    assert safety.name == "safety failures"
    assert safety.difference.startswith("−")
    assert safety.standing == "better"


def test_no_difference_is_no_clear_change():
    view = view_of(records(30), records(30))
    assert view.standing == "no clear change"
    assert view.pass_rate.difference == "+0.0\u00a0pp"
    assert forms(view)


@pytest.mark.parametrize(("before", "after"), [([], []), (records(3), [record(9)]), (records(3), [])])
def test_runs_without_a_common_case_cannot_be_compared(before, after):
    view = view_of(before, after)
    assert view.standing == "not comparable"
    assert all("cannot be compared" in text for text in forms(view))
    json.dumps(comparison_to_dict(view), allow_nan=False)


def test_another_rubric_or_gold_set_is_named():
    other = replace(AFTER, receipt=replace(RECEIPT, rubric_hash="other", data="changed"))
    view = view_of(records(9), records(9), runs=(RUN, other))
    assert [line.split(" differs")[0] for line in view.differing] == ["The gold set", "The rubric"]


def test_regressions_come_before_improvements():
    worse = [
        replace(each, outcome="FAIL", total=1.0) if each.id == "c-0002" else each for each in improved(records(12))
    ]
    view = view_of(records(12), worse)
    assert [flip.direction for flip in view.flips][:2] == ["regressed", "improved"]


def test_the_json_holds_numbers():
    row = json.loads(json.dumps(comparison_to_dict(view_of(records(90), improved(records(90)))), allow_nan=False))
    assert (row["before"], row["after"], row["standing"]) == ("run-7", "run-8", "better")
    assert row["pass_rate"]["difference"] == pytest.approx(15 / 90)
    assert len(row["flips"]) == 15


@pytest.mark.parametrize("width", [30, 60, 100])
def test_text_from_outside_does_nothing_in_any_form(width):
    found = [replace(each, id=f"{HOSTILE}{each.id}", category=HOSTILE) for each in records(12)]
    runs = tuple(replace(run, id=HOSTILE, labels={"prompt": HOSTILE}) for run in (RUN, AFTER))
    terminal, markdown, html = forms(view_of(found, improved(found), runs=runs), width)
    assert not set(terminal) & set("\x1b\x07\u202e")
    assert {token.type for token in tokens(markdown)} & (ACTIVE - {"heading_open"}) == set()
    page = Page(html)
    assert len(page.all("script")) == 1
    assert page.all("img") == []
