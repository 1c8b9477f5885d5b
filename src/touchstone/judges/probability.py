"""A judge's values and what was found -> the chance that people would pass the reply (fitted, data/pass.json)."""

import json
from collections.abc import Mapping
from functools import cache
from math import exp
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.errors import ResourceError
from touchstone.core.result import VIOLATION_KINDS
from touchstone.judges.model import Way

FILE = "pass.json"
VALUES = ("accuracy", "completeness", "tone", "actionability")
# The grade that wording alone speaks for, were passing a criterion.
WORDED = "worded_pass"
FINDINGS = tuple(f"finding_{kind}" for kind in VIOLATION_KINDS)
LIKENESS = tuple(f"like_{kind}" for kind in VIOLATION_KINDS if kind != "hallucination")
# What speaks against a reply beside the findings.
AGAINST = ("values_contradicted", "values_unsupported", "claims_contradicted", "claims_unsupported", "polarity_flips")
INPUTS = (*VALUES, WORDED, *FINDINGS, *LIKENESS, *AGAINST)


class Chance(NamedTuple):
    """A logistic function of the inputs."""

    base: float
    weights: Mapping[str, float]

    def of(self, inputs: Mapping[str, float]) -> float:
        total = self.base + sum(weight * inputs[name] for name, weight in self.weights.items())
        return 1 / (1 + exp(-total)) if total > -30 else 0.0


def probability_inputs(values: Mapping[str, float], features: Mapping[str, float]) -> dict[str, float]:
    """What the pass probability is computed from."""
    return {name: values[name] for name in VALUES} | {name: features.get(name, 0.0) for name in INPUTS[len(VALUES) :]}


def pass_probability(values: Mapping[str, float], features: Mapping[str, float], *, way: Way) -> float:
    """The chance that people would pass a reply with these values and features, where four of five pass."""
    return chances()[way].of(probability_inputs(values, features))


@cache
def chances() -> Mapping[Way, Chance]:
    """The packaged model of each way to grade."""
    try:
        ways = json.loads(resource.text(FILE))["ways"]
        return {way: Chance(row["base"], row["weights"]) for way, row in ways.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise ResourceError(f"data/{FILE} is broken ({error!r}): reinstall touchstone-eval, or run make fit") from error
