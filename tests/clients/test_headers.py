"""A header may name an environment variable; no message shows what is in it."""

import pytest

from touchstone.clients.bot.headers import expand_headers
from touchstone.core.errors import ConfigError

ENVIRONMENT = {"TOKEN": "s3cret", "BROKEN": "s3cret\nX-Other: 1", "EMPTY": ""}


def test_variables_are_filled_in():
    headers = {"Authorization": "Bearer ${TOKEN}", "X-Team": "support", "X-None": "${EMPTY}", "X-Price": "$5 {x}"}
    assert expand_headers(headers, environment=ENVIRONMENT) == {
        "Authorization": "Bearer s3cret",
        "X-Team": "support",
        "X-None": "",
        "X-Price": "$5 {x}",
    }


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(ConfigError, match="'Authorization' asks for the environment variable 'TOKE', which is not set"):
        expand_headers({"Authorization": "${TOKE}"}, environment=ENVIRONMENT)


@pytest.mark.parametrize(
    "headers", [{"X": "${BROKEN}"}, {"X": "é s3cret"}, {"X": "s3cret\0"}, {"X y": "s3cret"}, {"": "s3cret"}]
)
def test_what_may_not_be_sent_is_refused_without_showing_it(headers):
    with pytest.raises(ConfigError) as raised:
        expand_headers(headers, environment=ENVIRONMENT)
    assert "s3cret" not in str(raised.value)
