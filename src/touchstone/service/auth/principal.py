"""Who a request comes from."""

from dataclasses import dataclass
from typing import Literal

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

    def may(self, role: Role) -> bool:
        """Whether they may do what is for `role`."""
        return RANKS[self.role] >= RANKS[role]


LOCAL = Principal("local", "lead", "local")
