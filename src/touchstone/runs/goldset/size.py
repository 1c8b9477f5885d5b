"""A difference to detect -> how many cases show it: paired runs on the same cases, and one run's pass rate."""

from dataclasses import dataclass

from touchstone.stats.power import cases_needed
from touchstone.stats.proportions import wilson

# Beyond this many cases the question is no longer one of a gold set.
_MOST = 10_000_000


@dataclass(frozen=True, slots=True)
class SizeNeeded:
    """How many cases are needed to see a change of `difference` from `rate`.

    `paired` is for two runs on the same cases with the given power; `rises` and `falls` are its two directions, None
    where the rate has no room. `single` is for one run whose interval is to reach no further than `difference`.
    """

    difference: float
    rate: float
    power: float
    discordant: float | None
    rises: int | None
    falls: int | None
    single: int

    @property
    def paired(self) -> int:
        return max(each for each in (self.rises, self.falls) if each is not None)


def size_needed(difference: float, *, rate: float, power: float, discordant: float | None) -> SizeNeeded:
    """ValueError when the rate has no room for the difference either way."""
    rises, falls = (
        cases_needed(change, rate=rate, discordant=discordant, power=power)
        if 0 <= round(rate + change, 9) <= 1
        else None
        for change in (difference, -difference)
    )
    if rises is None and falls is None:
        raise ValueError(f"a pass rate of {rate:g} can neither rise nor fall by {difference:g}")
    return SizeNeeded(difference, rate, power, discordant, rises, falls, cases_for_margin(difference, rate=rate))


def cases_for_margin(margin: float, *, rate: float) -> int:
    """The fewest cases from which on a pass rate near `rate` is known to within `margin` on average of both sides."""
    low, high = 0, 1
    while high < _MOST and _margin(high, rate) > margin:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _margin(middle, rate) > margin else (low, middle)
    return high


def _margin(cases: int, rate: float) -> float:
    interval = wilson(round(rate * cases), cases)
    return (interval.high - interval.low) / 2
