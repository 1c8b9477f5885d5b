"""What could grade: servers on this machine that list models, and providers with a key set; no other is asked."""

import pytest
from tests.clients.llm.faulty import Reply, faulty_server

from touchstone.clients.llm import discovery
from touchstone.clients.llm.connection import PROVIDERS, provider_at
from touchstone.clients.llm.discovery import (
    FoundServer,
    Offer,
    Port,
    find_keys,
    find_offers,
    find_server,
    find_servers,
)
from touchstone.core.errors import ConfigError

USUAL = discovery.PLACES
ELSEWHERE = "https://models.example/v1"


def listing(*names):
    return Reply({"object": "list", "data": [{"id": name, "object": "model"} for name in names]})


@pytest.fixture
def places(monkeypatch, server):
    """Ollama is where the test's server is, and nothing answers where vLLM would be."""
    monkeypatch.setattr(discovery, "PLACES", (Port("vLLM", 9), Port("Ollama", server.server_port)))
    server.models = listing("qwen2.5:7b", "llama3.2:latest")


def near(server, model):
    return Offer("Ollama", f"http://127.0.0.1:{server.server_port}/v1", model)


@pytest.mark.parametrize(
    ("reply", "models"),
    [
        (listing("small", "large"), ("small", "large")),
        (listing("nomic-embed-text", "small", "bge-Rerank", "whisper-1"), ("small",)),
        (listing("a\x1b[31m", "b\nc", "", "n" * 201, "n" * 200), ("n" * 200,)),
        (listing(*(f"m{at}" for at in range(60))), tuple(f"m{at}" for at in range(50))),
        (listing(), ()),
        (Reply({"object": "list", "data": None}), ()),
        (Reply({"data": []}, type="text/plain"), ()),
    ],
)
def test_a_server_is_known_by_the_models_it_lists(server, reply, models):
    server.models = reply
    assert find_server(f"{server.url}/", name="Ollama") == FoundServer("Ollama", f"{server.url}/", models)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"<!doctype html><title>It works</title>", type="text/html"),
        Reply(b"", type="text/plain"),
        Reply(b"\xff\xfe{", type="application/json"),
        Reply(b"[" * 100_000),
        Reply([]),
        Reply("models"),
        Reply({"models": [{"id": "small"}]}),
        Reply({"data": {}}),
        Reply({"data": {"id": "small"}}),
        Reply({"data": ["small"]}),
        Reply({"data": [{"name": "small"}]}),
        Reply({"data": [{"id": 3}]}),
        Reply({"data": [{"id": "small"}]}, status=404),
        Reply({"data": [{"id": "small"}]}, status=401),
        Reply({"data": [{"id": "small", "about": "x" * discovery.MOST_BYTES}]}),
    ],
)
def test_whatever_else_answers_there_is_passed_over(server, reply):
    server.models = reply
    assert find_server(server.url, name="llama.cpp") is None


def test_a_server_whose_list_does_not_end_in_time_is_passed_over(server, monkeypatch):
    monkeypatch.setattr(discovery, "PATIENCE", 0.1)
    server.models = Reply(listing("small").body, headers={"Content-Length": "1000"})
    assert find_server(server.url, name="Ollama") is None


def test_a_redirect_is_not_followed(server):
    with faulty_server() as other:
        other.models = listing("small")
        server.models = Reply({}, status=302, headers={"Location": f"{other.url}/models"})
        assert find_server(server.url, name="Ollama") is None
        assert other.keys == []


