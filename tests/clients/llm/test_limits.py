"""Servers write waits in several ways."""

from datetime import UTC, datetime

import pytest

from touchstone.clients.llm.limits import duration, wait_after_refusal, wait_before_next

NOW = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("20", 20),
        ("1s", 1),
        ("6m0s", 360),
        ("250ms", 0.25),
        ("1h2m3.5s", 3723.5),
        ("", None),
        (None, None),
        ("soon", None),
        ("1s soon", None),
    ],
)
def test_a_duration_is_read(text, seconds):
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Wed, 01 Jan 2025 00:00:09 GMT"}, 9),
    ],
)
def test_a_refusal_says_how_long_to_wait(headers, seconds):
    assert wait_after_refusal(headers, now=NOW) == seconds


def test_room_that_is_left_asks_for_no_wait():
    headers = {"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "9s"}
    assert wait_before_next(headers) is None
    assert wait_before_next(headers | {"x-ratelimit-remaining-requests": "0"}) == 9
