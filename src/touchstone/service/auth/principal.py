"""Who a request comes from."""

from dataclasses import dataclass
from typing import Literal, get_args

Role = Literal["viewer", "reviewer", "lead"]
Via = Literal["local", "session", "token"]

# Each may do what those before it may.
RANKS: dict[str, int] = {"viewer": 0, "reviewer": 1, "lead": 2}


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
