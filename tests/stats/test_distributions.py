"""The quantiles and tails that are computed here equal SciPy's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from touchstone.stats.distributions import fair_coin_tail, two_sided, two_sided_t

LEVELS = [0.5, 0.8, 0.9, 0.95, 0.99]


@pytest.mark.parametrize("level", LEVELS)
def test_the_normal_quantile_is_scipy_s(level):
    assert two_sided(level) == pytest.approx(stats.norm.ppf((1 + level) / 2), rel=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 10, 23, 29, 99, 199, 200, 201, 202, 1000, 100_000])
def test_student_s_quantile_is_scipy_s(level, degrees):
    assert two_sided_t(level, degrees) == pytest.approx(stats.t.ppf((1 + level) / 2, degrees), rel=1e-7)


@given(st.integers(0, 3000).flatmap(lambda n: st.tuples(st.integers(-1, n), st.just(n))))
def test_the_coin_s_tail_is_scipy_s(throws):
    k, n = throws
    # SciPy's own tail breaks off a little before the smallest numbers.
    assert fair_coin_tail(k, n) == pytest.approx(stats.binom.cdf(k, n, 0.5), rel=1e-9, abs=1e-290)


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5])
def test_a_level_outside_its_range_is_refused(level):
    with pytest.raises(ValueError, match="not between 0 and 1"):
        two_sided(level)


def test_student_s_quantile_needs_a_degree_of_freedom():
    with pytest.raises(ValueError, match="at least 1"):
        two_sided_t(0.95, 0)
