"""Figures -> inline SVG. Colours are classes of the page's style; places are percentages, so that text keeps its size.

Every drawing has a title and a description; the page puts the same figures beside it as a table.
"""

from collections.abc import Iterable, Sequence
from html import escape

from touchstone.report.figures import Scale, figure, interval, top_of
from touchstone.report.run.view import CriterionView
from touchstone.runs.targets import Headline
from touchstone.stats.calibration import Reliability
from touchstone.stats.interval import Interval

# Below this share of a bar a count does not fit into its part.
_READABLE = 7.0
_ROW = 46
_SQUARE = 300
_PAD_LEFT, _PAD_TOP, _PAD_RIGHT, _PAD_BOTTOM = 44, 10, 14, 44


def histogram(totals: Sequence[int], *, name: str) -> str:
    """How many replies have a total in each tenth of the points."""
    height, floor, room = 210, 176, 146
    width, tallest = 100 / max(len(totals), 1), max(totals, default=0) or 1
    parts = [_line("0%", floor, "100%", floor, "axis")]
    for at, number in enumerate(totals):
        tall = number / tallest * room
        middle = _percent((at + 0.5) * width)
        parts.append(_rect((at + 0.08) * width, floor - tall, width * 0.84, tall, f"bar g{_tone(at, len(totals))}"))
        parts.append(_text(middle, floor - tall - 6, f"{number:,}" if number else "", "count", "middle"))
        parts.append(_text(_percent(at * width), floor + 18, str(at * 100 // len(totals)), "tick", _end(at)))
    parts.append(_text("100%", floor + 18, "100", "tick", "end"))
    parts.append(_text("50%", height - 2, "total points", "tick", "middle"))
    said = ", ".join(f"{at * 10} to {at * 10 + 10} points: {number:,}" for at, number in enumerate(totals) if number)
    return _svg(parts, height=height, name=name, title="Distribution of total points", said=said or "no totals")


def small_histogram(totals: Sequence[int], *, name: str, label: str) -> str:
    """The same without numbers, to stand in a table."""
    tallest, width = max(totals, default=0) or 1, 100 / max(len(totals), 1)
    parts = [_line("0%", 27.5, "100%", 27.5, "axis")]
    for at, number in enumerate(totals):
        tall = number / tallest * 25
        parts.append(_rect((at + 0.06) * width, 27 - tall, width * 0.88, tall, f"bar g{_tone(at, len(totals))}"))
    said = ", ".join(f"{at * 10} to {at * 10 + 10}: {number:,}" for at, number in enumerate(totals) if number)
    return _svg(parts, height=28, name=name, title=f"Total points in {label}", said=said or "no totals", small=True)


def grade_bars(rows: Sequence[CriterionView], *, name: str, title: str) -> str:
    """One bar for each row, parted by how often each grade was given."""
    parts: list[str] = []
    for at, row in enumerate(rows):
        top = at * _ROW
        note = f"mean {row.mean}" if row.graded else "not graded"
        parts.append(_text("0%", top + 13, row.name, "label", "start"))
        parts.append(_text("100%", top + 13, note, "tick", "end"))
        parts += _parted(row.counts, top=top + 19)
    said = "; ".join(f"{row.name}: " + _grades(row.counts) for row in rows)
    return _svg(parts, height=max(len(rows) * _ROW - 3, 1), name=name, title=title, said=said)


def measure_strip(measure: Headline, scale: Scale, *, name: str) -> str:
    """Where a headline figure and its interval lie on its scale, and which part of the scale is the target."""
    top = top_of(scale)
    parts = [_rect(0, 9, 100, 4, "track")]
    if measure.target:
        low, high = measure.target.low or 0.0, top if measure.target.high is None else measure.target.high
        if low == high:
            parts.append(_line(_along(low, top), 3, _along(low, top), 19, "goal"))
        else:
            start, end = _share(low, top), _share(high, top)
            parts.append(_rect(start, 5, max(end - start, 0.0), 12, "aim"))
    parts += _whisker(measure.value, measure.interval, top=top, y=11)
    said = f"{figure(measure.value, scale)}, interval {interval(measure.interval, scale) or 'none'}"
    said += f", target {measure.target.text}" if measure.target else ""
    return _svg(parts, height=22, name=name, title=f"{measure.name.replace('_', ' ')} on its scale", said=said)


def share_bar(share: float, *, label: str) -> str:
    """A share as the filled part of a thin line; the number stands beside it, so readers aloud leave it out."""
    parts = [_rect(0, 0, 100, 4, "track"), _rect(0, 0, _share(share, 1.0), 4, "fill")]
    return f'<svg class="chart share" width="100%" height="4" aria-hidden="true"><title>{escape(label)}</title>' + (
        "".join(parts) + "</svg>"
    )


def rate_strip(
    value: float | None,
    found: Interval | None,
    *,
    name: str,
    label: str,
    what: str = "Pass rate in",
    scale: Scale = "share",
) -> str:
    """A rate with its interval on a line from 0 to 1, to stand in a table; `what` is said before the label."""
    parts = [_line("0%", 14, "100%", 14, "axis"), _line("50%", 10, "50%", 18, "axis")]
    parts += _whisker(value, found, top=1.0, y=14)
    said = f"{figure(value, scale)}, interval {interval(found, scale) or 'none'}"
    return _svg(parts, height=28, name=name, title=f"{what} {label}", said=said, small=True)


def change_strip(value: float | None, found: Interval | None, *, reach: float, name: str, label: str) -> str:
    """A difference with its interval around no change, on a scale that reaches equally far both ways."""
    parts = [_line("0%", 14, "100%", 14, "axis"), _line("50%", 4, "50%", 24, "zero")]
    if value is not None and found is not None:
        shifted = Interval(found.low + reach, found.high + reach, found.method, found.level)
        parts += _whisker(value + reach, shifted, top=2 * reach, y=14)
    return _svg(parts, height=28, name=name, title=f"Change of {label}", said="its figures stand beside it", small=True)


def reliability_diagram(found: Reliability, *, name: str, upright: str = "share that passed") -> str:
    """Stated confidence against the share that came true; on the diagonal, whoever states it knows how good it is."""
    inside = _SQUARE - _PAD_LEFT - _PAD_RIGHT, _SQUARE - _PAD_TOP - _PAD_BOTTOM
    place = _Square(_PAD_LEFT, _PAD_TOP, *inside)
    parts = [_grid(place, upright), _line(*place.at(0, 0), *place.at(1, 1), "diagonal")]
    most = max((each.n for each in found.bins), default=0) or 1
    for each in found.bins:
        if each.accuracy is None or each.mean_confidence is None:
            continue
        x, y = place.at(each.mean_confidence, each.accuracy)
        if each.interval:
            ends = place.at(each.mean_confidence, each.interval.low)[1], place.at(0, each.interval.high)[1]
            parts.append(_line(x, ends[0], x, ends[1], "interval"))
        radius = 3.5 + 5.5 * (each.n / most) ** 0.5
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" class="point"/>')
    said = "; ".join(
        f"confidence {each.low:.1f} to {each.high:.1f}: {figure(each.accuracy, 'share')} of {each.n:,}, {upright}"
        for each in found.bins
        if each.n
    )
    head = f'<svg viewBox="0 0 {_SQUARE} {_SQUARE}" class="square" role="img" '
    return head + _named(name, "Reliability diagram", said) + "".join(parts) + "</svg>"


class _Square:
    """Shares on both axes -> points of a drawing."""

    def __init__(self, left: float, top: float, width: float, height: float) -> None:
        self.left, self.top, self.width, self.height = left, top, width, height

    def at(self, across: float, up: float) -> tuple[float, float]:
        return self.left + across * self.width, self.top + (1 - up) * self.height


def _grid(place: _Square, title: str) -> str:
    parts = []
    for step in range(6):
        share = step / 5
        x, y = place.at(share, share)
        bottom, left = place.at(0, 0)[1], place.left
        parts.append(_line(left, y, left + place.width, y, "axis" if step == 0 else "grid"))
        parts.append(_text(f"{left - 7:.1f}", y + 4, f"{share:.1f}", "tick", "end"))
        parts.append(_text(f"{x:.1f}", bottom + 17, f"{share:.1f}", "tick", "middle"))
    parts.append(_text(f"{place.left + place.width / 2:.1f}", _SQUARE - 8, "stated confidence", "tick", "middle"))
    upright = f'<text transform="translate(11 {place.top + place.height / 2:.1f}) rotate(-90)" '
    parts.append(upright + 'class="tick" text-anchor="middle">' + escape(title) + "</text>")
    return "".join(parts)


def _parted(counts: Sequence[int], *, top: float) -> Iterable[str]:
    whole, start = sum(counts), 0.0
    if not whole:
        yield _rect(0, top, 100, 20, "track")
        return
    for grade, number in enumerate(counts):
        wide = number / whole * 100
        if number:
            yield _rect(start, top, wide, 20, f"bar g{grade}")
        if wide >= _READABLE:
            yield _text(_percent(start + wide / 2), top + 14.5, f"{number:,}", f"on on{grade}", "middle")
        start += wide


def _whisker(value: float | None, found: Interval | None, *, top: float, y: float) -> Iterable[str]:
    if found is not None:
        yield _line(_along(found.low, top), y, _along(found.high, top), y, "interval")
    if value is not None:
        yield f'<circle cx="{_along(value, top)}" cy="{y:g}" r="4.5" class="point"/>'


def _grades(counts: Sequence[int]) -> str:
    return ", ".join(f"{number:,} times {grade}" for grade, number in enumerate(counts) if number) or "not graded"


def _svg(parts: Iterable[str], *, height: float, name: str, title: str, said: str, small: bool = False) -> str:
    kind = "chart small" if small else "chart"
    head = f'<svg class="{kind}" width="100%" height="{height:g}" role="img" '
    return head + _named(name, title, said) + "".join(parts) + "</svg>"


def _named(name: str, title: str, said: str) -> str:
    labels = f'aria-labelledby="{name}-t {name}-d">'
    return f'{labels}<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(said)}</desc>'


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    place = f'x="{_percent(x)}" y="{y:.1f}" width="{_percent(width)}" height="{height:.1f}"'
    return f'<rect {place} class="{kind}"/>'


def _line(x1: str | float, y1: float, x2: str | float, y2: float, kind: str) -> str:
    ends = f'x1="{_shown(x1)}" y1="{y1:.1f}" x2="{_shown(x2)}" y2="{y2:.1f}"'
    return f'<line {ends} class="{kind}"/>'


def _text(x: str, y: float, text: str, kind: str, anchor: str) -> str:
    if not text:
        return ""
    return f'<text x="{x}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def _shown(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.1f}"


def _share(value: float, top: float) -> float:
    return min(max(value / top, 0.0), 1.0) * 100


def _along(value: float, top: float) -> str:
    return _percent(_share(value, top))


def _percent(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") + "%"


def _tone(at: int, parts: int) -> int:
    """The colour of a part of the scale of points: the five of the grades, spread over it."""
    return at * 5 // parts


def _end(at: int) -> str:
    return "start" if at == 0 else "middle"
