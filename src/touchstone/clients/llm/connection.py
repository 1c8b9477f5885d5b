"""Settings and environment -> where the model is and with which key; what is missing is an error before any call.

A provider's key goes to that provider alone, to a server on this machine, or to where the environment itself sends it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from touchstone.core.errors import ConfigError

OPENAI = "https://api.openai.com/v1"
MODEL_VARIABLE = "TOUCHSTONE_LLM_MODEL"
URL_VARIABLES = ("TOUCHSTONE_LLM_BASE_URL", "OPENAI_BASE_URL")
KEY_VARIABLE = "TOUCHSTONE_LLM_API_KEY"
OPENAI_KEY = "OPENAI_API_KEY"
ANTHROPIC_KEY = "ANTHROPIC_API_KEY"
# Headers in which OpenAI takes the organization and project that pay, and the variables its own clients read.
ACCOUNT = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
_PORTS = {"http": 80, "https": 443}
# A server on this machine most often needs no key, but the protocol wants one.
_NO_KEY = "none"


@dataclass(frozen=True, slots=True)
class Provider:
    """Who serves models under OpenAI's protocol, the usual variable of its key, and an inexpensive model of it."""

    name: str
    base_url: str
    key_variable: str
    model: str | None = None


# Addresses, variables and models as the providers' own pages name them in November 2026. OpenRouter passes requests on
# to any model, so there is none to start with.
PROVIDERS = (
    Provider("OpenAI", OPENAI, OPENAI_KEY, "gpt-6-luna"),
    Provider("Anthropic", "https://api.anthropic.com/v1", ANTHROPIC_KEY, "claude-haiku-4-5"),
    Provider(
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "gemini-3.5-flash-lite",
    ),
    Provider("Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "mistral-small-latest"),
    Provider("Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "openai/gpt-oss-20b"),
    Provider("DeepSeek", "https://api.deepseek.com", "DEEPSEEK_API_KEY", "deepseek-flash"),
    Provider("OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    Provider("Together", "https://api.together.ai/v1", "TOGETHER_API_KEY", "openai/gpt-oss-20b"),
)


@dataclass(frozen=True, slots=True)
class Address:
    """A server that a panel's member names, and the variable with its key; None for those of the judge."""

    base_url: str | None = None
    key_variable: str | None = None


NOWHERE = Address()


@dataclass(frozen=True, slots=True)
class Connection:
    """A server's address and key, which is never shown, its variables, and headers that name the account."""

    base_url: str
    key: str = field(repr=False)
    key_variables: Sequence[str] = (OPENAI_KEY, KEY_VARIABLE)
    account: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The server as messages name it: host and port, without user, path or query."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def headers(self) -> dict[str, str]:
        """The key, as the protocol sends it; Anthropic lists its models for its own kind of key only."""
        sent = {"Authorization": f"Bearer {self.key}", **self.account}
        owner = provider_at(self.base_url)
        if owner is not None and owner.key_variable == ANTHROPIC_KEY:
            sent |= {"x-api-key": self.key, "anthropic-version": "2023-06-01"}
        return sent


def find_model(given: str | None, *, environment: Mapping[str, str]) -> str:
    """The model's name, by setting or from the environment."""
    model = (given or environment.get(MODEL_VARIABLE) or "").strip()
    if not model:
        raise ConfigError(f"no model is named: give --model NAME, judge.model in touchstone.yaml, or {MODEL_VARIABLE}")
    return model


def find_connection(
    base_url: str | None, *, environment: Mapping[str, str], key_variable: str | None = None, member: Address = NOWHERE
) -> Connection:
    """Where to ask: the judge's server, or a panel member's own.

    A provider's key goes to that provider, OpenAI's also to the address OPENAI_BASE_URL names, and any of them to this
    machine if the settings say so. The judge's key goes to the judge's server: neither a settings file nor a second
    server must be handed a key that is not for it.
    """
    named = next((environment[name] for name in URL_VARIABLES if environment.get(name)), None)
    shared = checked_url((base_url or named or OPENAI).strip())
    url = checked_url(member.base_url.strip()) if member.base_url else shared
    is_shared = _host(url) == _host(shared)
    variable = member.key_variable or (key_variable if is_shared else None)
    if variable and not _may_have(url, variable, environment=environment):
        raise ConfigError(f"{variable} is not sent to {_shown(url)}: name a variable with that server's own key")
    usual = [*([KEY_VARIABLE] if is_shared or is_loopback(url) else []), *_owned(url, environment=environment)]
    names = [variable] if variable else usual
    found = next((name for name in names if environment.get(name)), None)
    if found is None and is_loopback(url) and not variable:
        return Connection(url, _NO_KEY, names)
    if found is None:
        raise ConfigError(f"no key for {_shown(url)}: {_remedy(names)}, or use --judge offline")
    key = environment[found].strip()
    if not key.isascii() or any(letter.isspace() for letter in key):
        raise ConfigError(f"the key in {found} holds white space or letters outside ASCII: copy it again")
    is_openai = (owner := provider_at(url)) is not None and owner.key_variable == OPENAI_KEY
    account = {header: environment[name] for header, name in ACCOUNT.items() if is_openai and environment.get(name)}
    return Connection(url, key, (found,), account)


def provider_at(url: str) -> Provider | None:
    """The provider whose own server this is; over http, where all could read the key, it is nobody's."""
    return next((each for each in PROVIDERS if _origin(each.base_url) == _origin(url)), None)


def _may_have(url: str, variable: str, *, environment: Mapping[str, str]) -> bool:
    """Whether the server may be sent the key in this variable, which the settings name for it."""
    is_provider_s = any(each.key_variable == variable for each in PROVIDERS)
    return not is_provider_s or is_loopback(url) or variable in _owned(url, environment=environment)


def _owned(url: str, *, environment: Mapping[str, str]) -> list[str]:
    """The variables of providers whose key goes to this server unasked; OpenAI's is the usual one of many servers."""
    gateway = environment.get("OPENAI_BASE_URL")
    takes_openai = is_loopback(url) or (gateway is not None and _is_same_server(url, gateway))
    owner = provider_at(url)
    return list(dict.fromkeys([*([OPENAI_KEY] if takes_openai else []), *([owner.key_variable] if owner else [])]))


def _remedy(names: Sequence[str]) -> str:
    if not names:
        return "a server of its own needs a key of its own: name its variable as key_variable in judge.panel"
    return f"set {' or '.join(reversed(names))} in the environment"


def checked_url(url: str) -> str:
    """The address, if it is one that can be asked."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ConfigError(f"the model's address is not valid: write it like {OPENAI}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or any(letter.isspace() for letter in url):
        raise ConfigError(f"the model's address is not an http or https address with a host: write it like {OPENAI}")
    if parts.username or parts.password:
        raise ConfigError(f"the model's address holds a user or password: take them out and set {KEY_VARIABLE}")
    return url.rstrip("/")


def is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _is_same_server(url: str, other: str) -> bool:
    return _host(url) == _host(other) and urlsplit(url).scheme == urlsplit(other).scheme


def _shown(url: str) -> str:
    """The host, with the scheme where that may be why a key is withheld."""
    is_open = urlsplit(url).scheme == "http" and not is_loopback(url)
    return f"http://{_host(url)}" if is_open else _host(url)


def _origin(url: str) -> str:
    """Scheme, host and port, however they are written."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or _PORTS.get(parts.scheme)}"
