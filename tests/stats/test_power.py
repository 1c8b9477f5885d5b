"""The number of cases asked for gives the exact test its power, and little more than is needed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.tables import over

from touchstone.stats.paired import cases_needed, mcnemar, smallest_detectable


def exact_power(n, flips, difference):
    """The chance that McNemar's exact test rejects at 5 %, summed over the number of flips."""
    upwards = (flips + difference) / (2 * flips)
    m = np.arange(n + 1)
    k = stats.binom.ppf(0.025, m, 0.5)
    k = np.where(stats.binom.cdf(k, m, 0.5) <= 0.025, k, k - 1)
    rejects = np.where(k >= 0, stats.binom.cdf(k, m, upwards) + stats.binom.sf(m - k - 1, m, upwards), 0.0)
    return float(stats.binom.pmf(m, n, flips) @ rejects)


@over("power", [0.8, 0.9])
@over("flips", [None, 0.1, 0.2, 0.3])
@over("difference", [0.03, 0.05, 0.1, -0.1, -0.2])
@over("rate", [0.5, 0.75, 0.9])
def test_the_cases_asked_for_give_the_exact_test_its_power(rate, difference, flips, power):
    n = cases_needed(difference, rate=rate, discordant=flips, power=power)
    after = rate + difference
    share = max(abs(difference), rate * (1 - after) + after * (1 - rate) if flips is None else flips)
    reached = exact_power(n, share, abs(difference))
    assert reached >= power - 0.005
    # Where nearly all flips go one way the correction asks for some more than is needed.
    if share > 2 * abs(difference):
        assert reached <= power + 0.025


def test_the_power_is_there_in_simulation_too():
    n = cases_needed(0.1, rate=0.7, discordant=0.2)
    flips = np.random.default_rng(1).multinomial(n, [0.15, 0.05, 0.8], size=4000)
    assert np.mean([mcnemar(int(up), int(down)) <= 0.05 for up, down, _ in flips]) == pytest.approx(0.81, abs=0.02)


RATES = st.floats(0.3, 0.7)


@given(RATES, st.floats(0.02, 0.2), st.floats(0.3, 0.6))
def test_more_cases_are_needed_for_less_change_more_flips_and_more_power(rate, difference, flips):
    needed = cases_needed(difference, rate=rate, discordant=flips)
    assert needed <= cases_needed(difference / 2, rate=rate, discordant=flips)
    assert needed <= cases_needed(difference, rate=rate, discordant=flips + 0.1)
    assert needed <= cases_needed(difference, rate=rate, discordant=flips, power=0.95)
    assert needed == cases_needed(-difference, rate=rate, discordant=flips)


@given(st.integers(10, 5000), st.floats(0.05, 0.95), st.none() | st.floats(0, 0.5))
def test_the_smallest_detectable_change_needs_just_that_many_cases(n, rate, flips):
    smallest = smallest_detectable(n, rate=rate, discordant=flips)
    if smallest is None:
        return
    possible = [change for change in (smallest, -smallest) if 0 <= rate + change <= 1]
    needed = [cases_needed(change, rate=rate, discordant=flips) for change in possible]
    assert max(needed) <= n
    less = [cases_needed(change * 0.99, rate=rate, discordant=flips) for change in possible]
    assert max(less) >= n


@pytest.mark.parametrize("n", [0, 1, 5])
def test_too_few_cases_show_no_change(n):
    assert smallest_detectable(n, rate=0.75) is None


def test_a_perfect_rate_can_only_fall_and_a_hopeless_one_only_rise():
    assert smallest_detectable(100, rate=1.0) == pytest.approx(smallest_detectable(100, rate=0.0))


BAD = [
    ({"difference": 0, "rate": 0.5}, "cannot change"),
    ({"difference": 0.3, "rate": 0.8}, "cannot change"),
    ({"difference": 0.1, "rate": 1.2}, "pass rate"),
    ({"difference": 0.1, "rate": 0.5, "power": 1.0}, "power"),
    ({"difference": 0.1, "rate": 0.5, "discordant": 1.5}, "flipping"),
    ({"difference": 0.1, "rate": 0.5, "discordant": -0.1}, "flipping"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_what_cannot_be_is_refused(arguments, message):
    difference = arguments.pop("difference")
    with pytest.raises(ValueError, match=message):
        cases_needed(difference, **arguments)
