"""Means get BCa bootstrap intervals that hold their level on grades and do not depend on how they are computed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from touchstone.stats import resampling
from touchstone.stats.interval import Interval
from touchstone.stats.resampling import bootstrap_mean, bootstrap_mean_of_counts, clustered_bootstrap_mean

GRADES = st.lists(st.integers(0, 4), min_size=2, max_size=60)


@given(GRADES, st.randoms())
@settings(max_examples=30)
def test_the_interval_holds_the_mean_stays_on_the_scale_and_ignores_order(grades, chance):
    interval = bootstrap_mean(grades, draws=300)
    shuffled = list(grades)
    chance.shuffle(shuffled)
    assert min(grades) - 1e-9 <= interval.low <= np.mean(grades) + 1e-9
    assert np.mean(grades) - 1e-9 <= interval.high <= max(grades) + 1e-9
    assert bootstrap_mean(shuffled, draws=300) == interval


@given(GRADES, st.floats(-10, 10))
@settings(max_examples=30)
def test_the_interval_moves_with_the_values(grades, shift):
    interval, moved = bootstrap_mean(grades, draws=300), bootstrap_mean([grade + shift for grade in grades], draws=300)
    assert (moved.low - shift, moved.high - shift) == pytest.approx((interval.low, interval.high), abs=1e-6)


@pytest.mark.parametrize("values", [[], [3.0]])
def test_fewer_than_two_values_have_no_interval(values):
    assert bootstrap_mean(values) is None


def test_values_that_do_not_vary_have_the_rule_of_three_within_bounds_and_no_width_without():
    assert bootstrap_mean([4] * 30) == Interval(4.0, 4.0, "bootstrap")
    bounded = bootstrap_mean([4] * 30, bounds=(0, 4))
    assert (bounded.low, bounded.high, bounded.method) == (pytest.approx(3.6), 4.0, "rule of three")


def test_the_same_seed_gives_the_same_interval_and_another_a_near_one(monkeypatch):
    values = np.random.default_rng(1).integers(0, 5, 150).tolist()
    first, again = bootstrap_mean(values), bootstrap_mean(values)
    monkeypatch.setattr(resampling, "SEED", 8)
    other = bootstrap_mean(values)
    assert first == again
    assert (first.low, first.high) == pytest.approx((other.low, other.high), abs=0.04)


def test_counting_kinds_equals_drawing_every_value(monkeypatch):
    values = np.random.default_rng(2).choice(5, size=400, p=[0.03, 0.07, 0.15, 0.35, 0.4]).tolist()
    by_kind = bootstrap_mean(values, draws=8000)
    monkeypatch.setattr(resampling, "FEW_KINDS", 0)
    one_by_one = bootstrap_mean(values, draws=8000)
    assert (by_kind.low, by_kind.high) == pytest.approx((one_by_one.low, one_by_one.high), abs=0.012)


@pytest.mark.parametrize("shape", [0.5, 4.0])
def test_the_shortcut_for_many_different_values_equals_drawing_them(shape, monkeypatch):
    values = np.random.default_rng(3).gamma(shape, size=2500)
    short = bootstrap_mean(values.tolist())
    monkeypatch.setattr(resampling, "MANY_UNITS", 10_000)
    drawn = bootstrap_mean(values.tolist(), draws=4000)
    error = values.std() / 50
    assert (short.low, short.high) == pytest.approx((drawn.low, drawn.high), abs=0.15 * error)


def test_the_interval_is_near_scipy_s_bca_for_many_values():
    values = np.random.default_rng(4).choice(5, size=300, p=[0.03, 0.07, 0.15, 0.35, 0.4])
    theirs = stats.bootstrap((values,), np.mean, n_resamples=9999, rng=np.random.default_rng(5)).confidence_interval
    ours = bootstrap_mean(values.tolist(), draws=9999)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.012)


@pytest.mark.parametrize("kind", ["grades", "points"])
def test_the_interval_of_a_hundred_thousand_values_is_the_normal_one(kind):
    generator = np.random.default_rng(6)
    values = (generator.integers(0, 5, 100_000) if kind == "grades" else generator.random(100_000)).tolist()
    interval = bootstrap_mean(values)
    assert interval.high - interval.low == pytest.approx(3.92 * np.std(values) / np.sqrt(100_000), rel=0.08)


def test_clusters_of_one_are_plain_values():
    values = [0, 4, 3, 3, 2, 4, 4, 1]
    assert clustered_bootstrap_mean(values, list("abcdefgh")) == bootstrap_mean(values)


def test_repeating_every_value_in_its_cluster_adds_no_certainty():
    values = [0, 4, 3, 3, 2, 4, 4, 1]
    once, thrice = bootstrap_mean(values), clustered_bootstrap_mean(values * 3, list("abcdefgh") * 3)
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high))
    assert thrice.high - thrice.low > 1.3 * (bootstrap_mean(values * 3).high - bootstrap_mean(values * 3).low)


def test_one_cluster_has_no_interval():
    assert clustered_bootstrap_mean([1, 2, 3], ["a", "a", "a"]) is None


@pytest.mark.parametrize(("values", "clusters"), [([1.0, 2.0], ["a"]), ([1.0, float("nan")], ["a", "b"])])
def test_values_without_a_cluster_and_values_that_are_no_number_are_refused(values, clusters):
    with pytest.raises(ValueError, match=r"cluster|finite"):
        clustered_bootstrap_mean(values, clusters)


SHAPES = {
    "spread": [0.03, 0.07, 0.15, 0.35, 0.40],
    "two heaps": [0.25, 0.05, 0.05, 0.15, 0.50],
    "mostly the best": [0.01, 0.01, 0.03, 0.10, 0.85],
}


def coverage(shape, n, runs, draws):
    generator = np.random.default_rng(n)
    truth = np.arange(5) @ np.array(SHAPES[shape])
    held = 0
    for _ in range(runs):
        interval = bootstrap_mean(generator.choice(5, size=n, p=SHAPES[shape]), draws=draws, bounds=(0, 4))
        held += interval.low <= truth <= interval.high
    return held / runs


def test_the_interval_covers_grades_at_its_level():
    assert coverage("spread", 50, 300, 500) == pytest.approx(0.95, abs=0.035)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [20, 50, 150])
def test_the_interval_covers_grades_of_every_shape_and_size(shape, n):
    assert 0.89 <= coverage(shape, n, 800, 1000) <= 0.995


@pytest.mark.slow
def test_the_clustered_interval_covers_where_the_plain_one_does_not():
    generator = np.random.default_rng(9)
    held = plain = 0
    for _ in range(500):
        ease = generator.normal(3, 0.8, size=60)
        drafts = np.clip(np.rint(ease[:, None] + generator.normal(0, 0.3, size=(60, 3))), 0, 6).ravel()
        clusters = np.repeat(np.arange(60), 3).tolist()
        one, other = clustered_bootstrap_mean(drafts, clusters, draws=1000), bootstrap_mean(drafts, draws=1000)
        held += one.low <= 3 <= one.high
        plain += other.low <= 3 <= other.high
    assert held / 500 >= 0.92
    assert plain / 500 < 0.85


@pytest.mark.parametrize("times", [1, 40, 400])
def test_counts_give_the_interval_of_the_values_they_stand_for(times):
    counts = {0.0: 3 * times, 1.0: 1 * times, 3.0: 4 * times, 4.0: 9 * times, 2.0: 0}
    values = [value for value, number in counts.items() for _ in range(number)]
    found, expected = bootstrap_mean_of_counts(counts, bounds=(0.0, 4.0)), bootstrap_mean(values, bounds=(0.0, 4.0))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert found.method == expected.method


def test_counts_of_one_value_or_of_none_are_as_values_are():
    assert bootstrap_mean_of_counts({}) is None
    assert bootstrap_mean_of_counts({4.0: 1}) is None
    alike = bootstrap_mean_of_counts({4.0: 3000}, bounds=(0.0, 4.0))
    assert (alike.low, alike.high, alike.method) == (pytest.approx(4 - 4 * 3 / 3000), 4.0, "rule of three")
