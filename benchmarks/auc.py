"""Scores and yes/no labels -> area under the ROC curve with a bootstrap interval; ties count half."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
SEED = 20_250_101
LEVEL = 0.95


class Auc(NamedTuple):
    """The area and the ends of its 95 % interval; None when there is only one kind of label."""

    value: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        return "–" if self.value is None else f"{self.value:.3f} ({self.low:.3f}–{self.high:.3f})"


def auc(scores: Sequence[float], labels: Sequence[bool]) -> Auc:
    """How surely a case with the label scores above one without; the cases are resampled, with a fixed seed."""
    positive = np.asarray(labels, dtype=bool)
    if positive.all() or not positive.any():
        return Auc(None, None, None)
    group = np.unique(np.asarray(scores, dtype=float), return_inverse=True)[1]
    random = np.random.default_rng(SEED)
    everyone = np.ones(len(positive))
    draws = (
        np.bincount(random.integers(len(positive), size=len(positive)), minlength=len(positive))
        for _ in range(RESAMPLES)
    )
    areas = [area for counts in draws if (area := _area(group, positive, counts)) is not None]
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(areas, [tail, 100 - tail])
    return Auc(_area(group, positive, everyone), float(low), float(high))


def _area(group: NDArray[np.intp], positive: NDArray[np.bool_], counts: NDArray[np.generic]) -> float | None:
    """The area when each case stands in the sample `counts` times; `group` is the rank of its score."""
    size = int(group.max()) + 1
    with_label = np.bincount(group, weights=counts * positive, minlength=size)
    without = np.bincount(group, weights=counts * ~positive, minlength=size)
    pairs = with_label.sum() * without.sum()
    below = np.cumsum(without) - without
    return float((with_label * (below + without / 2)).sum() / pairs) if pairs else None
