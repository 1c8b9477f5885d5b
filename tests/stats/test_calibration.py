"""The reliability table holds every confidence once, and its figures equal their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from touchstone.stats.calibration import ReliabilityBin, reliability
from touchstone.stats.interval import wilson

PAIRS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=80)


@given(PAIRS, st.integers(1, 20))
def test_every_reply_is_in_one_bin_and_the_figures_follow_from_the_bins(pairs, bins):
    confidences, outcomes = zip(*pairs, strict=True)
    table = reliability(confidences, outcomes, bins=bins)
    filled = [part for part in table.bins if part.n]
    assert (len(table.bins), sum(part.n for part in table.bins), table.n) == (bins, len(pairs), len(pairs))
    assert table.ece == pytest.approx(
        sum(part.n * abs(part.accuracy - part.mean_confidence) for part in filled) / table.n
    )
    assert all(part.low - 1e-9 <= part.mean_confidence <= part.high + 1e-9 for part in filled)
    assert table.mean_confidence == pytest.approx(np.mean(confidences))
    assert table.accuracy == pytest.approx(np.mean(outcomes))


@given(PAIRS)
def test_the_brier_score_equals_scikit_learn(pairs):
    confidences, outcomes = zip(*pairs, strict=True)
    theirs = brier_score_loss(outcomes, confidences, labels=[False, True])
    assert reliability(confidences, outcomes).brier == pytest.approx(theirs, abs=1e-12)


PLACES = [(0.0, 0), (0.05, 0), (0.1, 1), (0.3, 3), (0.6, 6), (0.7, 7), (0.999, 9), (1.0, 9)]


@pytest.mark.parametrize(("confidence", "place"), PLACES)
def test_an_edge_belongs_to_the_bin_above_and_one_to_the_last(confidence, place):
    counts = [part.n for part in reliability([confidence], [True]).bins]
    assert counts.index(1) == place


def test_a_bin_by_hand():
    table = reliability([0.9, 0.95, 0.92, 0.2], [True, True, False, False])
    last = table.bins[9]
    assert (last.n, last.accuracy, last.interval) == (3, 2 / 3, wilson(2, 3))
    assert last.mean_confidence == pytest.approx(0.92333333)
    assert table.bins[5] == ReliabilityBin(0.5, 0.6, 0, None, None, None)
    assert table.ece == pytest.approx((abs(2 - 2.77) + 0.2) / 4)


def test_nothing_stated_has_no_reliability():
    assert reliability([], []) is None


BAD = [
    ([1.2], [True], 10, "outside"),
    ([float("nan")], [True], 10, "outside"),
    ([0.5], [], 10, "each"),
    ([0.5], [True], 0, "at least"),
]


@pytest.mark.parametrize(("confidences", "outcomes", "bins", "message"), BAD)
def test_what_is_no_confidence_is_refused(confidences, outcomes, bins, message):
    with pytest.raises(ValueError, match=message):
        reliability(confidences, outcomes, bins=bins)
