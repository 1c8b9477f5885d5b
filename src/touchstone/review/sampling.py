"""Production replies -> the few that people review: every category, risky replies more often, at known probability.

Risky replies are drawn at most three times as often by default: in simulation (`stats.corrected`) a wider span of
weights makes the corrected pass rate's interval wider, as the few plain replies then speak for very many.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.core.result import Decision, Outcome, ViolationKind
from touchstone.stats.sampling import unequal_sample

SIZE = 25
OVERSAMPLING = 3.0
MAX_OVERSAMPLING = 100
LOW_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A reply that could be reviewed: its place in the run and what the judge made of it."""

    place: int
    category: str | None
    decision: Decision
    outcome: Outcome | None
    violations: tuple[ViolationKind, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """A reply that was drawn, and the probability at which it was to be drawn."""

    place: int
    inclusion: float


def risks(candidate: Candidate) -> tuple[str, ...]:
    """Why a reply is looked at more often; empty when it is not."""
    found = []
    if candidate.violations:
        found.append("violation")
    if candidate.outcome == "FAIL" or candidate.decision == "block":
        found.append("judged bad")
    elif candidate.decision == "review":
        found.append("judge unsure")
    if candidate.confidence is not None and candidate.confidence < LOW_CONFIDENCE:
        found.append("bot unsure")
    return tuple(found)


def choose(
    candidates: Sequence[Candidate], n: int = SIZE, *, seed: int, oversampling: float = OVERSAMPLING
) -> tuple[Chosen, ...]:
    """n replies in the order they are to be reviewed; all of them when there are fewer.

    Each category gets its expected number, give or take one. The order says nothing of risk or place.
    """
    if oversampling < 1:
        raise ValueError(f"oversampling {oversampling:g}: allowed is 1, all alike, or more")
    weights = [oversampling if risks(candidate) else 1.0 for candidate in candidates]
    sample = unequal_sample(weights, n, seed=seed, strata=[candidate.category for candidate in candidates])
    drawn = zip(sample.indices, sample.inclusion, strict=True)
    chosen = [Chosen(candidates[index].place, inclusion) for index, inclusion in drawn]
    return tuple(sorted(chosen, key=lambda each: _order(seed, each.place)))


def _order(seed: int, place: int) -> bytes:
    return hashlib.sha256(f"order:{seed}:{place}".encode()).digest()
