"""Figures -> inline SVG. Colours are classes of the page's style; places are percentages, so that text keeps its size.

Every drawing has a title and a description; the page puts the same figures beside it as a table.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

from markupsafe import Markup

from touchstone.report.figures import Scale, figure, interval, top_of, words
from touchstone.report.plain import one_line
from touchstone.runs.summary import CriterionFigures
from touchstone.runs.targets import Headline
from touchstone.stats.calibration import Reliability
from touchstone.stats.interval import Interval
from touchstone.trust.trust import CoveragePoint

# Below this share of a bar a count does not fit into its part.
_READABLE = 7.0
_ROW = 46


def histogram(totals: Sequence[int], *, name: str, label: str = "") -> Markup:
    """How many replies have a total in each tenth of the points; with a label it is small, for a table."""
    width, most = 100 / max(len(totals), 1), max(totals, default=0) or 1
    floor, room, gap, lift = (27.0, 25, 0.06, 0.5) if label else (176.0, 146, 0.08, 0.0)
    parts = [_line("0%", floor + lift, "100%", floor + lift, "axis")]
    for at, number in enumerate(totals):
        tall = number / most * room
        # The five colours of the grades, spread over the points.
        colour = at * 5 // len(totals)
        parts.append(_rect((at + gap) * width, floor - tall, width * (1 - 2 * gap), tall, f"bar g{colour}"))
        if not label:
            middle = _percent((at + 0.5) * width)
            parts.append(_text(middle, floor - tall - 6, f"{number:,}" if number else "", "count", "middle"))
            anchor = "middle" if at else "start"
            parts.append(_text(_percent(at * width), floor + 18, str(at * 100 // len(totals)), "tick", anchor))
    unit = "" if label else " points"
    said = ", ".join(f"{at * 10} to {at * 10 + 10}{unit}: {n:,}" for at, n in enumerate(totals) if n) or "no totals"
    if label:
        return _svg(parts, height=28, name=name, title=f"Total points in {label}", said=said, small=True)
    parts.append(_text("100%", floor + 18, "100", "tick", "end"))
    parts.append(_text("50%", 208, "total points", "tick", "middle"))
    return _svg(parts, height=210, name=name, title="Distribution of total points", said=said)


def grade_bars(rows: Sequence[tuple[str, CriterionFigures]], *, name: str, title: str) -> Markup:
    """One bar for each row, split by how often each grade was given."""
    parts: list[str] = []
    for at, (label, figures) in enumerate(rows):
        top = at * _ROW
        note = f"mean {figure(figures.mean, 'grade')}" if figures.graded else "not graded"
        parts.append(_text("0%", top + 13, label, "label", "start"))
        parts.append(_text("100%", top + 13, note, "tick", "end"))
        parts += _split(list(figures.counts.values()), top=top + 19)
    said = "; ".join(f"{label}: {_grades(figures)}" for label, figures in rows)
    return _svg(parts, height=max(len(rows) * _ROW - 3, 1), name=name, title=title, said=said)


def measure_strip(measure: Headline, scale: Scale, *, name: str) -> Markup:
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
    said = _said(measure.value, measure.interval, scale) + (f", target {measure.target.text}" if measure.target else "")
    return _svg(parts, height=22, name=name, title=f"{words(measure.name)} on its scale", said=said)


def share_bar(share: float, *, label: str) -> Markup:
    """A share as the filled part of a thin line; the number is beside it, so screen readers leave it out."""
    parts = _rect(0, 0, 100, 4, "track") + _rect(0, 0, _share(share, 1.0), 4, "fill")
    head = '<svg class="chart share" width="100%" height="4" aria-hidden="true">'
    return Markup(f"{head}<title>{_plain(label)}</title>{parts}</svg>")


def rate_strip(
    value: float | None,
    found: Interval | None,
    *,
    name: str,
    label: str,
    what: str = "Pass rate in",
    scale: Scale = "share",
    target: tuple[float, float] | None = None,
) -> Markup:
    """A rate with its interval on a line from 0 to 1, the target marked; a kappa below 0 is drawn at 0."""
    parts = [] if target is None else [_rect(target[0] * 100, 6, (target[1] - target[0]) * 100, 16, "aim")]
    parts += [_line("0%", 14, "100%", 14, "axis"), _line("50%", 10, "50%", 18, "axis")]
    parts += _whisker(value, found, top=1.0, y=14)
    said = _said(value, found, scale)
    return _svg(parts, height=28, name=name, title=f"{what} {label}", said=said, small=True)


def change_strip(value: float | None, found: Interval | None, *, reach: float, name: str, label: str) -> Markup:
    """A difference with its interval around no change, on a scale that reaches equally far both ways."""
    parts = [_line("0%", 14, "100%", 14, "axis"), _line("50%", 4, "50%", 24, "zero")]
    if value is not None and found is not None:
        shifted = replace(found, low=found.low + reach, high=found.high + reach)
        parts += _whisker(value + reach, shifted, top=2 * reach, y=14)
    said = "its figures are beside it"
    return _svg(parts, height=28, name=name, title=f"Change of {label}", said=said, small=True)


@dataclass(frozen=True, slots=True)
class _Plot:
    """A drawing with two axes: where its plane begins and ends, and what the axes are about."""

    size: tuple[int, int]
    left: int
    top: int
    right: int
    bottom: int
    across: str
    up: str
    most: float = 1.0
    low: float = 0.0

    @property
    def plane(self) -> tuple[float, float]:
        return self.size[0] - self.left - self.right, self.size[1] - self.top - self.bottom

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A point of the plane as a point of the drawing."""
        wide, tall = self.plane
        return self.left + x / self.most * wide, self.top + (1 - (y - self.low) / (1 - self.low)) * tall

    def grid(self, *, decimals: int) -> str:
        """Six lines with their values on the left, and what both axes are called."""
        parts = []
        for step in range(6):
            value = self.low + (1 - self.low) * step / 5
            y = self.at(0, value)[1]
            kind = "axis" if step == 0 and not self.low else "grid"
            parts.append(_line(self.left, y, self.size[0] - self.right, y, kind))
            parts.append(_text(f"{self.left - 7:.1f}", y + 4, f"{value:.{decimals}f}", "tick", "end"))
        wide, tall = self.plane
        parts.append(_text(f"{self.left + wide / 2:.1f}", self.size[1] - 8, self.across, "tick", "middle"))
        turned = f'<text transform="translate(11 {self.top + tall / 2:.1f}) rotate(-90)" '
        return "".join(parts) + f'{turned}class="tick" text-anchor="middle">{_plain(self.up)}</text>'

    def tick(self, x: float, text: str, *, below: float) -> str:
        return _text(f"{self.at(x, self.low)[0]:.1f}", self.at(x, self.low)[1] + below, text, "tick", "middle")

    def svg(self, parts: Iterable[str], *, name: str, title: str, said: str) -> Markup:
        head = f'<svg viewBox="0 0 {self.size[0]} {self.size[1]}" class="square" role="img" '
        return Markup(head + _named(name, title, said) + "".join(parts) + "</svg>")


