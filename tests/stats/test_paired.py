"""Before and after on the same cases: exact tests equal SciPy's, intervals hold their level."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from touchstone.stats import paired
from touchstone.stats.interval import Interval
from touchstone.stats.paired import mcnemar, paired_difference, paired_p

FLIPS = st.integers(0, 400)


@given(FLIPS, FLIPS)
def test_mcnemar_equals_scipy_and_statsmodels(improved, regressed):
    p = mcnemar(improved, regressed)
    if improved + regressed:
        assert p == pytest.approx(stats.binomtest(improved, improved + regressed).pvalue, rel=1e-9)
    reference = statsmodels_mcnemar([[5, improved], [regressed, 5]], exact=True).pvalue if improved + regressed else 1
    assert p == pytest.approx(reference, rel=1e-9)
    assert p == mcnemar(regressed, improved)


@pytest.mark.parametrize(("improved", "regressed", "p"), [(0, 0, 1.0), (1, 0, 1.0), (6, 0, 0.03125), (5, 5, 1.0)])
def test_mcnemar_on_counts_known_by_hand(improved, regressed, p):
    assert mcnemar(improved, regressed) == pytest.approx(p, rel=1e-12)


def test_mcnemar_stands_a_hundred_thousand_flips():
    assert mcnemar(50_500, 49_500) == pytest.approx(stats.binomtest(50_500, 100_000).pvalue, rel=1e-6)
    assert mcnemar(100_000, 0) == 0.0


TABLES = st.tuples(*[st.integers(0, 300)] * 4)


@given(TABLES)
def test_the_interval_holds_the_difference_has_width_and_mirrors(table):
    both, after, before, neither = table
    interval = paired_difference(*table)
    mirrored = paired_difference(both, before, after, neither)
    n = sum(table)
    assert -1 <= interval.low < interval.high <= 1
    assert interval.low - 1e-12 <= ((after - before) / n if n else 0) <= interval.high + 1e-12
    assert (mirrored.low, mirrored.high) == pytest.approx((-interval.high, -interval.low))


def test_no_pairs_leave_everything_open():
    assert paired_difference(0, 0, 0, 0) == Interval(-1.0, 1.0, "Bonett–Price")


def test_bonett_and_price_s_own_arithmetic():
    # 20 pairs, 6 up and 2 down: 7/22 - 3/22, with variance (10/22 - (4/22)²) / 22.
    half = 1.959964 * ((10 / 22 - (4 / 22) ** 2) / 22) ** 0.5
    interval = paired_difference(10, 6, 2, 2)
    assert (interval.low, interval.high) == pytest.approx((4 / 22 - half, 4 / 22 + half), abs=1e-6)


@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize(("up", "down"), [(0.02, 0.02), (0.07, 0.03), (0.1, 0.1), (0.2, 0.05)])
def test_the_interval_of_a_difference_covers_at_its_level(n, up, down):
    # Exact: only the flips matter, so every pair of counts is weighed by its chance.
    held = 0.0
    for after, before in itertools.product(range(n + 1), repeat=2):
        if after + before <= n:
            interval = paired_difference(n - after - before, after, before, 0)
            if interval.low <= up - down <= interval.high:
                rest = n - after - before
                held += stats.multinomial.pmf([after, before, rest], n, [up, down, 1 - up - down])
    assert held >= 0.94


GRADE_CHANGES = st.lists(st.integers(-4, 4), min_size=1, max_size=12)


@given(GRADE_CHANGES)
@settings(max_examples=50)
def test_the_sign_flip_test_tries_every_choice_of_signs(changes):
    observed = abs(sum(changes))
    sums = [
        abs(sum(s * c for s, c in zip(signs, changes, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(changes))
    ]
    assert paired_p(changes) == pytest.approx(np.mean([total >= observed for total in sums]), rel=1e-9)


def test_the_sign_flip_test_equals_scipy_off_the_grid():
    changes = np.random.default_rng(1).normal(0.4, 1, size=11)
    theirs = stats.permutation_test((changes,), np.sum, permutation_type="samples", n_resamples=np.inf).pvalue
    assert paired_p(changes.tolist()) == pytest.approx(theirs, rel=1e-9)


def test_on_grades_the_test_of_flips_alone_is_mcnemar_s():
    assert paired_p([1] * 9 + [-1] * 3 + [0] * 88) == pytest.approx(mcnemar(9, 3), rel=1e-9)


@pytest.mark.parametrize("changes", [[], [0, 0, 0], [1, -1], [0.5, -0.5, 0]])
def test_no_change_has_p_one(changes):
    assert paired_p(changes) == 1.0


@pytest.mark.parametrize("way", ["drawn", "normal"])
def test_the_ways_to_the_p_value_agree(way, monkeypatch):
    changes = np.random.default_rng(2).integers(-2, 4, size=60).tolist()
    exact = paired_p(changes)
    monkeypatch.setattr(paired, "GRID", 0)
    if way == "normal":
        monkeypatch.setattr(paired, "MANY", 0)
    assert paired_p(changes, draws=100_000) == pytest.approx(exact, rel=0.15, abs=0.003)


def test_the_p_value_of_a_hundred_thousand_differences_is_quick_and_never_negative():
    generator = np.random.default_rng(3)
    assert 0 <= paired_p(generator.normal(0.02, 1, 100_000).tolist()) < 0.01
    assert 0 <= paired_p(generator.integers(-4, 5, 100_000).tolist()) <= 1


def test_under_no_change_small_p_values_are_as_rare_as_they_say():
    generator = np.random.default_rng(4)
    ps = [paired_p(generator.integers(-2, 3, size=40).tolist()) for _ in range(600)]
    assert np.mean([p <= 0.05 for p in ps]) <= 0.075


@pytest.mark.parametrize(
    "call", [lambda: mcnemar(-1, 2), lambda: paired_difference(1, -1, 0, 0), lambda: paired_p([1, float("nan")])]
)
def test_what_is_no_count_or_number_is_refused(call):
    with pytest.raises(ValueError, match=r"negative|finite"):
        call()
