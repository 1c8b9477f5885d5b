"""Who a request comes from, and the secrets that show it.

Session ids and API tokens are shown once and kept as hashes. They hold 256 random bits, so that one quick hash
protects them; only passwords need a slow one.
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Literal, get_args

Role = Literal["viewer", "reviewer", "lead"]
Via = Literal["local", "session", "token"]

# Each may do what those before it may.
RANKS: dict[str, int] = {"viewer": 0, "reviewer": 1, "lead": 2}

TOKEN_PREFIX = "ts_"


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who may use the service. `csrf` is what their browser has to send along when it changes something."""

    name: str
    role: Role
    via: Via
    csrf: str = ""

    @property
    def key(self) -> str:
        """What their requests are counted under."""
        return f"{self.via} {self.name}"

    def may(self, role: Role) -> bool:
        """Whether they may do what is for `role`."""
        return RANKS[self.role] >= RANKS[role]


def role_of(name: str) -> Role:
    """The role of that name; a name that is not known, of a later version, may do the least."""
    return next((role for role in get_args(Role) if role == name), "viewer")


LOCAL = Principal("local", "lead", "local")


def new_session() -> str:
    return secrets.token_urlsafe(32)


def new_token() -> str:
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def fingerprint(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
