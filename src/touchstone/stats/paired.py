"""The same cases before and after -> did it change, and by how much? And how many cases show which change."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from touchstone.stats.distributions import NORMAL_95, STANDARD_NORMAL, fair_coin_tail
from touchstone.stats.interval import Interval
from touchstone.stats.resampling import SEED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Up to this many steps on their common grid the distribution of a sum with random signs is written out in full.
GRID = 20_000
# Up to this many differences off any grid, every choice of signs is tried.
EVERY_CHOICE = 16
# From here on their sum with random signs, which is symmetric, is as good as normal.
MANY = 500


def mcnemar(improved: int, regressed: int) -> float:
    """McNemar's exact test: the two-sided binomial p-value of the flips at one half; 1 when nothing flipped."""
    if improved < 0 or regressed < 0:
        raise ValueError(f"{improved} improved and {regressed} regressed: counts are not negative")
    return min(1.0, 2 * fair_coin_tail(min(improved, regressed), improved + regressed))


def paired_difference(both: int, only_after: int, only_before: int, neither: int) -> Interval:
    """The change of a pass rate measured twice on the same cases: after minus before.

    Bonett and Price's adjusted Wald interval (2012), which adds one flip each way. In simulation over 42 settings
    (pass rate 60–90 %, 4–30 % flips) its coverage was never under 96.6 % for 20 pairs, 94.9 % for 50 and 94.4 % for
    150; Newcombe's and Tango's intervals covered a little less and were no narrower. No pairs: -1..1.
    """
    counts = (both, only_after, only_before, neither)
    if min(counts) < 0:
        raise ValueError(f"counts {counts}: none may be negative")
    n = sum(counts)
    method = "Bonett–Price"
    if n == 0:
        return Interval(-1.0, 1.0, method)
    up, down = (only_after + 1) / (n + 2), (only_before + 1) / (n + 2)
    half = NORMAL_95 * math.sqrt((up + down - (up - down) ** 2) / (n + 2))
    return Interval(max(-1.0, up - down - half), min(1.0, up - down + half), method)


def paired_p(differences: Sequence[float], *, draws: int = 10_000) -> float:
    """Two-sided p-value of the sign-flip permutation test that differences are as often up as down; 1 without any.

    Exact where the differences lie on a grid, as grades do, and for up to 16 that do not. Otherwise drawn, with the
    observed signs counted as one draw (Phipson and Smyth 2010), or, for more than 500, by the normal limit.
    """
    import numpy as np

    sizes = np.abs(np.asarray(differences, dtype=np.float64))
    if not np.isfinite(sizes).all():
        raise ValueError("a difference is not a finite number; leave out the pairs that were not both scored")
    observed = abs(math.fsum(differences))
    sizes = np.sort(sizes[sizes > 0])
    # Sums that differ by rounding alone are equal.
    reached = observed - 1e-9 * max(1.0, observed)
    if len(sizes) == 0 or reached <= 0:
        return 1.0
    steps = np.rint(sizes / sizes[0])
    if steps.sum() <= GRID and np.allclose(steps * sizes[0], sizes, rtol=1e-9, atol=0):
        return _grid_p(steps.astype(np.int64), reached / float(sizes[0]))
    if len(sizes) <= EVERY_CHOICE:
        choices = (np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))) & 1
        return float(np.mean(np.abs((2 * choices - 1) @ sizes) >= reached))
    if len(sizes) > MANY:
        return 2 * STANDARD_NORMAL.cdf(-observed / math.sqrt(float((sizes**2).sum())))
    signs = 2 * np.random.Generator(np.random.PCG64(SEED)).integers(2, size=(draws, len(sizes)), dtype=np.int8) - 1
    return float((1 + np.count_nonzero(np.abs(signs @ sizes) >= reached)) / (1 + draws))


