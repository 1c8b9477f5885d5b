"""A range that holds the true figure with a stated probability; how often out of how many -> the range of the rate."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from touchstone.stats.distributions import LEVEL, NORMAL_95


@dataclass(frozen=True, slots=True)
class Interval:
    """Both ends, the method's name ("Wilson", "rule of three", "bootstrap" …) and the level."""

    low: float
    high: float
    method: str
    level: float = LEVEL


def wilson(successes: int, n: int) -> Interval:
    """Wilson's score interval (Wilson 1927): holds its level for small counts and never leaves 0..1.

    Nothing counted (n = 0) says nothing: the interval is 0..1.
    """
    _check(successes, n)
    return wilson_rate(successes / n if n else 0.0, n)


def wilson_rate(rate: float, n: int) -> Interval:
    """Wilson's interval for a rate that need not be a whole count out of n, such as a mean of values within 0..1."""
    z = NORMAL_95
    if n == 0:
        return Interval(0.0, 1.0, "Wilson")
    centre = rate + z * z / (2 * n)
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At both ends of the range the formula gives the end itself, but for rounding.
    low = 0.0 if rate == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if rate == 1 else min(1.0, (centre + half) / scale)
    return Interval(low, high, "Wilson")


def difference_of_independent(before: float, first: Interval, after: float, second: Interval) -> Interval:
    """The change from one figure to another of another sample, from the interval of each.

    The method of variance estimates recovery (Zou and Donner 2008); for Wilson's intervals of two shares it is
    Newcombe's (1998). The figures lie within 0..1.
    """
    change = after - before
    below = math.hypot(after - second.low, first.high - before)
    above = math.hypot(second.high - after, before - first.low)
    return Interval(max(-1.0, change - below), min(1.0, change + above), "variance estimates recovery")


def rule_of_three(n: int) -> Interval:
    """What n trials without the event allow at 95 %: 0 to 3/n (Hanley and Lippman-Hand 1983).

    The bound is one-sided: (1 - 3/n)^n is about 5 %. Nothing counted (n = 0), or fewer than three: 0..1.
    """
    _check(0, n)
    return Interval(0.0, min(1.0, 3 / n) if n else 1.0, "rule of three")


def rare_interval(events: int, n: int) -> Interval:
    """The rule of three where the event did not occur, Wilson's interval otherwise."""
    return rule_of_three(n) if events == 0 else wilson(events, n)


@dataclass(frozen=True, slots=True)
class Proportion:
    """So many of so many, with an interval; of none there is neither a value nor an interval."""

    hits: int
    of: int
    value: float | None
    interval: Interval | None


def proportion(hits: int, of: int, *, by: Callable[[int, int], Interval] = wilson) -> Proportion:
    """The share of `of` that `hits` are, with Wilson's interval or another."""
    return Proportion(hits, of, hits / of, by(hits, of)) if of else Proportion(hits, of, None, None)


def _check(successes: int, n: int) -> None:
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no count: it has to lie between 0 and the number of trials")