def test_no_key_and_no_proxy_has_a_part_in_it(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    server.models = listing("small")
    assert find_server(server.url, name="Ollama") is not None
    assert server.keys == [None]


@pytest.mark.parametrize("url", [ELSEWHERE, "http://192.0.2.1/v1", "http://127.0.0.1.example/v1"])
def test_only_this_machine_is_asked(url, monkeypatch):
    monkeypatch.setattr(discovery, "_get", lambda url: pytest.fail(f"{url} was asked"))
    assert find_server(url, name="?") is None


def test_the_usual_ports_are_asked_in_order(places, server):
    assert (Port("Ollama", 11434), Port("llama.cpp", 8080), Port("vLLM", 8000), Port("LM Studio", 1234)) == USUAL
    (found,) = find_servers()
    assert (found.name, found.place) == ("Ollama", f"127.0.0.1:{server.server_port}")
    assert [found.lists(name) for name in ("llama3.2", "llama3.2:latest", "qwen2.5", "llama")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_key_counts_when_it_is_set():
    environment = {"GEMINI_API_KEY": "x", "OPENAI_API_KEY": " ", "GROQ_API_KEY": "y", "TOUCHSTONE_LLM_API_KEY": "z"}
    assert [provider.name for provider in find_keys(environment)] == ["Google Gemini", "Groq"]


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda each: each.name)
def test_a_provider_is_found_by_its_own_address(provider):
    assert provider.base_url.startswith("https://")
    assert provider_at(provider.base_url) == provider
    assert provider.key_variable.endswith("_API_KEY")


def test_every_model_of_this_machine_is_offered_before_those_of_providers(places, server):
    offers = find_offers(environment={"ANTHROPIC_API_KEY": "x", "OPENROUTER_API_KEY": "y"})
    assert offers == (
        near(server, "qwen2.5:7b"),
        near(server, "llama3.2:latest"),
        Offer("Anthropic", "https://api.anthropic.com/v1", "claude-haiku-4-5", "ANTHROPIC_API_KEY"),
        Offer("OpenRouter", "https://openrouter.ai/api/v1", None, "OPENROUTER_API_KEY"),
    )
    assert [offer.is_near for offer in offers] == [True, True, False, False]
    assert offers[-1].place == "openrouter.ai"


def test_a_gateway_gets_the_key_that_the_environment_sends_there(places):
    environment = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "https://gate.example/v1/"}
    assert find_offers(environment=environment)[-1] == Offer(
        "gate.example", "https://gate.example/v1", None, "OPENAI_API_KEY"
    )
    environment["OPENAI_BASE_URL"] = "https://api.openai.com/v1/"
    assert find_offers(environment=environment)[-1].owner == "OpenAI"


@pytest.mark.parametrize(
    ("model", "owners"),
    [
        ("llama3.2", ["Ollama"]),
        ("claude-haiku-4-5", ["Anthropic"]),
        ("some-other", ["Anthropic", "Mistral", "Ollama"]),
    ],
)
def test_a_named_model_is_offered_by_who_has_it_else_by_who_may(places, model, owners):
    offers = find_offers(model=model, environment={"ANTHROPIC_API_KEY": "x", "MISTRAL_API_KEY": "y"})
    assert [(offer.owner, offer.model) for offer in offers] == [(owner, model) for owner in owners]


@pytest.mark.parametrize(
    ("base_url", "model", "offer"),
    [
        (f"{ELSEWHERE}/", "small", Offer("models.example", ELSEWHERE, "small")),
        (ELSEWHERE, None, Offer("models.example", ELSEWHERE, None)),
        (
            "https://api.mistral.ai/v1",
            None,
            Offer("Mistral", "https://api.mistral.ai/v1", "mistral-small-latest", "MISTRAL_API_KEY"),
        ),
        ("https://api.deepseek.com", "x", Offer("DeepSeek", "https://api.deepseek.com", "x")),
        ("http://127.0.0.1:9/v1", "small", Offer("127.0.0.1:9", "http://127.0.0.1:9/v1", "small")),
    ],
)
def test_a_named_address_is_offered_as_it_is(places, server, base_url, model, offer):
    assert find_offers(base_url=base_url, model=model, environment={"MISTRAL_API_KEY": "x"}) == (offer,)
    assert server.keys == []


def test_a_named_address_of_this_machine_is_asked_for_its_models(server):
    server.models = listing("small", "large")
    place = f"127.0.0.1:{server.server_port}"
    offers = find_offers(base_url=server.url, environment={})
    assert offers == (Offer(place, server.url, "small"), Offer(place, server.url, "large"))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {},
            "no model server answers on this machine (vLLM on 9) and no provider's key is set: start a server, set "
            "OPENAI_API_KEY or another provider's variable, or name one with --base-url and --model",
        ),
        ({"model": "small"}, "no model server answers on this machine"),
        ({"base_url": "http://127.0.0.1:9/v1"}, "no model server answers at 127.0.0.1:9: check that it runs"),
        ({"base_url": "nowhere"}, "is not an http or https address"),
        ({"base_url": f"{ELSEWHERE}?key=sk-1"}, "holds more than a path"),
        ({"base_url": f"{ELSEWHERE}#sk-1"}, "holds more than a path"),
    ],
)
def test_nothing_to_offer_is_said_in_a_line_with_what_to_do(monkeypatch, given, told):
    monkeypatch.setattr(discovery, "PLACES", (Port("vLLM", 9),))
    with pytest.raises(ConfigError) as raised:
        find_offers(**given, environment={})
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "sk-1" not in str(raised.value)


@pytest.mark.parametrize("by_address", [True, False])
def test_a_server_without_models_is_told_apart_from_none(places, server, by_address):
    server.models = listing()
    name = "the server" if by_address else "Ollama"
    with pytest.raises(ConfigError) as raised:
        find_offers(base_url=server.url if by_address else None, environment={})
    place = f"127.0.0.1:{server.server_port}"
    assert str(raised.value) == f"{name} at {place} lists no model that chats: load one there, or name it with --model"
    assert server.keys == [None]
