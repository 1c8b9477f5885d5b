"""Waits grow with each attempt, are spread by chance, and are as long as the server asks."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import over

from touchstone.clients.bot.retry import Backoff, asked_wait

NOW = datetime(2025, 3, 3, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(("attempt", "most"), [(1, 0.5), (2, 1), (3, 2), (6, 16), (7, 30), (8, 30), (10_000, 30)])
def test_the_longest_wait_doubles_up_to_a_limit(attempt, most):
    assert Backoff().wait(attempt, chance=1.0) == most
    assert Backoff().wait(attempt, chance=0.5) == most / 2
    assert Backoff().wait(attempt, chance=0.0) == 0


ASKED = {
    "nothing": (None, None),
    "seconds": ("7", 7),
    "seconds with blanks": (" 7 ", 7),
    "none at all": ("0", 0),
    "a moment": ("Mon, 03 Mar 2025 12:00:09 GMT", 9),
    "a moment that is past": ("Mon, 03 Mar 2025 11:00:00 GMT", 0),
    "a moment without zone": ("Mon, 03 Mar 2025 12:00:09 -0000", 9),
    "a fraction": ("1.5", None),
    "less than nothing": ("-1", None),
    "words": ("soon", None),
    "other digits": ("٣", None),
    "a day that does not exist": ("Mon, 33 Mar 2025 12:00:09 GMT", None),
}


@over(("header", "seconds"), ASKED.values(), ids=ASKED.keys())
def test_retry_after_is_a_number_or_a_moment(header, seconds):
    assert asked_wait(header, now=NOW) == seconds


@given(st.text() | st.from_regex(r"\w{3}, \d+ \w{3} \d+ \d+:\d+:\d+ [+-]?\w{0,5}"))
def test_no_header_is_an_error(header):
    wait = asked_wait(header, now=NOW)
    assert wait is None or wait >= 0
