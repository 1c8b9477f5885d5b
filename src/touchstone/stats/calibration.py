"""Confidences and what came true -> how far a stated confidence can be believed."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from touchstone.stats.interval import Interval, wilson

BINS = 10


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


@dataclass(frozen=True, slots=True)
class BinCounts:
    """The replies of one bin: how many, their confidences added up, how many came true, and their squared errors."""

    n: int = 0
    stated: float = 0.0
    hits: int = 0
    squares: float = 0.0


def reliability(confidences: Sequence[float], outcomes: Sequence[bool], *, bins: int = BINS) -> Reliability | None:
    """The reliability table of stated confidences (0..1) against outcomes; None when there are none."""
    if len(confidences) != len(outcomes):
        raise ValueError(f"{len(confidences)} confidences and {len(outcomes)} outcomes: each needs the other")
    if any(not 0 <= confidence <= 1 for confidence in confidences):
        raise ValueError("a confidence lies outside 0..1")
    if bins < 1:
        raise ValueError(f"{bins} bins; at least 1 is needed")
    members: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for confidence, outcome in zip(confidences, outcomes, strict=True):
        members[bin_of(confidence, bins=bins)].append((confidence, bool(outcome)))
    return reliability_of_bins([_counts(each) for each in members])


def reliability_of_bins(counts: Sequence[BinCounts]) -> Reliability | None:
    """The table from what was counted in each bin of equal width, from 0 on; None when nothing was."""
    n, width = sum(each.n for each in counts), len(counts)
    if n == 0:
        return None
    return Reliability(
        bins=tuple(_bin(place / width, (place + 1) / width, each) for place, each in enumerate(counts)),
        n=n,
        ece=fsum(abs(each.hits - each.stated) for each in counts) / n,
        brier=fsum(each.squares for each in counts) / n,
        mean_confidence=fsum(each.stated for each in counts) / n,
        accuracy=sum(each.hits for each in counts) / n,
    )


def bin_of(confidence: float, *, bins: int = BINS) -> int:
    """The place of the bin that a confidence belongs to."""
    return min(bisect_right([place / bins for place in range(bins + 1)], confidence) - 1, bins - 1)


def _counts(members: Sequence[tuple[float, bool]]) -> BinCounts:
    return BinCounts(
        n=len(members),
        stated=fsum(stated for stated, _ in members),
        hits=sum(hit for _, hit in members),
        squares=fsum((stated - hit) ** 2 for stated, hit in members),
    )


def _bin(low: float, high: float, counts: BinCounts) -> ReliabilityBin:
    if counts.n == 0:
        return ReliabilityBin(low, high, 0, None, None, None)
    n, hits = counts.n, counts.hits
    return ReliabilityBin(low, high, n, counts.stated / n, hits / n, wilson(hits, n))
