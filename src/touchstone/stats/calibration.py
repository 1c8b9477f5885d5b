"""Confidences and what came true -> how far a stated confidence can be believed."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from touchstone.stats.interval import Interval
from touchstone.stats.proportions import wilson


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The replies with a confidence from `low` up to, not including, `high`; the last bin holds 1 as well.

    An empty bin has n = 0 and None for its mean confidence, accuracy and Wilson interval.
    """

    low: float
    high: float
    n: int
    mean_confidence: float | None
    accuracy: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Reliability:
    """Bins of equal width; `ece` is their mean gap of accuracy and confidence, `brier` the mean squared error."""

    bins: tuple[ReliabilityBin, ...]
    n: int
    ece: float
    brier: float
    mean_confidence: float
    accuracy: float


def reliability(confidences: Sequence[float], outcomes: Sequence[bool], *, bins: int = 10) -> Reliability | None:
    """The reliability table of stated confidences (0..1) against outcomes; None when there are none."""
    if len(confidences) != len(outcomes):
        raise ValueError(f"{len(confidences)} confidences and {len(outcomes)} outcomes: each needs the other")
    if any(not 0 <= confidence <= 1 for confidence in confidences):
        raise ValueError("a confidence lies outside 0..1")
    if bins < 1:
        raise ValueError(f"{bins} bins; at least 1 is needed")
    n = len(confidences)
    if n == 0:
        return None
    edges = [place / bins for place in range(bins + 1)]
    members: list[list[float]] = [[] for _ in range(bins)]
    hits = [0] * bins
    for confidence, outcome in zip(confidences, outcomes, strict=True):
        place = min(bisect_right(edges, confidence) - 1, bins - 1)
        members[place].append(confidence)
        hits[place] += bool(outcome)
    table = tuple(_bin(edges[place], edges[place + 1], members[place], hits[place]) for place in range(bins))
    return Reliability(
        bins=table,
        n=n,
        ece=fsum(abs(hit - fsum(stated)) for stated, hit in zip(members, hits, strict=True)) / n,
        brier=fsum((stated - bool(hit)) ** 2 for stated, hit in zip(confidences, outcomes, strict=True)) / n,
        mean_confidence=fsum(confidences) / n,
        accuracy=sum(hits) / n,
    )


def _bin(low: float, high: float, stated: Sequence[float], hits: int) -> ReliabilityBin:
    n = len(stated)
    if n == 0:
        return ReliabilityBin(low, high, 0, None, None, None)
    return ReliabilityBin(low, high, n, fsum(stated) / n, hits / n, wilson(hits, n))
