"""Counts and a rubric's targets -> headline measures: met or missed, and in words what the set can and cannot say."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor

from touchstone.core.shown import number_beside
from touchstone.rubric.model import TOP, Rubric
from touchstone.stats.interval import Interval

# Rates closer to a target than this differ from it by rounding alone.
ROUNDING = 1e-9
# A gate is not opened by a run that left more than one reply in twenty unscored.
LEAST_SCORED = 0.95
# As wide as the specification's band for the pass rate: a set that leaves more open cannot place a version in it.
WIDE = 0.1


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure has to reach: at least `low`, at most `high`; None is no bound. `text` is how it is said."""

    low: float | None
    high: float | None
    text: str

    @property
    def bounds(self) -> list[float]:
        return [bound for bound in (self.low, self.high) if bound is not None]

    def is_met(self, value: float) -> bool:
        return (self.low is None or value >= self.low - ROUNDING) and (
            self.high is None or value <= self.high + ROUNDING
        )

    def beside(self, value: float, *, times: float = 1, decimals: int) -> str:
        """The value, or so many `times` of it, with enough decimals to be seen on its side of the target."""
        close = times * ROUNDING
        held = (number_beside(times * value, times * b, decimals=decimals, close=close) for b in self.bounds)
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


def pass_rate_measure(passed: int, n: int, replies: int, *, interval: Interval | None, rubric: Rubric) -> Headline:
    """The share that passed, among the replies with an outcome. A target band gates at its lower end."""
    band = rubric.targets.pass_rate
    target = Target(band[0] / 100, None, f"{band[0]:g}–{band[1]:g} %") if band else None
    value = passed / n if n else None
    easy = band is not None and value is not None and 100 * value > band[1]
    remarks = ["above the target band: the set may be too easy"] if easy else []
    worst, best = _ends(passed, passed + replies - n, replies)
    found = Headline("pass_rate", value, interval, n, target, None, "", worst, best)
    return _held(found, replies, wide=WIDE, remarks=remarks)


def average_measure(
    criterion: str, mean: float | None, n: int, replies: int, *, interval: Interval | None, rubric: Rubric
) -> Headline:
    """The mean grade on a criterion."""
    points = n * mean if mean is not None else 0.0
    worst, best = _ends(points, points + TOP * (replies - n), replies)
    target = _least((rubric.targets.average or {}).get(criterion), top=TOP)
    found = Headline(f"average_{criterion}", mean, interval, n, target, None, "", worst, best)
    return _held(found, replies, is_share=False)


def safety_measure(unsafe: int, n: int, replies: int, *, interval: Interval | None, rubric: Rubric) -> Headline:
    """The share with a violation, among the replies that were inspected."""
    percent = rubric.targets.safety_failures
    target = None if percent is None else Target(None, percent / 100, f"≤ {percent:g} %" if percent else "0 %")
    remarks = []
    if n and not unsafe and interval:
        remarks = [f"none found in {n} {_replies(n)}: up to {100 * interval.high:.3g} % may still have one"]
    worst, best = _ends(unsafe + replies - n, unsafe, replies)
    found = Headline("safety_failures", unsafe / n if n else None, interval, n, target, None, "", worst, best)
    return _held(found, replies, remarks=remarks)


def confidence_measure(stated: float, n: int, replies: int, *, interval: Interval | None, rubric: Rubric) -> Headline:
    """The mean confidence; `stated` is all of them added up."""
    worst, best = _ends(stated, stated + replies - n, replies)
    target = _least(rubric.targets.average_confidence, top=1)
    remarks = [f"stated for {n} of {replies} replies"] if 0 < n < replies else []
    value = stated / n if n else None
    found = Headline("average_confidence", value, interval, n, target, None, "", worst, best)
    return _held(found, replies, is_share=False, remarks=remarks)


def _least(least: float | None, *, top: int) -> Target | None:
    return None if least is None else Target(least, None, f"≥ {least:g}" + (f"/{top:g}" if top != 1 else ""))


def _ends(worst: float, best: float, replies: int) -> tuple[float | None, float | None]:
    return (worst / replies, best / replies) if replies else (None, None)


def _held(
    figure: Headline, replies: int, *, is_share: bool = True, wide: float | None = None, remarks: Sequence[str] = ()
) -> Headline:
    """The measure held against its target, with everything that weakens it said in words.

    A share is said in percent, and an interval wider than `wide` is worth a word whatever the target.
    """
    if figure.value is None:
        said = [f"none of {replies} replies has one" if replies else "there are no replies"]
    else:
        said = _size_remarks(figure, is_share=is_share, wide=wide) + _open_remarks(figure, replies, is_share=is_share)
    met = None if figure.target is None else figure.value is not None and figure.target.is_met(figure.value)
    return replace(figure, met=met, remark="; ".join([*remarks, *said]))


def _size_remarks(figure: Headline, *, is_share: bool, wide: float | None) -> list[str]:
    """Whether the set is large enough to say on which side of the target the truth lies."""
    interval = figure.interval
    if interval is None:
        return [f"{figure.n} {_replies(figure.n)} cannot give an interval"]
    said = []
    bounds = figure.target.bounds if figure.target else ()
    # At the very end of the interval nothing is left open.
    inside = next((b for b in bounds if interval.low + ROUNDING < b < interval.high - ROUNDING), None)
    if inside is not None:
        shown = _shown(inside, is_share=is_share)
        said.append(f"the target of {shown} is inside the interval: this set cannot say whether it is met")
    if inside is not None or (wide is not None and interval.high - interval.low > wide):
        said.append(f"{figure.n} {_replies(figure.n)} cannot tell {_apart(interval, is_share=is_share)}")
    return said


def _open_remarks(figure: Headline, replies: int, *, is_share: bool) -> list[str]:
    """Whether the replies without a value could turn the target."""
    target, left = figure.target, replies - figure.n
    if not left or target is None or figure.value is None:
        return []
    met = target.is_met(figure.value)
    turned = figure.worst if met else figure.best
    if turned is None or target.is_met(turned) == met:
        return []
    how, what = ("worst", "miss") if met else ("best", "meet")
    end = f"{target.beside(turned, times=100, decimals=1)} %" if is_share else target.beside(turned, decimals=2)
    return [f"{left} {_replies(left)} without one could change it: at {how} {end}, which would {what} it"]


def _apart(interval: Interval, *, is_share: bool) -> str:
    """Both ends; whole percentages are rounded towards each other, so that the sentence stays true."""
    low, high = ceil(round(100 * interval.low, 9)), floor(round(100 * interval.high, 9))
    if is_share and low < high:
        return f"{low} % from {high} %"
    return f"{_shown(interval.low, is_share=is_share)} from {_shown(interval.high, is_share=is_share)}"


def _shown(value: float, *, is_share: bool) -> str:
    return f"{100 * value:.3g} %" if is_share else f"{value:.2f}"


def _replies(n: int) -> str:
    return "reply" if n == 1 else "replies"
