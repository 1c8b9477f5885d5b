"""Tally -> a terminal: what a scoring came to."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from touchstone.report.marks import RULING_STYLES, STATUS_STYLES, VIOLATION_STYLE, bar, number
from touchstone.report.plain import one_line
from touchstone.report.summary import GradingTally, Tally
from touchstone.report.terminal_grading import TOP


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
