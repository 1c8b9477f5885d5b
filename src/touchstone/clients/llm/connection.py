"""Settings and environment -> where the model is and with which key; what is missing is an error before any call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from touchstone.core.errors import ConfigError

OPENAI = "https://api.openai.com/v1"
MODEL_VARIABLE = "TOUCHSTONE_LLM_MODEL"
URL_VARIABLES = ("TOUCHSTONE_LLM_BASE_URL", "OPENAI_BASE_URL")
KEY_VARIABLE = "TOUCHSTONE_LLM_API_KEY"
OPENAI_KEY = "OPENAI_API_KEY"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# A server on this machine most often needs no key, but the protocol wants one.
_NO_KEY = "none"


@dataclass(frozen=True, slots=True)
class Connection:
    """A server's address and key; the key is never shown."""

    base_url: str
    key: str = field(repr=False)

    @property
    def place(self) -> str:
        """The server as messages name it: host and port, without user, path or query."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def is_near(self) -> bool:
        return is_loopback(self.base_url)


def find_model(given: str | None, *, environment: Mapping[str, str]) -> str:
    """The model's name, by setting or from the environment."""
    model = (given or environment.get(MODEL_VARIABLE) or "").strip()
    if not model:
        raise ConfigError(f"no model is named: give --model NAME, judge.model in touchstone.yaml, or {MODEL_VARIABLE}")
    return model


def find_connection(base_url: str | None, *, environment: Mapping[str, str]) -> Connection:
    """Where to ask. OpenAI's key goes to OpenAI, to the address OPENAI_BASE_URL names, or to this machine only:
    a settings file that names another server must not be handed it."""
    named = next((environment[name] for name in URL_VARIABLES if environment.get(name)), None)
    url = checked_url((base_url or named or OPENAI).strip())
    key = environment.get(KEY_VARIABLE)
    trusted = [OPENAI, *([environment["OPENAI_BASE_URL"]] if environment.get("OPENAI_BASE_URL") else [])]
    is_trusted = is_loopback(url) or _host(url) in [_host(each) for each in trusted]
    if not key and is_trusted:
        key = environment.get(OPENAI_KEY) or (_NO_KEY if is_loopback(url) else None)
    if not key:
        names = f"{OPENAI_KEY} or {KEY_VARIABLE}" if is_trusted else KEY_VARIABLE
        raise ConfigError(f"no key for {_host(url)}: set {names} in the environment, or use --judge offline")
    if not key.isascii() or any(letter.isspace() for letter in key.strip()):
        raise ConfigError("the key holds white space or letters outside ASCII: copy it again")
    return Connection(url, key.strip())


def checked_url(url: str) -> str:
    """The address, if it is one that can be asked."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ConfigError(f"the model's address is not valid: write it like {OPENAI}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or any(letter.isspace() for letter in url):
        raise ConfigError(f"the model's address is no http or https address with a host: write it like {OPENAI}")
    if parts.username or parts.password:
        raise ConfigError(f"the model's address holds a user or password: take them out and set {KEY_VARIABLE}")
    return url.rstrip("/")


def is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in _LOOPBACK


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]
