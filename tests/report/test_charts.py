"""Drawings: in bounds, named, described, and without a number that was not given."""

import re
from xml.etree import ElementTree as Tree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.report.charts import (
    change_strip,
    grade_bars,
    histogram,
    measure_strip,
    rate_strip,
    reliability_diagram,
)
from touchstone.runs.summary import CriterionFigures
from touchstone.runs.targets import Headline, Target
from touchstone.stats.calibration import reliability
from touchstone.stats.interval import Interval

shares = st.floats(0, 1)
counts = st.lists(st.integers(0, 10_000), min_size=5, max_size=5)


def drawn(svg):
    """The drawing, well-formed, with a title and description it refers to."""
    root = Tree.fromstring(svg)
    assert root.get("role") == "img"
    ids = {each.get("id") for each in root}
    assert set(root.get("aria-labelledby").split()) <= ids
    assert "nan" not in svg
    for percent in re.findall(r'="(-?[\d.]+)%"', svg):
        assert 0 <= float(percent) <= 100.01
    return root


@given(st.lists(st.integers(0, 10_000), min_size=10, max_size=10))
def test_a_histogram_stays_in_its_frame(totals):
    for svg in (histogram(totals, name="h"), histogram(totals, name="s", label="<billing>")):
        for bar in drawn(svg).findall("rect"):
            assert float(bar.get("height")) >= 0
            assert float(bar.get("y")) >= 0


@given(counts)
def test_the_parts_of_a_grade_bar_fill_it(numbers):
    figures = CriterionFigures("tone", dict(enumerate(numbers)), sum(numbers), 2.0, None)
    row = ("tone", figures)
    widths = [float(bar.get("width")[:-1]) for bar in drawn(grade_bars([row], name="g", title="t")).findall("rect")]
    assert sum(widths) == pytest.approx(100, abs=0.1)


@given(shares, shares, shares)
def test_a_figure_with_its_interval_stays_on_its_scale(value, low, high):
    interval = Interval(min(low, high), max(low, high), "Wilson")
    measure = Headline("pass_rate", value, interval, 9, Target(0.7, None, "70–80 %"), value >= 0.7, "")
    drawn(measure_strip(measure, "share", name="m"))
    drawn(rate_strip(value, interval, name="r", label="billing"))
    drawn(change_strip(value - 0.5, Interval(-0.5, 0.5, "Wilson"), reach=0.5, name="c", label="billing"))


def test_what_has_no_value_has_no_point():
    measure = Headline("safety_failures", None, None, 0, Target(None, 0.0, "0 %"), False, "")
    assert drawn(measure_strip(measure, "share", name="m")).findall("circle") == []
    assert drawn(rate_strip(None, None, name="r", label="x")).findall("circle") == []


def test_a_target_of_none_at_all_is_a_line_at_its_place():
    measure = Headline("safety_failures", 0.1, None, 9, Target(None, 0.0, "0 %"), False, "")
    (goal,) = [
        each for each in drawn(measure_strip(measure, "share", name="m")).findall("line") if each.get("class") == "goal"
    ]
    assert goal.get("x1") == "0%"


def test_a_reliability_diagram_has_a_point_for_each_bin_that_holds_replies():
    found = reliability([0.05, 0.95, 0.95], [False, True, False])
    assert len(drawn(reliability_diagram(found, name="r")).findall("circle")) == 2


def test_a_name_from_outside_is_text_in_a_drawing():
    row = ("<script>\x1b[31m", CriterionFigures("tone", {0: 1, 1: 0, 2: 0, 3: 0, 4: 0}, 1, 0.0, None))
    assert drawn(grade_bars([row], name="g", title="<b>")).find("text").text == "<script>"
