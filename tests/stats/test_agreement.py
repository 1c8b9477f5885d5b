"""Kappa equals scikit-learn's, alpha the reference implementation's, and both are None where there is no chance."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from touchstone.stats.agreement import confusion, kappa_interval, krippendorff_alpha, weighted_kappa
from touchstone.stats.interval import Interval

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=80)
WEIGHTS = st.sampled_from(["quadratic", None])


@given(PAIRS)
def test_the_confusion_table_equals_scikit_learn(pairs):
    a, b = zip(*pairs, strict=True)
    assert np.array_equal(confusion(a, b), confusion_matrix(a, b, labels=range(5)))


@given(PAIRS, WEIGHTS)
def test_kappa_equals_scikit_learn(pairs, weights):
    a, b = zip(*pairs, strict=True)
    assume(len({*a, *b}) > 1)
    theirs = cohen_kappa_score(a, b, labels=range(5), weights=weights)
    assert weighted_kappa(a, b, weights=weights) == pytest.approx(theirs, abs=1e-12)
    assert weighted_kappa(b, a, weights=weights) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [([], []), ([3, 3, 3], [3, 3, 3])])
def test_kappa_is_undefined_where_there_is_nothing_to_agree_on(a, b):
    assert weighted_kappa(a, b) is None
    assert kappa_interval(a, b) is None


@given(PAIRS, WEIGHTS)
def test_the_interval_holds_kappa_and_ignores_order(pairs, weights):
    a, b = zip(*pairs, strict=True)
    interval = kappa_interval(a, b, weights=weights, draws=200)
    kappa = weighted_kappa(a, b, weights=weights)
    assert (interval is None) == (kappa is None or len(a) < 2)
    if interval:
        assert -1 - 1e-9 <= interval.low <= kappa + 1e-9
        assert kappa - 1e-9 <= interval.high <= 1 + 1e-9
        assert kappa_interval(a[::-1], b[::-1], weights=weights, draws=200) == interval


def test_raters_who_never_differ_leave_what_the_rule_of_three_leaves():
    # Half and half: chance differs in one of two; 3/30 over 1/2 is 0.2.
    grades = [0, 4] * 15
    assert kappa_interval(grades, grades) == Interval(pytest.approx(0.8), 1.0, "rule of three")
    assert kappa_interval([0, 4], [0, 4]).low == -1.0


def noisy_table(noise):
    shares = np.array([0.03, 0.07, 0.15, 0.35, 0.40])
    near = np.exp(-np.abs(np.subtract.outer(np.arange(5), np.arange(5))) / noise)
    return shares[:, None] * near / near.sum(axis=1, keepdims=True)


def kappa_coverage(noise, n, runs):
    table, generator = noisy_table(noise), np.random.default_rng(n)
    apart = np.subtract.outer(np.arange(5), np.arange(5)) ** 2
    truth = 1 - (table * apart).sum() / (np.outer(table.sum(axis=1), table.sum(axis=0)) * apart).sum()
    held = 0
    for _ in range(runs):
        cells = generator.choice(25, size=n, p=table.ravel())
        interval = kappa_interval((cells // 5).tolist(), (cells % 5).tolist(), draws=1000)
        held += interval.low <= truth <= interval.high
    return held / runs


def test_the_interval_of_kappa_covers_at_its_level():
    assert kappa_coverage(0.7, 100, 300) >= 0.91


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.35, 0.7, 1.5])
@pytest.mark.parametrize("n", [24, 50, 150])
def test_the_interval_of_kappa_covers_for_weak_and_strong_agreement(noise, n):
    assert kappa_coverage(noise, n, 500) >= 0.89


RATING = st.none() | st.integers(0, 4)
RATINGS = st.integers(2, 4).flatmap(
    lambda raters: st.lists(st.lists(RATING, min_size=raters, max_size=raters), min_size=1, max_size=25)
)


@given(RATINGS)
def test_alpha_equals_the_reference_implementation(units):
    rows = [list(row) for row in zip(*units, strict=True)]
    alpha = krippendorff_alpha(rows)
    pairable = {value for unit in units if sum(v is not None for v in unit) > 1 for value in unit if value is not None}
    assert (alpha is None) == (len(pairable) < 2)
    if alpha is not None:
        data = np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=float)
        theirs = krippendorff.alpha(reliability_data=data, level_of_measurement="ordinal")
        assert alpha == pytest.approx(theirs, abs=1e-9)


def test_full_agreement_is_one_whoever_rated():
    assert krippendorff_alpha([[0, 4, 2, None], [0, 4, None, 3], [None, 4, 2, 3]]) == pytest.approx(1.0)


@pytest.mark.parametrize("ratings", [[], [[]], [[1, 2], [None, None]], [[3, 3], [3, 3]], [[1, None], [None, 2]]])
def test_alpha_is_undefined_without_two_different_ratings_that_can_be_paired(ratings):
    assert krippendorff_alpha(ratings) is None


BAD = [
    (lambda: confusion([1], [1, 2]), "same replies"),
    (lambda: confusion([5], [1]), "allowed are 0 to 4"),
    (lambda: confusion([1], [-1]), "allowed are 0 to 4"),
    (lambda: krippendorff_alpha([[1, 2], [1]]), "different length"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_what_is_no_pair_of_grades_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
