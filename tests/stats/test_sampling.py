"""Samples keep proportions, are the same everywhere, and have the probabilities they state."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.stats.sampling import allocate, stratified_sample, unequal_sample

SIZES = st.dictionaries(st.text(max_size=3), st.integers(0, 500), max_size=12)


@given(SIZES, st.integers(0, 2000))
def test_an_allocation_adds_up_and_takes_no_more_than_there_is(sizes, n):
    counts = allocate(sizes, n)
    assert list(counts) == list(sizes)
    assert sum(counts.values()) == min(n, sum(sizes.values()))
    assert all(0 <= counts[stratum] <= size for stratum, size in sizes.items())


@given(SIZES, st.integers(0, 2000))
def test_every_stratum_gets_one_when_there_are_enough(sizes, n):
    filled = [stratum for stratum, size in sizes.items() if size]
    if n >= len(filled):
        assert all(allocate(sizes, n)[stratum] >= 1 for stratum in filled)


@given(SIZES, st.integers(0, 2000))
def test_a_larger_stratum_never_gets_less(sizes, n):
    counts = allocate(sizes, n)
    ordered = sorted(sizes, key=lambda stratum: (sizes[stratum], counts[stratum]))
    assert [counts[stratum] for stratum in ordered] == sorted(counts.values())


@given(SIZES, st.integers(0, 2000))
def test_without_small_strata_every_count_is_within_one_of_its_share(sizes, n):
    total = sum(sizes.values())
    if total and n <= total and all(n * size >= total for size in sizes.values()):
        assert all(abs(count - n * sizes[stratum] / total) < 1 for stratum, count in allocate(sizes, n).items())


ALLOCATIONS = [
    ({"a": 50, "b": 30, "c": 20}, 10, {"a": 5, "b": 3, "c": 2}),
    ({"a": 96, "b": 2, "c": 2}, 10, {"a": 8, "b": 1, "c": 1}),
    ({"a": 1, "b": 1, "c": 1}, 2, {"a": 1, "b": 1, "c": 0}),
    ({"a": 3, "b": 2}, 99, {"a": 3, "b": 2}),
    ({"a": 0, "b": 9}, 3, {"a": 0, "b": 3}),
    ({"a": 7}, 0, {"a": 0}),
    ({}, 5, {}),
]


@pytest.mark.parametrize(("sizes", "n", "counts"), ALLOCATIONS)
def test_allocations_known_by_hand(sizes, n, counts):
    assert allocate(sizes, n) == counts


STRATA = st.lists(st.sampled_from(["refund", "delivery", "account", None, ("a", 1)]), max_size=120)


@given(STRATA, st.integers(0, 150), st.integers(0, 9))
def test_a_stratified_sample_is_ascending_distinct_and_as_allocated(strata, n, seed):
    places = stratified_sample(strata, n, seed=seed)
    assert places == sorted(set(places))
    taken = Counter(strata[place] for place in places)
    assert taken == Counter(allocate(Counter(strata), n))


def test_a_sample_does_not_depend_on_the_process():
    strata = [("refund", "delivery", "account")[place % 3] for place in range(60)]
    code = (
        "from touchstone.stats.sampling import stratified_sample as s, unequal_sample as u;"
        "print(s([('refund', 'delivery', 'account')[i % 3] for i in range(60)], 7, seed=7),"
        "u([1 + i % 4 for i in range(60)], 5, seed=7).indices)"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hashing, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for hashing in ("0", "1")
    }
    here = stratified_sample(strata, 7, seed=7), unequal_sample([1 + i % 4 for i in range(60)], 5, seed=7).indices
    assert said == {f"{here[0]} {here[1]}"}


def test_a_sample_is_fixed_for_good():
    assert stratified_sample(["a"] * 20 + ["b"] * 10, 6, seed=7) == [3, 4, 7, 12, 20, 26]
    assert unequal_sample([3.0] * 5 + [1.0] * 25, 4, seed=7).indices == (10, 12, 13, 29)


def test_over_seeds_every_case_of_a_stratum_is_as_likely():
    strata = ["a"] * 12 + ["b"] * 6
    drawn = Counter(place for seed in range(1500) for place in stratified_sample(strata, 6, seed=seed))
    assert all(abs(drawn[place] / 1500 - 1 / 3) < 0.05 for place in range(18))


WEIGHTS = st.lists(st.floats(0.01, 100), min_size=1, max_size=60)


@given(WEIGHTS, st.integers(0, 70), st.integers(0, 5))
def test_an_unequal_sample_has_its_size_and_probabilities_in_proportion(weights, n, seed):
    sample = unequal_sample(weights, n, seed=seed)
    assert list(sample.indices) == sorted(set(sample.indices))
    assert len(sample.indices) == len(sample.inclusion) == min(n, len(weights))
    assert all(0 < chance <= 1 for chance in sample.inclusion)
    ratios = [
        chance / weights[place] for place, chance in zip(sample.indices, sample.inclusion, strict=True) if chance < 1
    ]
    assert ratios == pytest.approx([ratios[0]] * len(ratios)) if ratios else True


def test_over_seeds_every_case_is_drawn_at_its_stated_probability():
    weights = [1.0] * 10 + [3.0] * 5 + [40.0]
    drawn, stated = Counter(), {}
    for seed in range(2000):
        sample = unequal_sample(weights, 5, seed=seed)
        drawn.update(sample.indices)
        stated.update(zip(sample.indices, sample.inclusion, strict=True))
    assert stated[15] == 1.0
    assert sum(stated.values()) == pytest.approx(5)
    assert all(abs(drawn[place] / 2000 - chance) < 0.045 for place, chance in stated.items())


def test_with_strata_each_gets_its_expected_number_give_or_take_one():
    strata = [("refund", "delivery")[place % 4 == 0] for place in range(100)]
    for seed in range(200):
        sample = unequal_sample([1.0] * 100, 20, seed=seed, strata=strata)
        assert Counter(strata[place] for place in sample.indices)["delivery"] in (4, 5, 6)


def test_the_weighted_mean_over_seeds_is_the_true_mean():
    values = np.arange(30) ** 2
    weights = [1.0 + place % 3 for place in range(30)]
    totals = [
        sum(values[place] / chance for place, chance in zip(sample.indices, sample.inclusion, strict=True))
        for sample in (unequal_sample(weights, 8, seed=seed) for seed in range(1500))
    ]
    assert np.mean(totals) == pytest.approx(values.sum(), rel=0.03)


BAD = [
    (lambda: allocate({"a": -1}, 2), "negative"),
    (lambda: allocate({"a": 1}, -2), "negative"),
    (lambda: unequal_sample([1.0, 0.0], 1, seed=1), "above 0"),
    (lambda: unequal_sample([1.0, float("inf")], 1, seed=1), "above 0"),
    (lambda: unequal_sample([1.0], -1, seed=1), "negative"),
    (lambda: unequal_sample([1.0], 1, seed=1, strata=[]), "stratum"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
