"""Where the model is and with which key: what is missing is said, and a key goes only where it belongs."""

import pytest

from touchstone.clients.llm.connection import OPENAI, find_connection, find_model
from touchstone.core.errors import ConfigError

OURS, THEIRS = {"TOUCHSTONE_LLM_API_KEY": "ours"}, {"OPENAI_API_KEY": "theirs"}


@pytest.mark.parametrize(
    ("base_url", "environment", "expected"),
    [
        (None, THEIRS, (OPENAI, "theirs")),
        (None, OURS | THEIRS, (OPENAI, "ours")),
        ("http://localhost:8080/v1/", {}, ("http://localhost:8080/v1", "none")),
        ("http://127.0.0.1:8080/v1", THEIRS, ("http://127.0.0.1:8080/v1", "theirs")),
        ("https://llm.example/v1", OURS, ("https://llm.example/v1", "ours")),
        (None, THEIRS | {"OPENAI_BASE_URL": "https://gate.example/v1"}, ("https://gate.example/v1", "theirs")),
        (
            None,
            OURS | {"TOUCHSTONE_LLM_BASE_URL": "https://a.example", "OPENAI_BASE_URL": "https://b.example"},
            ("https://a.example", "ours"),
        ),
    ],
)
def test_address_and_key_come_from_settings_and_environment(base_url, environment, expected):
    found = find_connection(base_url, environment=environment)
    assert (found.base_url, found.key) == expected


@pytest.mark.parametrize(
    ("base_url", "environment", "told"),
    [
        (None, {}, "no key for api.openai.com: set OPENAI_API_KEY or TOUCHSTONE_LLM_API_KEY"),
        ("https://other.example/v1", THEIRS, "no key for other.example: set TOUCHSTONE_LLM_API_KEY"),
        ("ftp://x", OURS, "no http or https address"),
        ("localhost:8000", OURS, "no http or https address"),
        ("http://host:notaport", OURS, "not valid"),
        ("https://user:pw@host/v1", OURS, "holds a user or password"),
        (None, {"OPENAI_API_KEY": "a b"}, "white space"),
    ],
)
def test_what_cannot_work_is_said_before_any_call(base_url, environment, told):
    with pytest.raises(ConfigError, match=told):
        find_connection(base_url, environment=environment)


def test_the_key_is_in_no_representation():
    assert "ours" not in repr(find_connection("https://llm.example/v1", environment=OURS))


def test_a_model_has_to_be_named():
    assert find_model(None, environment={"TOUCHSTONE_LLM_MODEL": "small"}) == "small"
    assert find_model("large", environment={"TOUCHSTONE_LLM_MODEL": "small"}) == "large"
    with pytest.raises(ConfigError, match="give --model NAME"):
        find_model(None, environment={})
