"""Figures and a rubric's targets -> measures: met or missed, and in plain words what the set can and cannot say."""

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.core.shown import number_beside
from touchstone.rubric.model import TOP
from touchstone.stats.interval import Interval
from touchstone.stats.power import Indistinct

# Rates closer to a target than this differ from it by rounding alone.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure has to reach: at least `low`, at most `high`; None is no bound. `text` is how it is said."""

    low: float | None
    high: float | None
    text: str

    def is_met(self, value: float) -> bool:
        return (self.low is None or value >= self.low - ROUNDING) and (
            self.high is None or value <= self.high + ROUNDING
        )

    def beside(self, value: float, *, times: float = 1, decimals: int) -> str:
        """The value, or so many `times` of it, with enough decimals to be seen on its side of the target."""
        bounds = [bound for bound in (self.low, self.high) if bound is not None]
        held = (number_beside(times * value, times * b, decimals=decimals, close=times * ROUNDING) for b in bounds)
        return max(held, key=len, default=f"{times * value:.{decimals}f}")


@dataclass(frozen=True, slots=True)
class Headline:
    """One headline figure: what it is, on how many replies it rests, its target and whether that is met.

    `value` is None when nothing could be counted, and `met` is None when there is no target. A value of None
    never meets a target. `worst` and `best` are what it would be if all replies without one were as bad or as good as
    can be.
    """

    name: str
    value: float | None
    interval: Interval | None
    n: int
    target: Target | None
    met: bool | None
    remark: str
    worst: float | None = None
    best: float | None = None

    @property
    def is_decided(self) -> bool:
        """Whether the replies without a value could no longer turn it from missing its target to meeting it."""
        return self.best is not None and self.target is not None and not self.target.is_met(self.best)


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure before it is held against its target.

    `worst` and `best` are the values it would have if all replies without one were as bad or as good as can be;
    a share is said in percent, and an interval wider than `wide` is worth a word whatever the target.
    """

    name: str
    value: float | None
    interval: Interval | None
    n: int
    replies: int
    worst: float | None = None
    best: float | None = None
    is_share: bool = True
    wide: float | None = None


def pass_rate_target(band: tuple[float, float] | None) -> Target | None:
    """A band gates at its lower end."""
    return Target(band[0] / 100, None, f"{band[0]:g}–{band[1]:g} %") if band else None


def average_target(least: float | None, *, top: float = TOP) -> Target | None:
    return None if least is None else Target(least, None, f"≥ {least:g}" + (f"/{top:g}" if top != 1 else ""))


def safety_target(percent: float | None) -> Target | None:
    if percent is None:
        return None
    return Target(None, percent / 100, f"≤ {percent:g} %" if percent else "0 %")


def hold(figure: Figure, target: Target | None, *, remarks: Sequence[str] = ()) -> Headline:
    """The measure, with everything that weakens it said in words."""
    met = None if target is None else figure.value is not None and target.is_met(figure.value)
    said = (
        [_nothing(figure)] if figure.value is None else [*_size_remarks(figure, target), *_open_remarks(figure, target)]
    )
    return Headline(
        figure.name,
        figure.value,
        figure.interval,
        figure.n,
        target,
        met,
        "; ".join(filter(None, (*remarks, *said))),
        figure.worst,
        figure.best,
    )


def _nothing(figure: Figure) -> str:
    return f"none of {figure.replies} replies has one" if figure.replies else "there are no replies"


def _size_remarks(figure: Figure, target: Target | None) -> list[str]:
    """Whether the set is large enough to say on which side of the target the truth lies."""
    interval = figure.interval
    if interval is None:
        return [f"{figure.n} {_replies(figure.n)} cannot give an interval"]
    said = []
    bound = _inside(interval, target)
    if bound is not None:
        said.append(
            f"the target of {_shown(bound, figure)} is inside the interval: this set cannot say whether it is met"
        )
    if bound is not None or (figure.wide is not None and interval.high - interval.low > figure.wide):
        said.append(f"{figure.n} {_replies(figure.n)} cannot tell {_ends(interval, figure)}")
    return said


def _inside(interval: Interval, target: Target | None) -> float | None:
    """The bound of the target that lies within the interval; at its very end nothing is left open."""
    bounds = [] if target is None else [b for b in (target.low, target.high) if b is not None]
    return next((b for b in bounds if interval.low + ROUNDING < b < interval.high - ROUNDING), None)


def _open_remarks(figure: Figure, target: Target | None) -> list[str]:
    """Whether the replies without a value could turn the target."""
    left = figure.replies - figure.n
    if not left or target is None or figure.value is None:
        return []
    met = target.is_met(figure.value)
    turned = figure.worst if met else figure.best
    if turned is None or target.is_met(turned) == met:
        return []
    how, what = ("worst", "miss") if met else ("best", "meet")
    end = f"{target.beside(turned, times=100, decimals=1)} %" if figure.is_share else target.beside(turned, decimals=2)
    return [f"{left} {_replies(left)} without one could turn it: at {how} {end}, which would {what} it"]


def _ends(interval: Interval, figure: Figure) -> str:
    """Both ends; percentages are rounded towards each other, so that the sentence stays true."""
    if figure.is_share:
        pair = Indistinct(figure.n, interval.low, interval.high)
        if pair.low_percent < pair.high_percent:
            return f"{pair.low_percent} % from {pair.high_percent} %"
    return f"{_shown(interval.low, figure)} from {_shown(interval.high, figure)}"


def _shown(value: float, figure: Figure) -> str:
    return f"{100 * value:.3g} %" if figure.is_share else f"{value:.2f}"


def _replies(n: int) -> str:
    return "reply" if n == 1 else "replies"
