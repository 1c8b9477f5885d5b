"""Reports and templates -> Markdown for a pull request or a step summary.

Whatever a template shows is escaped unless it is `Markup`: no text of a run makes a heading, a link or a mention.
"""

from functools import cache
from typing import TYPE_CHECKING

from touchstone.report.comparison import ComparisonReport
from touchstone.report.html import REPORT, environment
from touchstone.report.plain import literal, prose
from touchstone.report.run import RunReport

if TYPE_CHECKING:
    from jinja2 import Environment

MARKS = {"met": "✅ met", "missed": "❌ missed", "undecided": "❔ undecided", "open": "✅", "closed": "❌"}


def render_markdown(report: RunReport) -> str:
    """The headline table, remarks and the most frequent patterns of a run."""
    return str(_environment().get_template("run.md").render(view=report))


def render_comparison_markdown(report: ComparisonReport) -> str:
    """The answer, the changes as tables, and the cases whose outcome changed."""
    return str(_environment().get_template("comparison.md").render(view=report))


@cache
def _environment() -> "Environment":
    from markupsafe import Markup

    made = environment(REPORT, shows=prose, autoescape=False, keep_trailing_newline=True)
    made.filters |= {
        "literal": lambda text: Markup(literal(text)),
        "mark": lambda word: MARKS.get(word, word),
    }
    return made
