"""Waits grow with each attempt, are spread by chance, and are as long as the server asks."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import over

from touchstone.clients.http import Backoff, retry_after

NOW = datetime(2025, 3, 3, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(("attempt", "most"), [(1, 0.5), (2, 1), (3, 2), (6, 16), (7, 30), (8, 30), (10_000, 30)])
def test_the_longest_wait_doubles_up_to_a_limit(attempt, most):
    assert Backoff(chance=lambda: 1.0).wait(attempt) == most
    assert Backoff(chance=lambda: 0.5).wait(attempt) == most / 2
    assert Backoff(chance=lambda: 0.0).wait(attempt) == 0


ASKED = {
    "nothing": (None, None),
    "seconds": ("7", 7),
    "seconds with blanks": (" 7 ", 7),
    "none at all": ("0", None),
    "a moment": ("Mon, 03 Mar 2025 12:00:09 GMT", 9),
    "a moment that is past": ("Mon, 03 Mar 2025 11:00:00 GMT", None),
    "a moment without zone": ("Mon, 03 Mar 2025 12:00:09 -0000", 9),
    "a fraction": ("1.5", 1.5),
    "less than nothing": ("-1", None),
    "words": ("soon", None),
    "other digits": ("٣", None),
    "a day that does not exist": ("Mon, 33 Mar 2025 12:00:09 GMT", None),
}


@over(("header", "seconds"), ASKED.values(), ids=ASKED.keys())
def test_retry_after_is_a_number_or_a_moment(header, seconds):
    assert (retry_after({} if header is None else {"retry-after": header}, now=NOW) or None) == seconds


@given(st.text() | st.from_regex(r"\w{3}, \d+ \w{3} \d+ \d+:\d+:\d+ [+-]?\w{0,5}"))
def test_no_header_is_an_error(header):
    wait = retry_after({"retry-after": header}, now=NOW)
    assert wait is None or wait >= 0
