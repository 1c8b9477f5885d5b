"""Shares as people write them."""

import pytest

from touchstone.cli.shares import share
from touchstone.core.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("5pp", 0.05), ("5 pp", 0.05), ("5%", 0.05), ("5 %", 0.05), ("0.05", 0.05), (".05", 0.05), ("0,05", 0.05)],
        *[("2.5PP", 0.025), ("3 points", 0.03), ("100%", 1.0), ("1", 1.0), ("0", 0.0), ("1 point", 0.01)],
    ],
)
def test_a_share_is_read_however_it_is_written(text, value):
    assert share(text, flag="--detect", example="5pp") == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5", "--detect 5 is above 1: write 5% or 0.05"),
        ("five", "--detect five is not a share: write it like 5pp or 0.05"),
        ("-5%", "--detect -5% is not a share"),
        ("", "--detect  is not a share"),
        ("nan", "--detect nan is not a share"),
        ("120%", "--detect 120% is more than all: write a share of at most 100%, like 5pp"),
    ],
)
def test_what_is_no_share_is_refused_with_how_to_write_it(text, message):
    with pytest.raises(ConfigError) as raised:
        share(text, flag="--detect", example="5pp")
    assert str(raised.value).startswith(message)
