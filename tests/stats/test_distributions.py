"""The quantiles, tails and tests that are computed here equal those of SciPy and statsmodels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from tests.tables import over

from touchstone.stats.distributions import NORMAL_95, benjamini_hochberg, fair_coin_tail, fisher_greater, two_sided_t

CELL = st.integers(0, 200)


def test_the_normal_quantile_is_scipy_s():
    assert pytest.approx(stats.norm.ppf(0.975), rel=1e-12) == NORMAL_95


@over("degrees", [1, 2, 3, 4, 5, 10, 23, 29, 99, 199, 200, 201, 202, 1000, 100_000])
def test_student_s_quantile_is_scipy_s(degrees):
    assert two_sided_t(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-7)


@given(st.integers(0, 3000).flatmap(lambda n: st.tuples(st.integers(-1, n), st.just(n))))
def test_the_coin_s_tail_is_scipy_s(throws):
    k, n = throws
    # SciPy's own tail breaks off a little before the smallest numbers.
    assert fair_coin_tail(k, n) == pytest.approx(stats.binom.cdf(k, n, 0.5), rel=1e-9, abs=1e-290)


def test_student_s_quantile_needs_a_degree_of_freedom():
    with pytest.raises(ValueError, match="at least 1"):
        two_sided_t(0)


@given(CELL, CELL, CELL, CELL)
def test_fisher_equals_scipy(a, b, c, d):
    theirs = stats.fisher_exact([[a, b], [c, d]], alternative="greater").pvalue
    assert fisher_greater(a, b, c, d) == pytest.approx(theirs, rel=1e-8)


@pytest.mark.parametrize("table", [(0, 0, 0, 0), (0, 5, 5, 0), (3, 0, 0, 0), (5, 0, 7, 0)])
def test_a_table_without_a_choice_has_p_one(table):
    assert fisher_greater(*table) == 1.0


def test_a_far_tail_of_a_large_table_does_not_vanish():
    theirs = stats.hypergeom.sf(899, 100_000, 10_000, 1000)
    assert fisher_greater(900, 100, 9100, 89_900) == pytest.approx(theirs, rel=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_q_values_equal_statsmodels_in_the_order_given(ps):
    assert benjamini_hochberg(ps) == pytest.approx(multipletests(ps, method="fdr_bh")[1].tolist(), rel=1e-12)


@given(st.lists(st.floats(0, 1), max_size=20))
def test_a_q_value_is_never_below_its_p_value(ps):
    assert all(p - 1e-15 <= q <= 1 for p, q in zip(ps, benjamini_hochberg(ps), strict=True))


def test_no_p_values_have_no_q_values():
    assert benjamini_hochberg([]) == []


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(p):
    with pytest.raises(ValueError, match="outside"):
        benjamini_hochberg([0.5, p])


def test_a_negative_count_is_refused():
    with pytest.raises(ValueError, match="negative"):
        fisher_greater(-1, 1, 1, 1)
