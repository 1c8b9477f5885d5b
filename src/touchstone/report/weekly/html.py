"""WeeklyView -> one HTML file."""

from touchstone.report.run.charts import rate_strip, share_bar
from touchstone.report.run.page import render_page
from touchstone.report.weekly.view import WeeklyView


def render_weekly_html(view: WeeklyView) -> str:
    """The whole page; it loads nothing and sends nothing."""
    from markupsafe import Markup

    strips = [
        Markup(rate_strip(rate.corrected.rate, rate.corrected.interval, name=f"rate{at}", label="all replies"))
        for at, rate in enumerate(view.rates)
    ]
    shares = [Markup(share_bar(pattern.share, label=pattern.name)) for pattern in view.patterns]
    return render_page("weekly.html", view=view, strips=strips, shares=shares)
