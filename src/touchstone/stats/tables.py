"""A two-by-two table -> is the event more frequent here than there? Many such p-values -> which may be believed."""

from collections.abc import Sequence


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
