"""What a verifier is: pairs of texts in, probabilities out. Loading one is left to a layer that may read files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from touchstone.core.result import Chances


class Pair(NamedTuple):
    """A sentence of a reply, and the evidence it is held against."""

    sentence: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Card:
    """Which verifier it is, how many evidence sentences it reads, and the doubt from which it raises an alarm."""

    name: str
    version: str
    hash: str
    evidence_sentences: int
    cut: float


class Verifier(Protocol):
    """Reads pairs. A pair's chances depend on that pair alone, never on those beside it."""

    @property
    def card(self) -> Card:
        """What it calls itself."""

    def read(self, pairs: Sequence[Pair]) -> list[Chances]:
        """The chances of each pair, in order."""
