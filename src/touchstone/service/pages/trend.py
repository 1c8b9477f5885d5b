"""Pass rates of runs, oldest first -> a drawing of them over time, with their intervals and the target."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from markupsafe import Markup

from touchstone.report.figures import figure, interval
from touchstone.stats.interval import Interval

_HEIGHT, _TOP, _FLOOR = 240, 18, 196


@dataclass(frozen=True, slots=True)
class Spot:
    """One run in the drawing: where it leads, what it is called, the day it was made and its rate."""

    href: str
    label: str
    when: str
    value: float | None
    interval: Interval | None


def draw_trend(spots: Sequence[Spot], *, target: tuple[float, float] | None) -> Markup:
    """Rates from 0 to 100 %; the target is a band. Each point leads to its run."""
    parts: list[str] = []
    for step in range(0, 101, 25):
        y = _up(step / 100)
        parts.append(f'<line x1="0" y1="{y:.1f}" x2="100%" y2="{y:.1f}" class="{"axis" if step == 0 else "grid"}"/>')
        parts.append(f'<text x="0" y="{y - 4:.1f}" class="tick" text-anchor="start">{step} %</text>')
    if target is not None:
        low, high = _up(target[0]), _up(target[1])
        parts.insert(0, f'<rect x="0" y="{high:.1f}" width="100%" height="{max(low - high, 2):.1f}" class="aim"/>')
    drawn = [(at, spot) for at, spot in enumerate(spots) if spot.value is not None]
    for (first, a), (second, b) in pairwise(drawn):
        start = f'x1="{_along(first, spots)}" y1="{_up(a.value or 0):.1f}"'
        end = f'x2="{_along(second, spots)}" y2="{_up(b.value or 0):.1f}"'
        parts.append(f'<line {start} {end} class="path"/>')
    parts += [_point(_along(at, spots), spot) for at, spot in drawn]
    for at in sorted({0, len(spots) - 1}):
        anchor = "start" if at == 0 and len(spots) > 1 else "end" if len(spots) > 1 else "middle"
        place = f'x="{_along(at, spots)}" y="{_FLOOR + 20}"'
        parts.append(f'<text {place} class="tick" text-anchor="{anchor}">{escape(spots[at].when)}</text>')
    said = "; ".join(f"{spot.label}: {figure(spot.value, 'share')}" for spot in spots)
    head = (
        f'<svg class="chart trend" width="100%" height="{_HEIGHT - 20}" role="group" aria-label="Pass rate over time">'
    )
    return Markup(head + f"<desc>{escape(said)}</desc>" + "".join(parts) + "</svg>")


def _point(x: str, spot: Spot) -> str:
    whisker = ""
    if spot.interval is not None:
        ends = f'y1="{_up(spot.interval.low):.1f}" y2="{_up(spot.interval.high):.1f}"'
        whisker = f'<line x1="{x}" x2="{x}" {ends} class="interval"/>'
    title = escape(f"{spot.label}: {figure(spot.value, 'share')} ({interval(spot.interval, 'share') or 'no interval'})")
    dot = f'<circle cx="{x}" cy="{_up(spot.value or 0):.1f}" r="5.5" class="point"/>'
    return f'<a href="{escape(spot.href)}" aria-label="{title}"><title>{title}</title>{whisker}{dot}</a>'


def _up(share: float) -> float:
    return _FLOOR - share * (_FLOOR - _TOP)


def _along(at: int, spots: Sequence[Spot]) -> str:
    """Right of the scale, up to 96 % of the width."""
    step = 0.5 if len(spots) == 1 else at / (len(spots) - 1)
    return f"{16 + 80 * step:.2f}%"
