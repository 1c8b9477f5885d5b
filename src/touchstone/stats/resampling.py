"""A figure, its bootstrap draws and its skewness -> both ends of a BCa interval.

BCa (Efron 1987) corrects the percentile interval for bias and skewness. Its normal quantile is widened to Student's,
as Hesterberg (2015) proposes for the percentile interval, because the draws from n values spread by sqrt((n - 1) / n)
too little and the spread itself is estimated.
"""

import math
from typing import TYPE_CHECKING

from touchstone.stats.distributions import STANDARD_NORMAL, two_sided_t
from touchstone.stats.interval import LEVEL, Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEED = 7
DRAWS = 2000
METHOD = "bootstrap"


def bca_interval(draws: "NDArray[np.float64]", estimate: float, *, acceleration: float, n: int) -> Interval:
    """The interval from the draws of a figure over n units; `acceleration` is Efron's a, by the jackknife."""
    import numpy as np

    close = 1e-12 * max(1.0, abs(estimate))
    below = np.count_nonzero(draws < estimate - close)
    equal = np.count_nonzero(np.abs(draws - estimate) <= close)
    # Ties count half; half a draw is kept at either end, so that the quantile stays finite.
    share = (below + equal / 2) / len(draws)
    bias = STANDARD_NORMAL.inv_cdf(min(max(share, 0.5 / len(draws)), 1 - 0.5 / len(draws)))
    low, high = (STANDARD_NORMAL.cdf(point) for point in bca_points(bias, acceleration, n))
    ends = np.quantile(draws, [low, high])
    # The correction can overtake the estimate in tiny samples; an interval always holds its own figure.
    return Interval(min(float(ends[0]), estimate), max(float(ends[1]), estimate), METHOD)


def bca_points(bias: float, acceleration: float, n: int) -> tuple[float, float]:
    """Where on the normal scale the draws' distribution is to be read for the two ends."""
    wide = math.sqrt(n / (n - 1)) * two_sided_t(LEVEL, n - 1)
    return _point(bias, acceleration, -wide), _point(bias, acceleration, wide)


def _point(bias: float, acceleration: float, z: float) -> float:
    shifted = bias + z
    shrink = 1 - acceleration * shifted
    # Past its pole the formula would turn round; the end of the draws is meant.
    return bias + shifted / shrink if shrink > 0 else math.copysign(math.inf, shifted)
