"""The drawing of pass rates over time."""

from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from touchstone.service.figures import RunOutline
from touchstone.service.pages.render import _environment
from touchstone.stats.interval import Interval


def line(at, *, rate, interval=None, name="second"):
    run = SimpleNamespace(id=str(at), started=f"2026-01-{5 + 7 * at:02}T09:00:00+00:00")
    return run, name, RunOutline(replies=9, scored=9, unsafe=0, pass_rate=rate, interval=interval)


LINES = [
    line(0, rate=0.2, interval=Interval(0.1, 0.4, "Wilson"), name="<b>first</b>"),
    line(1, rate=0.9, interval=Interval(0.7, 1.0, "Wilson")),
]


def draw(lines, *, target=None):
    return str(_environment().get_template("trend.html").module.draw(lines, target))


@pytest.mark.parametrize("lines", [LINES[:1], LINES, [*LINES, line(2, rate=None)]])
def test_every_run_with_a_rate_is_a_point_that_leads_to_it(lines):
    drawn = ElementTree.fromstring(draw(lines, target=(0.7, 0.8)))
    links = [link.get("href") for link in drawn.iter("a")]
    assert links == [f"/runs/{run.id}" for run, _, outline in lines if outline.pass_rate is not None]


def test_the_target_is_a_band_where_there_is_one():
    assert 'class="aim"' in draw(LINES, target=(0.7, 0.8))
    assert 'class="aim"' not in draw(LINES)


def test_a_higher_rate_is_drawn_higher():
    drawn = ElementTree.fromstring(draw(LINES))
    low, high = (float(circle.get("cy")) for circle in drawn.iter("circle"))
    assert high < low
