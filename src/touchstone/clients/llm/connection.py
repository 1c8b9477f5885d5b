"""Settings and environment -> where the model is and with which key; what is missing is an error before any call."""

from collections.abc import Mapping, Sequence
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
class Address:
    """A server that a panel's member names, and the variable with its key; None for those of the judge."""

    base_url: str | None = None
    key_variable: str | None = None


NOWHERE = Address()


@dataclass(frozen=True, slots=True)
class Connection:
    """A server's address and key; the key is never shown, the variables it comes from are."""

    base_url: str
    key: str = field(repr=False)
    key_variables: Sequence[str] = (OPENAI_KEY, KEY_VARIABLE)

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


def find_connection(
    base_url: str | None, *, environment: Mapping[str, str], key_variable: str | None = None, member: Address = NOWHERE
) -> Connection:
    """Where to ask: the judge's server, or a panel member's own.

    OpenAI's key goes to OpenAI, to the address OPENAI_BASE_URL names, or to this machine only, and the judge's key to
    the judge's server: neither a settings file nor a second server must be handed a key that is not for it.
    """
    named = next((environment[name] for name in URL_VARIABLES if environment.get(name)), None)
    shared = checked_url((base_url or named or OPENAI).strip())
    url = checked_url(member.base_url.strip()) if member.base_url else shared
    is_shared = _host(url) == _host(shared)
    trusted = [OPENAI, *([environment["OPENAI_BASE_URL"]] if environment.get("OPENAI_BASE_URL") else [])]
    is_trusted = is_loopback(url) or _host(url) in [_host(each) for each in trusted]
    variable = member.key_variable or (key_variable if is_shared else None)
    if variable == OPENAI_KEY and not is_trusted:
        raise ConfigError(f"{OPENAI_KEY} is not sent to {_host(url)}: name a variable with that server's own key")
    usual = [*([KEY_VARIABLE] if is_shared or is_loopback(url) else []), *([OPENAI_KEY] if is_trusted else [])]
    names = [variable] if variable else usual
    found = next((name for name in names if environment.get(name)), None)
    if found is None and is_loopback(url) and not variable:
        return Connection(url, _NO_KEY, names)
    if found is None:
        raise ConfigError(f"no key for {_host(url)}: {_remedy(names)}, or use --judge offline")
    key = environment[found].strip()
    if not key.isascii() or any(letter.isspace() for letter in key):
        raise ConfigError(f"the key in {found} holds white space or letters outside ASCII: copy it again")
    return Connection(url, key, (found,))


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
        raise ConfigError(f"the model's address is no http or https address with a host: write it like {OPENAI}")
    if parts.username or parts.password:
        raise ConfigError(f"the model's address holds a user or password: take them out and set {KEY_VARIABLE}")
    return url.rstrip("/")


def is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in _LOOPBACK


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]
