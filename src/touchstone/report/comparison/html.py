"""ComparisonView -> one HTML file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from touchstone.report.comparison.view import MOST_FLIPS, ChangeLine, ComparisonView
from touchstone.report.run.charts import change_strip
from touchstone.report.run.page import render_page

if TYPE_CHECKING:
    from markupsafe import Markup


def render_comparison_html(view: ComparisonView) -> str:
    """The whole page."""
    flips = view.flips[:MOST_FLIPS]
    categories = sorted({flip.category for flip in flips})
    choices = {
        "direction": {"regressed": 0, "improved": 1},
        "category": {name: at for at, name in enumerate(categories)},
    }
    return render_page("comparison.html", view=view, groups=comparison_groups(view), flips=flips, choices=choices)


def comparison_groups(view: ComparisonView) -> list[dict[str, Any]]:
    """The changes in groups, each with a drawing for every line."""
    return [
        {"id": id, "title": title, "head": head, "lines": lines, "charts": _charts(lines, name=id)}
        for id, title, head, lines in (
            ("headline", "What changed", "measure", view.headline),
            ("grades", "Grades", "criterion", view.grades),
            ("categories", "Pass rate by category", "category", view.categories),
        )
        if lines
    ]


def _charts(lines: Sequence[ChangeLine], *, name: str) -> list["Markup"]:
    """One strip for each line, those of one scale drawn to one measure."""
    from markupsafe import Markup

    reach: dict[str, float] = {}
    for line in lines:
        found = line.change.interval
        ends = (abs(found.low), abs(found.high)) if found else (0.0,)
        reach[line.scale] = max(reach.get(line.scale, 0.0), abs(line.change.difference or 0.0), *ends)
    return [
        Markup(
            change_strip(
                line.change.difference,
                line.change.interval,
                reach=reach[line.scale] * 1.05 or 1.0,
                name=f"{name}{at}",
                label=line.name,
            )
        )
        for at, line in enumerate(lines)
    ]
