"""RunView -> the report as one HTML file, and the drawings and tables that other pages of a run show as well."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from touchstone.report.figures import figure, interval
from touchstone.report.run import charts
from touchstone.report.run.page import render_page
from touchstone.report.run.replies import NOT_SCORED, ReplyRow
from touchstone.report.run.view import ALL_ROWS_FILE, CriterionView, RunView

if TYPE_CHECKING:
    from markupsafe import Markup

OUTCOMES = ("PASS", "FAIL", NOT_SCORED)


def render_html(view: RunView) -> str:
    """The whole page."""
    return render_page("run.html", all_rows=f"{ALL_ROWS_FILE}, beside this file", **page_values(view))


def page_values(view: RunView) -> dict[str, Any]:
    """What the template of a run's page needs, but for where all rows are."""
    return {
        "view": view,
        "charts": charts_of(view),
        "bins": bins_of(view),
        "by_criterion": grades_by_criterion(view),
        "choices": _choices(view.table),
        "outcomes": OUTCOMES,
        "several_drafts": any(row.draft > 1 for row in view.rows),
    }


def charts_of(view: RunView) -> dict[str, Any]:
    """Every drawing of the page by the place it has in it."""
    reliability = view.summary.reliability
    return {
        "totals": _drawn(charts.histogram(view.summary.totals, name="totals")),
        "criteria": _drawn(charts.grade_bars(view.criteria, name="criteria", title="Grades by criterion")),
        "measures": [
            _drawn(charts.measure_strip(line.measure, line.scale, name=f"measure{at}"))
            for at, line in enumerate(view.measures)
        ],
        "shares": [_drawn(charts.share_bar(each.share, label=each.name)) for each in view.patterns],
        "rates": [
            _drawn(charts.rate_strip(line.figures.pass_rate, line.figures.interval, name=f"rate{at}", label=line.name))
            for at, line in enumerate(view.categories)
        ],
        "spreads": [
            _drawn(charts.small_histogram(line.figures.totals, name=f"spread{at}", label=line.name))
            for at, line in enumerate(view.categories)
        ],
        "by_criterion": [
            _drawn(charts.grade_bars(rows, name=f"grades{at}", title=f"Grades on {name} by category"))
            for at, (name, rows) in enumerate(grades_by_criterion(view))
        ],
        "reliability": _drawn(charts.reliability_diagram(reliability, name="reliability")) if reliability else "",
    }


def grades_by_criterion(view: RunView) -> list[tuple[str, list[CriterionView]]]:
    """For each criterion its grades in every category, named by the category."""
    found = []
    for at, criterion in enumerate(view.criteria):
        rows = [replace(category.criteria[at], name=category.name) for category in view.categories]
        found.append((criterion.name, rows))
    return found


def bins_of(view: RunView) -> list[dict[str, str]]:
    """The table beside the reliability diagram."""
    if view.summary.reliability is None:
        return []
    return [
        {
            "range": f"{each.low:.1f} to {each.high:.1f}",
            "n": f"{each.n:,}",
            "confidence": figure(each.mean_confidence, "unit"),
            "passed": figure(each.accuracy, "unit"),
            "interval": interval(each.interval, "unit"),
        }
        for each in view.summary.reliability.bins
    ]


def _choices(rows: tuple[ReplyRow, ...]) -> dict[str, dict[str, int]]:
    """What the table can be filtered by, each with the number that stands for it in a row."""
    categories = sorted({row.category for row in rows})
    tags = sorted({tag.name for row in rows for tag in row.tags})
    return {
        "outcome": {name: at for at, name in enumerate(OUTCOMES)},
        "category": {name: at for at, name in enumerate(categories)},
        "tag": {name: at for at, name in enumerate(tags)},
    }


def _drawn(svg: str) -> "Markup":
    from markupsafe import Markup

    return Markup(svg)
