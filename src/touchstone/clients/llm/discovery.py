"""This machine and its environment -> models that could grade: of servers here, of providers with a key set.

Only this machine is asked, without a key, a proxy or a redirect: of a provider nothing is asked until it is chosen.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from touchstone.clients.llm.connection import OPENAI_KEY, PROVIDERS, Provider, checked_url, is_loopback, provider_at
from touchstone.core.errors import ConfigError

# Seconds for a server on this machine to list its models.
PATIENCE = 1.0
MOST_MODELS = 50
LONGEST_NAME = 200
MOST_BYTES = 1_000_000
# Parts of the names of models that do not chat.
_NO_CHAT = ("embed", "rerank", "whisper", "tts-", "clip")


@dataclass(frozen=True, slots=True)
class Port:
    """A model server's name and the port it takes unless told otherwise."""

    name: str
    port: int


PLACES = (Port("Ollama", 11434), Port("llama.cpp", 8080), Port("vLLM", 8000), Port("LM Studio", 1234))


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A model server on this machine, and the models it lists that can chat, in its order."""

    name: str
    base_url: str
    models: tuple[str, ...]

    @property
    def place(self) -> str:
        return urlsplit(self.base_url).netloc

    def lists(self, model: str) -> bool:
        """Whether the model is there; Ollama's names end in a tag that may be left out."""
        return any(each in (model, f"{model}:latest") for each in self.models)


@dataclass(frozen=True, slots=True)
class Offer:
    """A model that could grade: whose it is, where, and the variable with its key; None where no model is known."""

    owner: str
    base_url: str
    model: str | None
    key_variable: str | None = None

    @property
    def place(self) -> str:
        return urlsplit(self.base_url).netloc

    @property
    def is_near(self) -> bool:
        return is_loopback(self.base_url)


def find_offers(
    *, model: str | None = None, base_url: str | None = None, environment: Mapping[str, str]
) -> tuple[Offer, ...]:
    """What could grade, this machine's servers first; ConfigError when there is nothing, or nothing that is named."""
    if base_url:
        return _offers_at(checked_url(base_url.strip()), model=model, environment=environment)
    servers, keys = find_servers(), find_keys(environment)
    if model:
        offers = _offers_of(model, servers=servers, keys=keys, environment=environment)
    else:
        near = [Offer(server.name, server.base_url, name) for server in servers for name in server.models]
        offers = [*near, *(_offer_of(provider, environment=environment) for provider in keys)]
    if offers:
        return tuple(offers)
    if servers:
        raise ConfigError(_lists_none(servers[0].name, servers[0].place))
    usual = ", ".join(f"{place.name} on {place.port}" for place in PLACES)
    raise ConfigError(
        f"no model server answers on this machine ({usual}) and no provider's key is set: start a server, set "
        f"{OPENAI_KEY} or another provider's variable, or name one with --base-url and --model"
    )


def find_servers() -> tuple[FoundServer, ...]:
    """The model servers on their usual ports; whatever else answers there is passed over."""
    asked = (find_server(f"http://127.0.0.1:{place.port}/v1", name=place.name) for place in PLACES)
    return tuple(found for found in asked if found is not None)


def find_server(base_url: str, *, name: str) -> FoundServer | None:
    """The model server at an address of this machine; None when there is none, or the address is elsewhere."""
    if not is_loopback(base_url):
        return None
    models = _read_models(_get(f"{base_url.rstrip('/')}/models"))
    return None if models is None else FoundServer(name, base_url, models)


def find_keys(environment: Mapping[str, str]) -> tuple[Provider, ...]:
    """The providers whose usual variable is set."""
    return tuple(each for each in PROVIDERS if environment.get(each.key_variable, "").strip())


def _offers_at(base_url: str, *, model: str | None, environment: Mapping[str, str]) -> tuple[Offer, ...]:
    """The models of the server at this address: the one named, those it lists, or its provider's usual one."""
    parts = urlsplit(base_url)
    if parts.query or parts.fragment:
        raise ConfigError(
            "the model's address holds more than a path: leave out what follows ? or #; keys are variables"
        )
    provider = provider_at(base_url)
    owner = provider.name if provider else parts.netloc
    variable = provider.key_variable if provider and environment.get(provider.key_variable) else None
    if model or not is_loopback(base_url):
        return (Offer(owner, base_url, model or (provider.model if provider else None), variable),)
    server = find_server(base_url, name=owner)
    if server is None:
        remedy = "check that it runs and that the address is right, which most often ends in /v1"
        raise ConfigError(f"no model server answers at {owner}: {remedy}, or name its model with --model")
    if not server.models:
        raise ConfigError(_lists_none("the server", owner))
    return tuple(Offer(owner, base_url, name) for name in server.models)


def _offers_of(
    model: str, *, servers: Sequence[FoundServer], keys: Sequence[Provider], environment: Mapping[str, str]
) -> list[Offer]:
    """Who could have the model: who lists it, else who is known for it, else any of them."""
    near = {offer: server.lists(model) for server in servers for offer in [Offer(server.name, server.base_url, model)]}
    far = {
        replace(offer, model=model): offer.model == model
        for offer in (_offer_of(p, environment=environment) for p in keys)
    }
    for found in (near, far):
        if sure := [offer for offer, is_sure in found.items() if is_sure]:
            return sure
    return [*far, *near]


def _offer_of(provider: Provider, *, environment: Mapping[str, str]) -> Offer:
    """The provider's usual model; of the gateway that OPENAI_BASE_URL names, none is known."""
    gateway = environment.get("OPENAI_BASE_URL") if provider.key_variable == OPENAI_KEY else None
    if gateway and provider_at(checked_url(gateway)) != provider:
        url = checked_url(gateway)
        return Offer(urlsplit(url).netloc, url, None, OPENAI_KEY)
    return Offer(provider.name, provider.base_url, provider.model, provider.key_variable)


def _lists_none(name: str, place: str) -> str:
    return f"{name} at {place} lists no model that chats: load one there, or name it with --model"


def _get(url: str) -> bytes | None:
    """The body of a good answer that came whole and in time."""
    from touchstone.clients.http import Backoff, HttpAnswer, Peer, open_exchange

    anybody = Peer("judge", "the server", slow="", busy="", refusals={}, otherwise="BadRequest")
    with open_exchange(anybody, url, headers={}, timeout=PATIENCE, backoff=Backoff(0)) as exchange:
        found = exchange.run(exchange.send("GET", url, most=MOST_BYTES))
    if not isinstance(found, HttpAnswer) or found.status != 200 or len(found.content) > MOST_BYTES:
        return None
    return found.content


def _read_models(body: bytes | None) -> tuple[str, ...] | None:
    """The names in `{"data": [{"id": …}]}`, none of which may hold what a terminal obeys; None for anything else."""
    try:
        rows = json.loads(body or b"")["data"]
        names = [row["id"] for row in rows or []]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(rows, list | None) or not all(isinstance(name, str) for name in names):
        return None
    fit = (name for name in names[:MOST_MODELS] if name.isprintable() and 0 < len(name) <= LONGEST_NAME)
    return tuple(name for name in fit if not any(part in name.lower() for part in _NO_CHAT))
