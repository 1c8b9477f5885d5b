"""Grades of the same replies by two or more raters -> how far they agree beyond chance."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from touchstone.stats.interval import Interval
from touchstone.stats.resampling import DRAWS, SEED, bca_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Weights = Literal["quadratic"] | None


def confusion(a: Sequence[int], b: Sequence[int], *, levels: int = 5) -> tuple[tuple[int, ...], ...]:
    """How often each grade of `a` (row) met each grade of `b` (column); grades are 0 … levels - 1."""
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} grades: both raters have to have graded the same replies")
    table = [[0] * levels for _ in range(levels)]
    for one, other in zip(a, b, strict=True):
        if not (0 <= one < levels and 0 <= other < levels):
            raise ValueError(f"grades {one} and {other}: allowed are 0 to {levels - 1}")
        table[one][other] += 1
    return tuple(tuple(row) for row in table)


def weighted_kappa(
    a: Sequence[int], b: Sequence[int], *, levels: int = 5, weights: Weights = "quadratic"
) -> float | None:
    """Cohen's kappa (1968): 1 less the observed over the chance disagreement; `weights` None counts all alike.

    None where there is nothing to agree on: no grades, or both raters gave one and the same grade throughout.
    """
    import numpy as np

    table = np.asarray(confusion(a, b, levels=levels), dtype=np.float64)
    kappa = float(_kappas(table, _distances(levels, weights)))
    return None if np.isnan(kappa) else kappa


def kappa_interval(
    a: Sequence[int],
    b: Sequence[int],
    *,
    levels: int = 5,
    weights: Weights = "quadratic",
    draws: int = DRAWS,
) -> Interval | None:
    """The BCa bootstrap interval of `weighted_kappa` over pairs of grades; None where kappa is, or for one pair.

    Draws without a kappa are left out. Raters who never differ cannot be resampled into differing: there the rule of
    three lets up to 3/n of all pairs differ, as far apart as chance would have them, which gives 1 - (3/n) / (chance
    of differing) as the lower end.
    """
    import numpy as np

    table = np.asarray(confusion(a, b, levels=levels), dtype=np.float64)
    n, distances = len(a), _distances(levels, weights)
    kappa = float(_kappas(table, distances))
    if n < 2 or np.isnan(kappa):
        return None
    if np.trace(table) == n:
        differing = 1 - float(((table.sum(axis=1) / n) ** 2).sum())
        return Interval(max(-1.0, 1 - min(1.0, 3 / n) / differing), 1.0, "rule of three")
    generator = np.random.Generator(np.random.PCG64(SEED))
    drawn = generator.multinomial(n, table.ravel() / n, size=draws).reshape(draws, levels, levels)
    kappas = _kappas(drawn.astype(np.float64), distances)
    kappas = kappas[~np.isnan(kappas)]
    return bca_interval(kappas, kappa, acceleration=_acceleration(table, distances), n=n)


def krippendorff_alpha(ratings: Sequence[Sequence[float | None]]) -> float | None:
    """Krippendorff's ordinal alpha (2011) for any number of raters: a row is a rater, a column a reply.

    None where it is undefined: no reply has two ratings, or all ratings that can be paired are the same.
    """
    import numpy as np

    if len({len(row) for row in ratings}) > 1:
        raise ValueError("rows of different length: every rater needs one place for each reply, None if not rated")
    values = sorted({value for row in ratings for value in row if value is not None})
    places = {value: place for place, value in enumerate(values)}
    counts = np.zeros((len(ratings[0]) if ratings else 0, len(values)))
    for row in ratings:
        for unit, value in enumerate(row):
            if value is not None:
                counts[unit, places[value]] += 1
    counts = counts[counts.sum(axis=1) >= 2]
    others = counts.sum(axis=1) - 1
    coincidences = (counts / others[:, None]).T @ counts - np.diag((counts / others[:, None]).sum(axis=0))
    margins = coincidences.sum(axis=1)
    ranks = np.cumsum(margins) - margins / 2
    gaps = (ranks[:, None] - ranks[None, :]) ** 2
    expected = float(margins @ gaps @ margins)
    if expected <= 0:
        return None
    return 1 - float((margins.sum() - 1) * (coincidences * gaps).sum()) / expected


def _distances(levels: int, weights: Weights) -> "NDArray[np.float64]":
    import numpy as np

    apart = np.abs(np.subtract.outer(np.arange(levels), np.arange(levels))).astype(np.float64)
    return np.asarray(apart > 0, dtype=np.float64) if weights is None else apart**2


def _kappas(tables: "NDArray[np.float64]", distances: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Kappa of each table along the leading axes; not a number where it is undefined."""
    import numpy as np

    n = tables.sum(axis=(-2, -1))
    observed = (tables * distances).sum(axis=(-2, -1)) * n
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = ((rows @ distances) * columns).sum(axis=-1)
    defined = expected > 0
    return np.asarray(np.where(defined, 1 - observed / np.where(defined, expected, 1.0), np.nan), dtype=np.float64)


def _acceleration(table: "NDArray[np.float64]", distances: "NDArray[np.float64]") -> float:
    """Efron's a by the jackknife; pairs in one cell share their value."""
    import numpy as np

    cells = np.flatnonzero(table)
    without = np.repeat(table[None], len(cells), axis=0).reshape(len(cells), -1)
    without[np.arange(len(cells)), cells] -= 1
    kappas = _kappas(without.reshape(-1, *table.shape), distances)
    counts = table.ravel()[cells] * ~np.isnan(kappas)
    kappas = np.nan_to_num(kappas)
    shifts = (counts @ kappas) / counts.sum() - kappas
    spread = float((counts * shifts**2).sum())
    return float((counts * shifts**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0
