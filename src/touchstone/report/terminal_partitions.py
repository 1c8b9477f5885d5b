"""JobSummary -> a terminal: what a job came to, and its partitions side by side."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from touchstone.report.partitions import JobSummary, Rate, partition_name
from touchstone.report.plain import one_line
from touchstone.report.terminal_tally import show_tally

MOST_SHOWN = 40
MOST_PATTERNS = 8


def show_job(summary: JobSummary, *, console: Console) -> None:
    """Print the tally of all rows, the two rates with their intervals, and a row for each partition."""
    show_tally(summary.all.tally, console=console)
    for title, rate in (("pass rate", summary.all.passed), ("safety failures", summary.all.unsafe)):
        console.print(Text(f"{title}: {_rate(rate, digits=2)}"))
    if summary.patterns:
        console.print(Text(f"patterns in failed replies: {_patterns(summary)}"))
    if len(summary.partitions) > 1:
        console.print(_table(summary))
        if len(summary.partitions) > MOST_SHOWN:
            console.print(Text(f"… and {len(summary.partitions) - MOST_SHOWN:,} more partitions in summary.json"))
    for name, message in summary.unread.items():
        console.print(Text(one_line(f"not read: {message if name in message else f'{name}: {message}'}")))


def _patterns(summary: JobSummary) -> str:
    named = (f"{one_line(each.name)} {each.count:,}" for each in summary.patterns[:MOST_PATTERNS])
    more = len(summary.patterns) - MOST_PATTERNS
    return " · ".join(named) + (f" · {more} more in summary.json" if more > 0 else "")


def _table(summary: JobSummary) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for at, name in enumerate(("partition", "rows", "failed", "pass rate", "safety failures")):
        table.add_column(name, justify="right" if at in (1, 2) else "left", no_wrap=True)
    for each in summary.partitions[:MOST_SHOWN]:
        tally = each.tally
        table.add_row(
            Text(one_line(partition_name(each))),
            f"{tally.rows:,}",
            f"{tally.failed:,}",
            _rate(each.passed),
            _rate(each.unsafe),
        )
    return table


def _rate(rate: Rate, *, digits: int = 1) -> str:
    if rate.value is None or rate.interval is None:
        return "–"
    low, high = (f"{100 * end:.{digits}f}" for end in (rate.interval.low, rate.interval.high))
    return f"{rate.value:.{digits}%} ({low}–{high})"
