"""A sentence's runs -> how much they speak for a kind of violation, by packaged weights (wording.json)."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
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

    def score(self, runs: frozenset[str]) -> float:
        """How much a sentence's runs speak for the kind; 0 where they speak for neither."""
        return _together([self.runs[run] for run in runs if run in self.runs], among=len(runs))

    def heaviest(self, runs: frozenset[str], most: int) -> list[str]:
        """The runs of plain words that speak most for a violation; marks say little to a reader."""
        plain = (run for run in runs & self.runs.keys() if self.runs[run] > 0 and PLAIN.fullmatch(run))
        return sorted(plain, key=lambda run: (-self.runs[run], run))[:most]


def scores(runs: frozenset[str]) -> list[float]:
    """The score of every kind in `fitted`, in their order; each run is looked up once."""
    table = _table()
    rows = [table[run] for run in runs if run in table]
    if not rows:
        return [0.0] * len(fitted())
    return [_together(column, among=len(runs)) for column in zip(*rows, strict=True)]


def _together(weights: Sequence[float], *, among: int) -> float:
    """The weights as one; the more runs they are among, the less each counts."""
    return fsum(weights) / sqrt(among)


@cache
def _table() -> Mapping[str, tuple[float, ...]]:
    """Every run that has a weight -> its weight for each kind."""
    kinds = [weights.runs for weights in fitted().values()]
    return {run: tuple([kind.get(run, 0.0) for kind in kinds]) for run in dict.fromkeys(chain(*kinds))}


@cache
def fitted() -> Mapping[ViolationKind, Weights]:
    """The packaged weights of every kind that has some."""
    kinds = json.loads(resource.text(FILE))["kinds"]
    return MappingProxyType(
        {kind: Weights(model["alone"], model["beside"], model["weights"]) for kind, model in kinds.items()}
    )
