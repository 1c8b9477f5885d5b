"""Tally, or JobSummary -> a terminal: what a scoring came to, and a job's partitions side by side."""

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.text import Text

from touchstone.report.figures import NONE, count
from touchstone.report.job import JobSummary, partition_name
from touchstone.report.terminal.layout import (
    RULING_STYLES,
    STATUS_STYLES,
    VIOLATION_STYLE,
    bar,
    line,
    number,
    table,
)
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
        named = " · ".join(f"{each.name} {each.count:,}" for each in summary.patterns[:MOST_PATTERNS])
        more = len(summary.patterns) - MOST_PATTERNS
        told = f" · {more} more in summary.json" if more > 0 else ""
        console.print(line(f"patterns in failed replies: {named}{told}"))
    if len(summary.partitions) > 1:
        rows = (
            (
                partition_name(each),
                f"{each.tally.rows:,}",
                f"{each.tally.failed:,}",
                _rate(each.passed),
                _rate(each.unsafe),
            )
            for each in summary.partitions[:MOST_SHOWN]
        )
        heads = ("partition", "rows", "failed", "pass rate", "safety failures")
        console.print(table(*heads, rows=rows, right=(1, 2), gap=3, style="bold", wraps=()))
        if len(summary.partitions) > MOST_SHOWN:
            console.print(Text(f"… and {len(summary.partitions) - MOST_SHOWN:,} more partitions in summary.json"))
    for name, message in summary.unread.items():
        console.print(line(f"not read: {message if name in message else f'{name}: {message}'}"))


def _rate(rate: Proportion, *, digits: int = 1) -> str:
    if rate.value is None or rate.interval is None:
        return NONE
    low, high = (f"{100 * end:.{digits}f}" for end in (rate.interval.low, rate.interval.high))
    return f"{rate.value:.{digits}%} ({low}–{high})"


def show_tally(tally: Tally, *, console: Console) -> None:
    """Print decisions, verdicts, outcomes, violations and anchors as counts, metrics and criteria as tables."""
    rubric = tally.rubric
    console.print(Text.assemble((count(tally.rows, "row"), "bold"), f", {tally.failed:,} failed"))
    console.print(_counts("decision", tally.decisions.items()), _counts("verdict", tally.verdicts.items()), sep="\n")
    if rubric.criteria:
        outcomes = sum(rubric.outcomes.values())
        rate = "" if rubric.pass_rate is None else f" · pass rate {rubric.pass_rate:.1%} of {outcomes:,}"
        console.print(Text.assemble(_counts("outcome", rubric.outcomes.items()), rate))
        console.print(_violations(rubric))
    console.print(_counts("anchors", tally.anchors.items()))
    if tally.metrics:
        console.print(_metrics(tally))
    if rubric.criteria:
        console.print(_criteria(rubric))


def _violations(rubric: GradingTally) -> Text:
    found = [(kind, number) for kind, number in rubric.violations.items() if number]
    if not found:
        return Text("violations: none")
    return Text.assemble(_counts("violations", found), f" in {count(rubric.unsafe, 'reply', 'replies')}")


def _counts(title: str, counts: Iterable[tuple[str, int]]) -> Text:
    styles = RULING_STYLES | STATUS_STYLES
    parts = (
        Text.assemble((name, VIOLATION_STYLE if title == "violations" else styles.get(name, "")), f" {number:,}")
        for name, number in counts
    )
    return Text.assemble(f"{title}: ", Text(" · ").join(parts))


def _metrics(tally: Tally) -> RenderableType:
    rows = (
        (
            name,
            number(metric.mean),
            bar(metric.mean),
            f"{metric.scored:,}",
            f"{metric.flags.get('WARN', 0):,}",
            f"{metric.flags.get('FAIL', 0):,}",
        )
        for name, metric in tally.metrics.items()
    )
    heads = ("metric", "mean", "", "scored", "WARN", "FAIL")
    return table(*heads, rows=rows, right=(1, 3, 4, 5), gap=3, style="bold", wraps=())


def _criteria(rubric: GradingTally) -> RenderableType:
    rows = (
        (name, number(each.mean), bar(None if each.mean is None else each.mean / TOP), f"{each.graded:,}")
        for name, each in rubric.criteria.items()
    )
    return table("criterion", f"mean/{TOP}", "", "graded", rows=rows, right=(1, 3), gap=3, style="bold", wraps=())
