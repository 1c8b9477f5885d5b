"""Reports and templates -> HTML pages. A report is one file: style and script are inside, nothing may be fetched.

Whatever a template shows is cleaned of control characters and escaped unless it is `Markup`; a name that a template
does not find is an error. Figures are formatted by filters, drawings are made by the functions of `chart`.
"""

from base64 import b64encode
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any

from touchstone.report import comparison, explain, figures, judge, run, weekly
from touchstone.report.plain import one_line, plain
from touchstone.review.weekly import WeeklyReport
from touchstone.rubric.model import TOP
from touchstone.runs.decision import explain_origin

if TYPE_CHECKING:
    from jinja2 import Environment

REPORT = "touchstone.report"
# What a browser still filters and sorts in a moment, and what keeps the page a few megabytes at most.
MOST_ROWS = 2_000
ALL_ROWS_FILE = "results.jsonl"


def render_html(report: run.RunReport) -> str:
    """A run."""
    return render_run(report, all_rows=f"{ALL_ROWS_FILE}, beside this file")


def render_run(report: run.RunReport, *, template: str = "run.html", **values: Any) -> str:
    """A page that begins as a run's does; `all_rows` says where the rows are that it has no room for."""
    table = run.ReplyTable(report.records, most=MOST_ROWS)
    return render_page(template, view=report, table=table, choices=table.choices(), **values)


def render_comparison_html(report: comparison.ComparisonReport) -> str:
    """Two runs."""
    flips = report.flips[: comparison.MOST_FLIPS]
    categories = sorted({flip.category or figures.NONE for flip in flips})
    choices = {
        "direction": {"regressed": 0, "improved": 1},
        "category": {name: at for at, name in enumerate(categories)},
    }
    return render_page("comparison.html", view=report, flips=flips, choices=choices)


def render_weekly_html(report: WeeklyReport) -> str:
    """A week."""
    return render_page("weekly.html", report=report, week=weekly)


def render_card(report: judge.TrustReport) -> str:
    """One judge: the judge card."""
    return render_page("judge_card.html", view=report, grades=list(range(TOP + 1)))


def render_judges(report: judge.JudgesReport) -> str:
    """Several judges."""
    return render_page("judge_table.html", view=report)


def render_page(template: str, **values: Any) -> str:
    """The page, whole in itself."""
    from markupsafe import Markup

    style, script = _read("page.css"), _read("theme.js") + _read("page.js")
    values |= {"style": Markup(style), "script": Markup(script), "policy": _policy(style, script)}
    return _environment().get_template(template).render(values)


def environment(
    *packages: str, shows: Callable[[str], str] = plain, autoescape: bool = True, **options: Any
) -> "Environment":
    """The templates of these packages, of several with one name the first; texts are shown as `shows` gives them."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    from touchstone.report import charts

    def source(name: str) -> str | None:
        has_it = (each for each in packages if resources.files(each).joinpath(f"templates/{name}").is_file())
        package = next(has_it, None)
        return package and _read(name, package)

    made = Environment(
        loader=FunctionLoader(source),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: shows(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
        **options,
    )
    named = (
        *(figures.change, figures.change_interval, figures.figure, figures.first_up, figures.interval, figures.level),
        *(figures.moment, figures.points, figures.probability, figures.scale_of, figures.seconds, figures.sentence),
        *(
            figures.without_hash,
            figures.words,
            run.bounds,
            run.category_name,
            run.check_standing,
            run.faults,
            run.outcome_name,
        ),
        *(run.target_standing, run.waived_lines, run.where, comparison.run_title, explain.dismissed_line),
        *(explain.waived_line, judge.hits, judge.kappa_names, judge.standing_figures, judge.standing_notes),
        *(judge.standing_sentence, plain, weekly.graded),
    )
    made.filters.update({function.__name__: function for function in named})
    made.filters |= {
        "line": one_line,
        "origin": explain_origin,
        "share": lambda value: figures.figure(value, "share"),
        "unit": lambda value: figures.figure(value, "unit"),
        "thousands": lambda number: f"{number:,}",
    }
    made.globals |= {"chart": charts, "count": figures.count, "explain": explain.explain}
    return made


@cache
def _environment() -> "Environment":
    return environment(REPORT)


@cache
def _read(name: str, package: str = REPORT) -> str:
    return resources.files(package).joinpath(f"templates/{name}").read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Nothing but the page's own style and script, known by their hashes: text in the page can never become either."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()
