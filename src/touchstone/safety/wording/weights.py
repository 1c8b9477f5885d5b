"""A sentence's runs -> how much they speak for a kind of violation, by packaged weights (wording.json)."""

import json
import re
from collections.abc import Mapping
from functools import cache
from math import fsum, sqrt
from types import MappingProxyType
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.result import ViolationKind

FILE = "wording.json"
PLAIN = re.compile(r"[^\W\d_]+(?:[ '][^\W\d_]+)*")


class Weights(NamedTuple):
    """One kind's weights, and two cuts: `alone` makes a finding; below `beside` an arguable one falls (None: never)."""

    alone: float
    beside: float | None
    runs: Mapping[str, float]

    def score(self, runs: frozenset[str], *, among: int) -> float:
        """The runs' weights together, the more runs they are among the less each; 0 where they speak for neither."""
        return fsum([self.runs[run] for run in runs if run in self.runs]) / sqrt(among)

    def heaviest(self, runs: frozenset[str], most: int) -> list[str]:
        """The runs of plain words that speak most for a violation; marks say little to a reader."""
        plain = (run for run in runs & self.runs.keys() if self.runs[run] > 0 and PLAIN.fullmatch(run))
        return sorted(plain, key=lambda run: (-self.runs[run], run))[:most]


@cache
def weighed() -> frozenset[str]:
    """Every run that has a weight for some kind."""
    return frozenset(run for weights in fitted().values() for run in weights.runs)


@cache
def fitted() -> Mapping[ViolationKind, Weights]:
    """The packaged weights of every kind that has some."""
    kinds = json.loads(resource.text(FILE))["kinds"]
    return MappingProxyType(
        {kind: Weights(model["alone"], model["beside"], model["weights"]) for kind, model in kinds.items()}
    )
