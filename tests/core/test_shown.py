"""Comparisons read true, and no cell of a table is a formula."""

from math import nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import over

from touchstone.core.shown import comparison, inert_cell, is_formula, number_beside

COMPARISONS = [
    (0.67, ">", 0.5, "0.67 > 0.50"),
    (0.0996, "<", 0.1, "0.0996 < 0.10"),
    (0.5004, ">", 0.5, "0.5004 > 0.50"),
    (0.331, "<", 0.333, "0.33 < 0.333"),
    (nextafter(0.1, 0), "<", 0.1, "0.09999999999999999 < 0.10"),
    (0.25, "=", 0.25, "0.25 = 0.25"),
]


@pytest.mark.parametrize(("value", "sign", "bound", "text"), COMPARISONS)
def test_a_comparison_has_as_many_decimals_as_it_needs(value, sign, bound, text):
    assert comparison(value, sign, bound) == text


UNITS = st.floats(0, 1)


@given(UNITS, UNITS)
def test_the_numbers_of_a_comparison_are_in_the_order_of_the_values(value, bound):
    shown, against = (float(text) for text in comparison(value, "?", bound).split(" ? "))
    assert (shown < against, shown > against) == (value < bound, value > bound)


def test_what_differs_by_rounding_alone_is_shown_as_the_bound():
    assert number_beside(100 * 0.69, 69, decimals=1, close=1e-7) == "69.0"


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\rtext",
    "\ntext",
    "＝1+1",
    "＋1",
    "－1",
    "＠SUM(A1)",
    "﹦1+1",
    " =1+1",
    "\u00a0=1+1",
    "\ufeff=1+1",
    "\u200b\x00 ＝1",
    "\x1f\x7f@x",
]


@over("cell", FORMULAS)
def test_a_cell_that_could_be_run_begins_as_text(cell):
    assert inert_cell(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", " ", "a=b", "  text", "ＡＢＣ", "1-2", "'=1", "„=“", "\u200b"])
def test_any_other_cell_stays_as_it_is(cell):
    assert inert_cell(cell) == cell
    assert not is_formula(cell)