def reliability_diagram(found: Reliability, *, name: str, upright: str = "share that passed") -> Markup:
    """Stated confidence against the share that came true; on the diagonal, whoever states it knows how good it is."""
    plot = _Plot((300, 300), 44, 10, 14, 44, "stated confidence", upright)
    parts = [plot.grid(decimals=1), *(plot.tick(step / 5, f"{step / 5:.1f}", below=17) for step in range(6))]
    parts.append(_line(*plot.at(0, 0), *plot.at(1, 1), "diagonal"))
    most = max((each.n for each in found.bins), default=0) or 1
    for each in found.bins:
        if each.accuracy is None or each.mean_confidence is None:
            continue
        x, y = plot.at(each.mean_confidence, each.accuracy)
        if each.interval:
            parts.append(_line(x, plot.at(0, each.interval.low)[1], x, plot.at(0, each.interval.high)[1], "interval"))
        parts.append(_circle(x, y, 3.5 + 5.5 * (each.n / most) ** 0.5))
    said = "; ".join(
        f"confidence {each.low:.1f} to {each.high:.1f}: {figure(each.accuracy, 'share')} of {each.n:,}, {upright}"
        for each in found.bins
        if each.n
    )
    return plot.svg(parts, name=name, title="Reliability diagram", said=said)


