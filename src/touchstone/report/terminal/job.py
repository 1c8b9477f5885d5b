"""Tally, or JobSummary -> a terminal: what a scoring came to, and a job's partitions side by side."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from touchstone.report.job import JobSummary, partition_name
from touchstone.report.plain import one_line
from touchstone.report.terminal.marks import RULING_STYLES, STATUS_STYLES, VIOLATION_STYLE, bar, number
from touchstone.rubric.model import TOP
from touchstone.runs.counts import GradingTally, Tally
from touchstone.stats.interval import Proportion

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
        console.print(_partition_table(summary))
        if len(summary.partitions) > MOST_SHOWN:
            console.print(Text(f"… and {len(summary.partitions) - MOST_SHOWN:,} more partitions in summary.json"))
    for name, message in summary.unread.items():
        console.print(Text(one_line(f"not read: {message if name in message else f'{name}: {message}'}")))


def _patterns(summary: JobSummary) -> str:
    named = (f"{one_line(each.name)} {each.count:,}" for each in summary.patterns[:MOST_PATTERNS])
    more = len(summary.patterns) - MOST_PATTERNS
    return " · ".join(named) + (f" · {more} more in summary.json" if more > 0 else "")


def _partition_table(summary: JobSummary) -> Table:
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


def _rate(rate: Proportion, *, digits: int = 1) -> str:
    if rate.value is None or rate.interval is None:
        return "–"
    low, high = (f"{100 * end:.{digits}f}" for end in (rate.interval.low, rate.interval.high))
    return f"{rate.value:.{digits}%} ({low}–{high})"


def show_tally(tally: Tally, *, console: Console) -> None:
    """Print decisions, verdicts, outcomes, violations and anchors as counts, metrics and criteria as tables."""
    rubric = tally.rubric
    rows = f"{tally.rows:,} row{'' if tally.rows == 1 else 's'}"
    console.print(Text.assemble((rows, "bold"), f", {tally.failed:,} failed"))
    console.print(_counts("decision", tally.decisions.items()), _counts("verdict", tally.verdicts.items()), sep="\n")
    if rubric.criteria:
        console.print(Text.assemble(_counts("outcome", rubric.outcomes.items()), _pass_rate(rubric)))
        console.print(_violations(rubric))
    console.print(_counts("anchors", tally.anchors.items()))
    if tally.metrics:
        console.print(_metric_table(tally))
    if rubric.criteria:
        console.print(_criterion_table(rubric))


def _pass_rate(rubric: GradingTally) -> str:
    if rubric.pass_rate is None:
        return ""
    return f" · pass rate {rubric.pass_rate:.1%} of {sum(rubric.outcomes.values()):,}"


def _violations(rubric: GradingTally) -> Text:
    found = [(kind, count) for kind, count in rubric.violations.items() if count]
    if not found:
        return Text("violations: none")
    replies = f" in {rubric.unsafe:,} {'reply' if rubric.unsafe == 1 else 'replies'}"
    return Text.assemble(_counts("violations", found), replies)


def _counts(title: str, counts: Iterable[tuple[str, int]]) -> Text:
    styles = RULING_STYLES | STATUS_STYLES
    parts = [
        Text.assemble((name, VIOLATION_STYLE if title == "violations" else styles.get(name, "")), f" {count:,}")
        for name, count in counts
    ]
    return Text.assemble(f"{title}: ", Text(" · ").join(parts))


def _metric_table(tally: Tally) -> Table:
    table = _table("metric", "mean", "", "scored", "WARN", "FAIL")
    for name, metric in tally.metrics.items():
        flags = [f"{metric.flags.get(flag, 0):,}" for flag in ("WARN", "FAIL")]
        table.add_row(Text(one_line(name)), number(metric.mean), bar(metric.mean), f"{metric.scored:,}", *flags)
    return table


def _criterion_table(rubric: GradingTally) -> Table:
    table = _table("criterion", f"mean/{TOP}", "", "graded")
    for name, each in rubric.criteria.items():
        share = None if each.mean is None else each.mean / TOP
        table.add_row(Text(one_line(name)), number(each.mean), bar(share), f"{each.graded:,}")
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for at, name in enumerate(columns):
        table.add_column(name, justify="left" if at == 0 or not name else "right", no_wrap=True)
    return table
