"""WeeklyView -> one table for a spreadsheet: section, name, figure, interval, remark."""

import csv
import io
from collections.abc import Iterator

from touchstone.core.shown import inert_cell
from touchstone.report.weekly.view import WeeklyView

HEAD = ("section", "name", "value", "interval", "n", "remark")


def weekly_to_csv(view: WeeklyView) -> str:
    """The table as text; a cell never begins as a formula does."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEAD)
    for row in _rows(view):
        writer.writerow([inert_cell(str(cell)) for cell in row])
    return stream.getvalue()


def _rows(view: WeeklyView) -> Iterator[tuple[object, ...]]:
    for rate in view.rates:
        yield "rate", rate.name, rate.value, rate.interval, rate.corrected.n_reviewed, rate.estimator
    for each in view.agreement:
        for row in each.rows:
            yield each.title, row.name, row.kappa, row.interval, row.n, f"alpha {row.alpha}, same {row.exact}"
    for line in view.patterns:
        actions = "; ".join(f"{action.state}: {action.text}" for action in line.actions)
        yield "pattern", line.name, line.shown_share, "", line.count, f"{line.owner}; {actions}".rstrip("; ")
    for text in (*view.reminders, *view.remarks):
        yield "remark", text, "", "", "", ""