def coverage_chart(points: Sequence[CoveragePoint], *, name: str) -> Markup:
    """Agreement on what is kept against the share that goes to people, with the interval as a band."""
    most = max(point.sent for point in points) or 1.0
    low = min(0.5, *(point.interval.low for point in points))
    across, up = "least certain share that people grade", "agreement on the rest"
    # About as wide as the reliability diagram below it, so that the letters of both are of one size.
    plot = _Plot((340, 250), 52, 12, 14, 46, across, up, most=most, low=low)

    def path(ends: Iterable[tuple[float, float]]) -> str:
        return " ".join("{:.1f},{:.1f}".format(*plot.at(sent, value)) for sent, value in ends)

    band = [(p.sent, p.interval.high) for p in points] + [(p.sent, p.interval.low) for p in reversed(points)]
    parts = [f'<polygon points="{path(band)}" class="aim"/>', plot.grid(decimals=2)]
    parts += [plot.tick(p.sent, f"{p.sent:.0%}", below=18) for p in points if round(p.sent * 100) % 10 == 0]
    line = path((point.sent, point.agreement) for point in points)
    parts.append(f'<polyline points="{line}" fill="none" class="interval"/>')
    parts += [_circle(*plot.at(point.sent, point.agreement), 4) for point in points]
    said = "; ".join(f"{p.sent:.0%} to people: {p.agreement:.2f} of {p.kept:,}" for p in points)
    return plot.svg(parts, name=name, title="Risk and coverage", said=said)


def _split(counts: Sequence[int], *, top: float) -> Iterable[str]:
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


def _said(value: float | None, found: Interval | None, scale: Scale) -> str:
    return f"{figure(value, scale)}, interval {interval(found, scale) or 'none'}"


def _grades(figures: CriterionFigures) -> str:
    return ", ".join(f"grade {grade}: {number:,}" for grade, number in figures.counts.items() if number) or "not graded"


def _svg(parts: Iterable[str], *, height: float, name: str, title: str, said: str, small: bool = False) -> Markup:
    kind = "chart small" if small else "chart"
    head = f'<svg class="{kind}" width="100%" height="{height:g}" role="img" '
    return Markup(head + _named(name, title, said) + "".join(parts) + "</svg>")


def _named(name: str, title: str, said: str) -> str:
    labels = f'aria-labelledby="{name}-t {name}-d">'
    return f'{labels}<title id="{name}-t">{_plain(title)}</title><desc id="{name}-d">{_plain(said)}</desc>'


def _plain(text: str) -> str:
    return escape(one_line(text))


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    place = f'x="{_percent(x)}" y="{y:.1f}" width="{_percent(width)}" height="{height:.1f}"'
    return f'<rect {place} class="{kind}"/>'


def _circle(x: float, y: float, radius: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" class="point"/>'


def _line(x1: str | float, y1: float, x2: str | float, y2: float, kind: str) -> str:
    ends = f'x1="{_shown(x1)}" y1="{y1:.1f}" x2="{_shown(x2)}" y2="{y2:.1f}"'
    return f'<line {ends} class="{kind}"/>'


def _text(x: str, y: float, text: str, kind: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{_plain(text)}</text>' if text else ""


def _shown(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.1f}"


def _share(value: float, top: float) -> float:
    return min(max(value / top, 0.0), 1.0) * 100


def _along(value: float, top: float) -> str:
    return _percent(_share(value, top))


def _percent(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") + "%"
