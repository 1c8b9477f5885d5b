"""Stratified samples of rows: every stratum, its share, and the same rows each time."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.errors import ConfigError
from touchstone.goldset.strata import NONE, draw

rows = st.lists(
    st.fixed_dictionaries({"category": st.sampled_from(["a", "b", "c", "", None]), "n": st.integers(0, 2)}),
    min_size=1,
    max_size=60,
)


@given(rows, st.integers(5, 80), st.integers(0, 5))
def test_a_sample_has_n_rows_in_order_and_at_least_one_of_every_stratum(many, n, seed):
    sample = draw(many, n=n, by=["category"], seed=seed)
    assert len(sample.drawn) == min(n, len(many))
    assert list(sample.drawn) == sorted(set(sample.drawn))
    assert all(1 <= stratum.drawn <= stratum.rows for stratum in sample.strata)
    assert sum(stratum.rows for stratum in sample.strata) == len(many)
    counts = Counter(many[at]["category"] or NONE for at in sample.drawn)
    assert counts == {stratum.name: stratum.drawn for stratum in sample.strata}
    assert sample == draw(many, n=n, by=["category"], seed=seed)


def test_shares_are_kept_by_largest_remainder():
    many = [{"c": name} for name in "a" * 50 + "b" * 33 + "c" * 16 + "d"]
    sample = draw(many, n=10, by=["c"], seed=7)
    assert {stratum.name: stratum.drawn for stratum in sample.strata} == {"a": 5, "b": 3, "c": 1, "d": 1}


def test_another_seed_draws_other_rows():
    many = [{"c": "x"} for _ in range(100)]
    assert len({draw(many, n=10, by=["c"], seed=seed).drawn for seed in range(5)}) == 5


def test_several_fields_make_a_stratum_of_each_combination():
    many = [{"c": c, "n": n} for c in "ab" for n in (1, 2) for _ in range(3)]
    assert [s.name for s in draw(many, n=4, by=["c", "n"], seed=0).strata] == ["a · 1", "a · 2", "b · 1", "b · 2"]


def test_rows_without_the_field_are_a_stratum_of_their_own():
    sample = draw([{"c": "a"}, {}, {"c": None}, {"c": " "}], n=2, by=["c"], seed=0)
    assert {s.name: (s.rows, s.drawn) for s in sample.strata} == {"a": (1, 1), NONE: (3, 1)}
    assert sample.lacking == {"c": 3}


@pytest.mark.parametrize(
    ("n", "by", "message"),
    [
        (2, ["category"], "--n 2 is fewer than the 3 strata by category: give at least 3, or stratify by fewer fields"),
        (3, ["catgory"], "--by catgory: no row has that field; nearest is 'category'"),
        (3, ["Category"], "--by Category: no row has that field; nearest is 'category'"),
        (3, ["zzz"], "--by zzz: no row has that field; the fields are category, id"),
    ],
)
def test_what_cannot_be_sampled_is_said_with_what_can(n, by, message):
    many = [{"category": name, "id": name} for name in "abcc"]
    with pytest.raises(ConfigError) as raised:
        draw(many, n=n, by=by, seed=0)
    assert str(raised.value) == message
