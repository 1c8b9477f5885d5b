"""One piece of personal data: what kind, where it stands, and what it is compared by."""

from dataclasses import dataclass
from typing import Literal

DatumKind = Literal[
    "name", "address", "phone", "email", "card", "iban", "account", "national_id", "birth_date", "ip", "secret", "plate"
]


@dataclass(frozen=True, slots=True)
class Datum:
    """One piece of personal data and where it stands.

    `partial`: only some digits of a number, or only one part of a person's name. `key` is what it is compared by.
    """

    kind: DatumKind
    start: int
    end: int
    key: str
    partial: bool = False
