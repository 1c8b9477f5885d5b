"""Strata or weights -> which cases to take, the same on every machine.

Chance comes from SHA-256 of seed and place, not from a generator: neither the platform nor a version of Python or
NumPy nor the order of a set can change a sample.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import fsum, isfinite
from typing import TypeVar

Stratum = TypeVar("Stratum", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Sample:
    """Places in ascending order, each with the probability at which it was to be drawn."""

    indices: tuple[int, ...]
    inclusion: tuple[float, ...]


def allocate(sizes: Mapping[Stratum, int], n: int) -> dict[Stratum, int]:
    """How many of n cases each stratum gets: in proportion to its size, by largest remainder.

    Every stratum that is not empty gets at least one when n allows it, none more than it has; the counts add up to n
    or to all there are. Equal remainders go to the larger stratum, then to the one named first.
    """
    if n < 0 or any(size < 0 for size in sizes.values()):
        raise ValueError("sizes and the number of cases are not negative")
    counts = dict.fromkeys(sizes, 0)
    rest, n = {stratum: size for stratum, size in sizes.items() if size}, min(n, sum(sizes.values()))
    if n >= len(rest):
        # Strata whose share is below one case get one; the others share what is left, until none is below.
        while small := [stratum for stratum, size in rest.items() if n * size < sum(rest.values())]:
            for stratum in small:
                counts[stratum] = 1
                del rest[stratum]
            n -= len(small)
    total = sum(rest.values())
    for stratum, size in rest.items():
        counts[stratum] = n * size // total
    left = n - sum(counts[stratum] for stratum in rest)
    by_remainder = sorted(rest, key=lambda stratum: (n * rest[stratum] % total, rest[stratum]), reverse=True)
    for stratum in by_remainder[:left]:
        counts[stratum] += 1
    return counts


def stratified_sample(strata: Sequence[Hashable], n: int, *, seed: int) -> list[int]:
    """The places of n cases, allocated to strata by `allocate`, in ascending order; all of them when n is too large."""
    members: dict[Hashable, list[int]] = {}
    for place, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(place)
    counts = allocate({stratum: len(places) for stratum, places in members.items()}, n)
    return sorted(
        place
        for stratum, places in members.items()
        for place in sorted(places, key=lambda place: _draw(seed, place))[: counts[stratum]]
    )


def unequal_sample(weights: Sequence[float], n: int, *, seed: int, strata: Sequence[Hashable] | None = None) -> Sample:
    """n places drawn with probabilities in proportion to their weights, and those probabilities.

    Randomised systematic sampling (Hartley and Rao 1962): the places are shuffled, their probabilities laid end to
    end, and every full step from a random start is taken, so that each probability is kept exactly and the sample has
    exactly n places. A probability that would exceed 1 is 1, and the others share the rest. With `strata`, places of
    one stratum lie together, so that each gets its expected number, give or take one.
    """
    if any(not isfinite(weight) or weight <= 0 for weight in weights):
        raise ValueError("every weight has to be above 0: what can never be drawn cannot be spoken for")
    if strata is not None and len(strata) != len(weights):
        raise ValueError(f"{len(weights)} weights and {len(strata)} strata: each weight needs its stratum")
    if n < 0:
        raise ValueError(f"{n} places; the number is not negative")
    chances = _inclusion(weights, min(n, len(weights)))
    certain = [place for place, chance in enumerate(chances) if chance == 1.0]
    open_places = sorted((place for place, chance in enumerate(chances) if chance < 1.0), key=lambda p: _draw(seed, p))
    if strata is not None:
        first_seen = {stratum: rank for rank, stratum in enumerate(dict.fromkeys(strata))}
        open_places.sort(key=lambda place: first_seen[strata[place]])
    ends = list(accumulate(chances[place] for place in open_places))
    start = _draw(seed, -1)
    # The last end may fall short of its whole number by rounding.
    steps = range(min(n, len(weights)) - len(certain))
    drawn = [open_places[min(bisect_right(ends, start + step), len(ends) - 1)] for step in steps]
    indices = sorted(certain + drawn)
    return Sample(tuple(indices), tuple(chances[place] for place in indices))


def _inclusion(weights: Sequence[float], n: int) -> list[float]:
    """n * weight / total, with what reaches 1 taken for certain and the rest scaled anew."""
    certain = [n >= len(weights)] * len(weights)
    while True:
        left = n - sum(certain)
        total = fsum(weight for weight, sure in zip(weights, certain, strict=True) if not sure)
        chances = [1.0 if sure else left * weight / total for weight, sure in zip(weights, certain, strict=True)]
        reached = [chance >= 1.0 for chance in chances]
        if reached == certain:
            return chances
        certain = reached


def _draw(seed: int, place: int) -> float:
    """A number in 0..1 that looks random and is fixed by seed and place."""
    digest = hashlib.sha256(f"{seed}:{place}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53
