"""A wished-for difference -> how many cases show it. A number of cases -> the smallest difference they show."""

import math

from touchstone.stats.distributions import NORMAL_95, STANDARD_NORMAL


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
