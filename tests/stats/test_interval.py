"""Rates get Wilson's interval, and the rule of three where nothing was seen."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from touchstone.stats.interval import (
    Interval,
    difference_of_independent,
    rare_interval,
    rule_of_three,
    wilson,
    wilson_rate,
)

COUNTS = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS)
def test_wilson_equals_statsmodels(count):
    successes, n = count
    low, high = proportion_confint(successes, n, alpha=0.05, method="wilson")
    interval = wilson(successes, n)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)
    assert interval.low <= successes / n <= interval.high
    assert (interval.method, interval.level) == ("Wilson", 0.95)


@given(COUNTS)
def test_wilson_mirrors_itself(count):
    successes, n = count
    one, other = wilson(successes, n), wilson(n - successes, n)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-12)


@pytest.mark.parametrize(("n", "high"), [(0, 1.0), (1, 1.0), (3, 1.0), (4, 0.75), (150, 0.02), (3000, 0.001)])
def test_no_event_in_n_leaves_three_out_of_n(n, high):
    assert rule_of_three(n) == Interval(0.0, high, "rule of three")


@pytest.mark.parametrize("n", [20, 150, 1000])
def test_at_the_rule_s_bound_no_event_has_a_chance_of_about_one_in_twenty(n):
    assert (1 - rule_of_three(n).high) ** n == pytest.approx(0.05, abs=0.012)


def test_a_rare_event_gets_the_rule_only_when_it_did_not_occur():
    assert rare_interval(0, 150) == rule_of_three(150)
    assert rare_interval(1, 150) == wilson(1, 150)
    assert rare_interval(150, 150) == wilson(150, 150)


def test_nothing_counted_says_nothing():
    assert wilson(0, 0) == Interval(0.0, 1.0, "Wilson")


def test_a_mean_of_shares_has_the_interval_of_the_count_it_comes_to():
    assert wilson_rate(0.75, 20) == wilson(15, 20)


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (0, -1)])
def test_a_count_beyond_its_trials_is_refused(successes, n):
    with pytest.raises(ValueError, match="is no count"):
        wilson(successes, n)


@pytest.mark.parametrize("n", [24, 50, 150])
def test_wilson_covers_at_its_level_on_average_over_all_rates(n):
    # Exact: the chance of every count times whether its interval holds the rate.
    rates = [step / 100 for step in range(2, 99)]
    intervals = [wilson(k, n) for k in range(n + 1)]
    covered = [
        math.fsum(
            chance
            for chance, interval in zip(stats.binom.pmf(range(n + 1), n, rate), intervals, strict=True)
            if interval.low <= rate <= interval.high
        )
        for rate in rates
    ]
    assert math.fsum(covered) / len(covered) == pytest.approx(0.95, abs=0.006)
    assert min(covered) > 0.83


@given(COUNTS, COUNTS)
def test_the_difference_of_two_independent_shares_equals_newcombes_of_statsmodels(one, other):
    low, high = confint_proportions_2indep(*other, *one, compare="diff", method="newcomb")
    found = difference_of_independent(one[0] / one[1], wilson(*one), other[0] / other[1], wilson(*other))
    assert (found.low, found.high) == pytest.approx((max(-1.0, low), min(1.0, high)), abs=1e-9)
