"""Where the model is and with which key: what is missing is said, and a key goes only where it belongs."""

import pytest
from tests.tables import over

from touchstone.clients.llm.connection import OPENAI, PROVIDERS, Address, find_connection, find_model, provider_at
from touchstone.core.errors import ConfigError

OURS, THEIRS = {"TOUCHSTONE_LLM_API_KEY": "ours"}, {"OPENAI_API_KEY": "theirs"}
ALL = {provider.key_variable: f"key of {provider.name}".replace(" ", "-") for provider in PROVIDERS}
NEAR = "http://localhost:8080/v1"
ANTHROPIC, MISTRAL = "https://api.anthropic.com/v1", "https://api.mistral.ai/v1"


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
        ("ftp://x", OURS, "not an http or https address"),
        ("localhost:8000", OURS, "not an http or https address"),
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


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda each: each.name)
def test_a_provider_gets_its_own_key_unasked_and_no_other_s(provider):
    own = f"key-of-{provider.name}".replace(" ", "-")
    assert find_connection(provider.base_url, environment=ALL).key == own
    assert find_connection(provider.base_url, environment=ALL, key_variable=provider.key_variable).key == own
    assert find_connection(provider.base_url, environment=ALL | OURS).key == "ours"
    member = Address(provider.base_url)
    assert find_connection("https://llm.example/v1", environment=ALL | OURS, member=member).key == own
    others = {name: key for name, key in ALL.items() if name != provider.key_variable}
    with pytest.raises(ConfigError, match=f"no key for .*: set {provider.key_variable} or TOUCHSTONE_LLM_API_KEY in"):
        find_connection(provider.base_url, environment=others)


@over("provider", PROVIDERS, ids=lambda each: each.name)
@over(
    "base_url",
    [
        "https://llm.example/v1",
        "https://api.openai.com.example/v1",
        "https://api.openai.com:8443/v1",
        "http://api.openai.com/v1",
        "https://example/api.openai.com/v1",
        "https://xapi.openai.com/v1",
        "https://openai.com/v1",
    ],
)
def test_no_provider_s_key_goes_to_another_host_or_in_the_clear(provider, base_url):
    with pytest.raises(ConfigError, match="no key for "):
        find_connection(base_url, environment=ALL)
    for named in ({"key_variable": provider.key_variable}, {"member": Address(base_url, provider.key_variable)}):
        with pytest.raises(ConfigError, match=f"{provider.key_variable} is not sent to .*: name a variable with that"):
            find_connection(base_url, environment=ALL, **named)


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda each: each.name)
def test_this_machine_gets_a_provider_s_key_only_where_it_is_named(provider):
    others = {name: key for name, key in ALL.items() if name != "OPENAI_API_KEY"}
    assert find_connection(NEAR, environment=others).key == "none"
    assert find_connection(NEAR, environment=ALL, key_variable=provider.key_variable).key == ALL[provider.key_variable]


def test_openai_s_key_alone_goes_where_the_environment_sends_it():
    gate = ALL | {"OPENAI_BASE_URL": "https://gate.example/v1"}
    assert find_connection("https://gate.example/v1", environment=gate).key == "key-of-OpenAI"
    with pytest.raises(ConfigError, match=r"MISTRAL_API_KEY is not sent to gate\.example"):
        find_connection("https://gate.example/v1", environment=gate, key_variable="MISTRAL_API_KEY")
    with pytest.raises(ConfigError, match=r"OPENAI_API_KEY is not sent to http://gate\.example"):
        find_connection("http://gate.example/v1", environment=gate, key_variable="OPENAI_API_KEY")
    at_mistral = ALL | {"OPENAI_BASE_URL": MISTRAL}
    assert find_connection(None, environment=at_mistral).key == "key-of-OpenAI"
    with pytest.raises(ConfigError, match=r"OPENAI_API_KEY is not sent to api\.mistral\.ai"):
        find_connection(MISTRAL, environment=ALL, key_variable="OPENAI_API_KEY")


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://API.OpenAI.com:443/v1/", "OpenAI"),
        ("https://api.openai.com", "OpenAI"),
        ("http://api.openai.com/v1", None),
        ("http://api.openai.com:443/v1", None),
        (NEAR, None),
    ],
)
def test_a_provider_is_known_by_scheme_host_and_port(url, name):
    found = provider_at(url)
    assert (found and found.name) == name


def test_the_scheme_is_told_where_it_keeps_a_key_back():
    with pytest.raises(ConfigError, match=r"is not sent to http://api\.openai\.com: name"):
        find_connection("http://api.openai.com/v1", environment=ALL, key_variable="OPENAI_API_KEY")


def test_anthropic_alone_is_sent_its_key_in_a_header_of_its_own():
    found = find_connection(ANTHROPIC, environment=ALL)
    bearer = {"Authorization": "Bearer key-of-Anthropic"}
    assert found.headers == bearer | {"x-api-key": "key-of-Anthropic", "anthropic-version": "2023-06-01"}
    assert "key-of-Anthropic" not in repr(found)
    rest = [each.base_url for each in PROVIDERS if each.name != "Anthropic"]
    for url in (*rest, NEAR, "http://api.anthropic.com/v1"):
        assert find_connection(url, environment=ALL | OURS).headers.keys() == {"Authorization"}


def test_openai_alone_is_told_which_organization_and_project_pay():
    accounts = ALL | {"OPENAI_ORG_ID": "org-1", "OPENAI_PROJECT_ID": "proj-1"}
    told = {"OpenAI-Organization": "org-1", "OpenAI-Project": "proj-1"}
    assert find_connection(None, environment=accounts).headers == {"Authorization": "Bearer key-of-OpenAI"} | told
    assert find_connection(ANTHROPIC, environment=accounts).headers.keys().isdisjoint(told)
