"""One judge, or several side by side -> one HTML file."""

from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from touchstone.report.figures import figure, interval
from touchstone.report.run.charts import rate_strip, reliability_diagram
from touchstone.report.run.page import render_page
from touchstone.report.trust.view import JudgeTableView, TrustView
from touchstone.rubric.model import TOP
from touchstone.trust.trust import CoveragePoint, CriterionTrust

if TYPE_CHECKING:
    from markupsafe import Markup

# About as wide as the reliability diagram below it, so that the letters of both are of one size.
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _BOTTOM, _TOP = 340, 250, 52, 14, 46, 12


def render_judges(view: JudgeTableView) -> str:
    """Several judges on one page."""
    return render_page("judge_table.html", view=view)


def render_card(view: TrustView) -> str:
    """One judge: the judge card."""
    found = view.trust.confidence
    return render_page(
        "judge_card.html",
        view=view,
        kappas=[
            _drawn(_kappa_strip(each.found, name=f"kappa{at}", label=each.name))
            for at, each in enumerate(view.criteria)
        ],
        coverage=_drawn(coverage_chart(view.trust.coverage)) if view.trust.coverage else "",
        coverage_rows=[
            {
                "sent": figure(point.sent, "share"),
                "kept": point.kept,
                "agreement": figure(point.agreement, "unit"),
                "interval": interval(point.interval, "unit"),
            }
            for point in view.trust.coverage
        ],
        confidence=_drawn(reliability_diagram(found, name="confidence", upright="share equal to people's"))
        if found
        else "",
        bins=[
            {
                "range": f"{each.low:.1f} to {each.high:.1f}",
                "n": each.n,
                "stated": figure(each.mean_confidence, "unit"),
                "equal": figure(each.accuracy, "unit"),
                "interval": interval(each.interval, "unit"),
            }
            for each in (found.bins if found else ())
            if each.n
        ],
        grades=list(range(TOP + 1)),
    )


def coverage_chart(points: tuple[CoveragePoint, ...]) -> str:
    """Agreement on what is kept against the share that goes to people, with the interval as a band."""
    most = max(point.sent for point in points) or 1.0
    low = min(0.5, *(point.interval.low for point in points))
    across = _WIDTH - _LEFT - _RIGHT
    up = _HEIGHT - _TOP - _BOTTOM

    def place(sent: float, agreement: float) -> str:
        return f"{_LEFT + sent / most * across:.1f},{_TOP + (1 - (agreement - low) / (1 - low)) * up:.1f}"

    band = [place(p.sent, p.interval.high) for p in points] + [place(p.sent, p.interval.low) for p in reversed(points)]
    line = " ".join(place(point.sent, point.agreement) for point in points)
    ticks = []
    for step in range(6):
        value = low + (1 - low) * step / 5
        y = float(place(0, value).split(",")[1])
        ticks.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" class="grid"/>')
        ticks.append(f'<text x="{_LEFT - 7}" y="{y + 4:.1f}" class="tick" text-anchor="end">{value:.2f}</text>')
    for point in (each for each in points if round(each.sent * 100) % 10 == 0):
        x = place(point.sent, low).split(",")[0]
        label = f"{point.sent:.0%}"
        ticks.append(f'<text x="{x}" y="{_HEIGHT - 28}" class="tick" text-anchor="middle">{label}</text>')
    dots = "".join(
        f'<circle cx="{place(p.sent, p.agreement).split(",")[0]}" cy="{place(p.sent, p.agreement).split(",")[1]}" '
        f'r="4" class="point"/>'
        for p in points
    )
    said = "; ".join(f"{p.sent:.0%} to people: {p.agreement:.2f} of {p.kept:,}" for p in points)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" class="square" role="img" aria-labelledby="coverage-t coverage-d">'
        f'<title id="coverage-t">Risk and coverage</title><desc id="coverage-d">{escape(said)}</desc>'
        f'<polygon points="{" ".join(band)}" class="aim"/>{"".join(ticks)}'
        f'<polyline points="{line}" fill="none" class="interval"/>{dots}'
        f'<text transform="translate(11 {_TOP + up / 2:.1f}) rotate(-90)" class="tick" text-anchor="middle">'
        "agreement on the rest</text>"
        f'<text x="{_LEFT + across / 2:.1f}" y="{_HEIGHT - 8}" class="tick" text-anchor="middle">'
        "least certain share that people grade</text></svg>"
    )


def _kappa_strip(found: CriterionTrust, *, name: str, label: str) -> str:
    """Kappa with its interval from 0 to 1; what lies below 0 is no better than chance and drawn at 0."""
    value = None if found.kappa is None else max(0.0, found.kappa)
    ends = found.interval and replace(
        found.interval, low=max(0.0, found.interval.low), high=max(0.0, found.interval.high)
    )
    return rate_strip(value, ends, name=name, label=label, what="Kappa of", scale="unit")


def _drawn(svg: str) -> "Markup":
    from markupsafe import Markup

    return Markup(svg)