def _grid_p(steps: "NDArray[np.int64]", reached: float) -> float:
    """The share of all choices of signs whose sum is at least as far from zero, by adding up one size at a time.

    The sum of the steps taken upwards, `up`, gives the signed sum 2 up - total.
    """
    import numpy as np

    ups = np.ones(1)
    for size, count in zip(*np.unique(steps, return_counts=True), strict=True):
        chances = np.zeros(int(size * count) + 1)
        chances[:: int(size)] = _fair_coin_shares(int(count))
        ups = np.convolve(ups, chances)
    total = len(ups) - 1
    far = np.abs(2 * np.arange(total + 1) - total) >= reached
    return min(1.0, float(ups[far].sum()))


def _fair_coin_shares(n: int) -> "NDArray[np.float64]":
    import numpy as np

    ratios = np.log(np.arange(n, 0, -1) / np.arange(1, n + 1))
    logs = np.concatenate(([0.0], np.cumsum(ratios))) - n * math.log(2)
    return np.exp(logs)


def cases_needed(difference: float, *, rate: float, discordant: float | None = None, power: float = 0.8) -> int:
    """How many cases McNemar's exact test needs to find the pass rate moved from `rate` by `difference`, at 5 %.

    With D the difference and F the share of cases that flip, improved less regressed flips have mean nD and variance
    n(F - D²), or nF if nothing changed. The test asks for |nD| - 1 beyond z √(nF) (Edwards' correction, which stands
    for its exactness), so n is the least with

        n|D| - 1 >= z √(nF) + z' √(n(F - D²)),   z = 1.96, z' the quantile of `power`

    (Connor 1987 with that correction). `discordant` is F; without it the two runs are taken as unrelated on each case,
    F = rate (1 - after) + after (1 - rate), which asks for more cases than runs that mostly agree. F is never taken
    as less than |D|.
    """
    _check(rate, power)
    after = rate + difference
    if difference == 0 or not -1e-9 <= after <= 1 + 1e-9:
        raise ValueError(
            f"a pass rate of {rate:g} cannot change by {difference:g}: it has to move and stay within 0..1"
        )
    size, flips = abs(difference), _flips(rate, difference, discordant)
    spread = NORMAL_95 * math.sqrt(flips) + STANDARD_NORMAL.inv_cdf(power) * math.sqrt(flips - size * size)
    # A quadratic in √n.
    root = (spread + math.sqrt(spread * spread + 4 * size)) / (2 * size)
    return math.ceil(round(root * root, 6))


def smallest_detectable(n: int, *, rate: float, discordant: float | None = None, power: float = 0.8) -> float | None:
    """The smallest change of the pass rate, up or down, that n cases show with this power; see `cases_needed`.

    The larger of the two directions counts, or the one there is room for; None when n cases show no change at all.
    """
    _check(rate, power)
    found = [
        size
        for room, sign in ((1 - rate, 1), (rate, -1))
        if (size := _smallest(n, room=room, sign=sign, rate=rate, discordant=discordant, power=power)) is not None
    ]
    return max(found, default=None)


def _smallest(n: int, *, room: float, sign: int, rate: float, discordant: float | None, power: float) -> float | None:
    def shown(size: float) -> bool:
        return cases_needed(sign * size, rate=rate, discordant=discordant, power=power) <= n

    if room <= 0 or not shown(room):
        return None
    low, high = 0.0, room
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


def _flips(rate: float, difference: float, discordant: float | None) -> float:
    # A change that just reaches 0 or 1 may overstep it by rounding.
    after = min(max(rate + difference, 0.0), 1.0)
    flips = rate * (1 - after) + after * (1 - rate) if discordant is None else discordant
    if not 0 <= flips <= 1:
        raise ValueError(f"share of flipping cases {flips:g} is not within 0..1")
    return max(flips, min(abs(difference), 1.0))


def _check(rate: float, power: float) -> None:
    if not 0 <= rate <= 1:
        raise ValueError(f"pass rate {rate:g} is not within 0..1")
    if not 0.5 <= power < 1:
        raise ValueError(f"power {power:g} is not within 0.5..1")
