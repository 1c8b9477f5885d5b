"""A sum of shares on the scale of grades, and what of it is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.judges.model import END, TOP, GradeModel, Term, within

SUMS = st.floats(-20, 20)
STEPS = Term("steps", knots=(0.0, 1.0, 3.0), slopes=(0.4, 0.2), typical=0.3)
WARMTH = Term("warmth", knots=(0.0, 1.0), slopes=(0.05,), typical=0.04)
MODEL = GradeModel(base=2.5, terms=(STEPS, WARMTH), cuts=(0.5, 1.5, 2.5, 3.5), spread=0.5)


@given(SUMS)
def test_a_value_never_leaves_the_scale(sum_):
    assert 0 <= within(sum_) <= TOP


@given(st.floats(END, TOP - END))
def test_away_from_the_ends_a_value_is_the_sum(sum_):
    assert within(sum_) == sum_


@given(SUMS, SUMS)
def test_of_two_replies_the_better_one_keeps_the_higher_value(one, other):
    assert (within(one) - within(other)) * (one - other) >= 0


@pytest.mark.parametrize("low", [TOP - 0.2, TOP, TOP + 1, -1.0])
def test_values_beyond_the_scale_are_distinguished(low):
    assert within(low + 0.5) > within(low)
