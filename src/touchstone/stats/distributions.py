"""Probability -> quantile of the normal and of Student's distribution; counts -> exact tails, Fisher's test among them.

SciPy has all of these; importing it takes longer than scoring a hundred replies, so the few that are needed at run
time are here, and the tests hold them equal to SciPy's.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

STANDARD_NORMAL = NormalDist()
LEVEL = 0.95


# What leaves 2.5 % on either side.
NORMAL_95 = STANDARD_NORMAL.inv_cdf((1 + LEVEL) / 2)


@lru_cache(maxsize=1024)
def two_sided_t(degrees: int) -> float:
    """The quantile of Student's distribution that leaves 2.5 % on either side; `degrees` is a whole number from 1."""
    if degrees < 1:
        raise ValueError(f"{degrees} degrees of freedom; at least 1 is needed")
    z = NORMAL_95
    if degrees > 200:
        # Cornish–Fisher expansion (Abramowitz & Stegun 26.7.5); its error is below 1e-9 here.
        first = (z**3 + z) / 4
        second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        return z + first / degrees + second / degrees**2 + third / degrees**3
    # The angle of t = tan(angle) * sqrt(degrees) is found by halving; its mass has a closed form.
    low, high = 0.0, math.pi / 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _central_mass(middle, degrees) < LEVEL else (low, middle)
    return math.tan(high) * math.sqrt(degrees)


def _central_mass(angle: float, degrees: int) -> float:
    """P(|T| < t) for t = tan(angle) * sqrt(degrees) (Abramowitz & Stegun 26.7.3 and 26.7.4)."""
    cosine, total = math.cos(angle), 0.0
    odd = degrees % 2
    term = cosine if odd else 1.0
    for step in range(1 + odd, degrees, 2):
        total += term
        term *= cosine * cosine * step / (step + 1)
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total


def fair_coin_tail(k: int, n: int) -> float:
    """P(at most k heads in n throws)."""
    if k < 0:
        return 0.0
    if 2 * k >= n:
        return 1.0 - fair_coin_tail(n - k - 1, n)
    # Downwards from k each term is the last one times i / (n - i + 1): the terms fall, so the sum may stop early.
    share, total, i = 1.0, 1.0, k
    while i > 0 and share > 1e-18 * total:
        share *= i / (n - i + 1)
        total += share
        i -= 1
    largest = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2)
    return math.exp(largest) * total


def fisher_greater(a: int, b: int, c: int, d: int) -> float:
    """Fisher's exact test, one-sided: the chance of at least `a` in the first cell of [[a, b], [c, d]].

    The margins are held fixed, so the cell follows the hypergeometric distribution; its tail is added up. An empty
    table, or one without a choice, gives 1.
    """
    import numpy as np

    if min(a, b, c, d) < 0:
        raise ValueError(f"table [[{a}, {b}], [{c}, {d}]]: counts are not negative")
    row, column, n = a + b, a + c, a + b + c + d
    low, high = max(0, row + column - n), min(row, column)
    if a == low:
        return 1.0
    # From one cell count k to the next the chance changes by a simple ratio; logarithms keep far tails from vanishing.
    k = np.arange(low, high)
    ratios = np.log((row - k) * (column - k) / ((k + 1) * (n - row - column + k + 1)))
    logs = np.concatenate(([0.0], np.cumsum(ratios)))
    chances = np.exp(logs - logs.max())
    tail = chances[a - low :]
    return min(1.0, float(tail.sum() / chances.sum()))


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Each p-value's q-value, in the order given: the false discovery rate at which it would just be believed.

    Benjamini and Hochberg (1995): the i-th smallest of m is p * m / i, then made to rise with p.
    """
    if any(not 0 <= p <= 1 for p in ps):
        raise ValueError("a p-value lies outside 0..1")
    adjusted = [1.0] * len(ps)
    least = 1.0
    order = sorted(range(len(ps)), key=lambda place: ps[place])
    for rank, place in sorted(enumerate(order, start=1), reverse=True):
        least = min(least, ps[place] * len(ps) / rank)
        adjusted[place] = least
    return adjusted
