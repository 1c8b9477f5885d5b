"""Reports and templates -> Markdown for a pull request or a step summary.

Whatever a template shows is escaped unless it is a `Literal`: no text of a run makes a heading, a link or a mention.
"""

from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING

from touchstone.report import figures
from touchstone.report.comparison import ComparisonReport, run_title
from touchstone.report.judge import standing_sentence
from touchstone.report.plain import literal, prose
from touchstone.report.run import RunReport, check_standing, target_standing

if TYPE_CHECKING:
    from jinja2 import Environment

_MARKS = {"met": "✅ met", "missed": "❌ missed", "undecided": "❔ undecided"}
_GATE = {"open": "✅", "undecided": "❔", "closed": "❌"}


class Literal(str):
    """Markdown that is shown as it is."""


def render_markdown(report: RunReport) -> str:
    """The headline table, remarks and the most frequent patterns of a run."""
    return str(_environment().get_template("run.md").render(view=report))


def render_comparison_markdown(report: ComparisonReport) -> str:
    """The answer, the changes as tables, and the cases whose outcome changed."""
    return str(_environment().get_template("comparison.md").render(view=report))


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def source(name: str) -> str:
        return resources.files("touchstone.report").joinpath(f"templates/{name}").read_text(encoding="utf-8")

    def shown(value: object) -> object:
        return prose(value) if isinstance(value, str) and not isinstance(value, Literal) else value

    made = Environment(
        loader=FunctionLoader(source),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=shown,
    )
    named = (
        *(figures.change_interval, figures.figure, figures.interval, figures.points, figures.scale_of),
        *(figures.sentence, figures.words, run_title, check_standing, standing_sentence),
    )
    made.filters.update({function.__name__: function for function in named})
    made.filters |= {
        "literal": lambda text: Literal(literal(text)),
        "mark": lambda measure: _MARKS.get(target_standing(measure), target_standing(measure)),
        "gate_mark": _GATE.get,
        "share": partial(figures.figure, scale="share"),
        "thousands": lambda number: f"{number:,}",
    }
    made.globals["count"] = figures.count
    return made
