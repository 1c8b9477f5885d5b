"""The drawing of pass rates over time."""

from xml.etree import ElementTree

import pytest

from touchstone.service.pages.trend import Spot, draw_trend
from touchstone.stats.interval import Interval

SPOTS = [
    Spot("/runs/0", "<b>first</b>", "2026-01-05", 0.2, Interval(0.1, 0.4, "Wilson")),
    Spot("/runs/1", "second", "2026-01-12", 0.9, Interval(0.7, 1.0, "Wilson")),
]


@pytest.mark.parametrize("spots", [SPOTS[:1], SPOTS, [*SPOTS, Spot("/runs/3", "none", "2026-01-19", None, None)]])
def test_every_run_with_a_rate_is_a_point_that_leads_to_it(spots):
    drawn = ElementTree.fromstring(draw_trend(spots, target=(0.7, 0.8)))
    links = [link.get("href") for link in drawn.iter("a")]
    assert links == [spot.href for spot in spots if spot.value is not None]


def test_the_target_is_a_band_where_there_is_one():
    assert 'class="aim"' in draw_trend(SPOTS, target=(0.7, 0.8))
    assert 'class="aim"' not in draw_trend(SPOTS, target=None)


def test_a_higher_rate_is_drawn_higher():
    drawn = ElementTree.fromstring(draw_trend(SPOTS, target=None))
    low, high = (float(circle.get("cy")) for circle in drawn.iter("circle"))
    assert high < low
