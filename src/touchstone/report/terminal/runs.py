"""RunReport, ComparisonReport, a list of runs -> a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from touchstone.report.comparison import ChangeLine, ComparisonReport, run_title
from touchstone.report.figures import NONE, change_interval, count, figure, interval, points, scale_of, words
from touchstone.report.judge import standing_sentence
from touchstone.report.run import RunLine, RunReport, check_standing, target_standing, where
from touchstone.report.terminal.layout import NARROW, WIDE, bar, indented, line, listed, table, titled
from touchstone.rubric.model import TOP
from touchstone.runs.comparison import Flip
from touchstone.runs.targets import Headline

_PATTERNS = 8
_WAIVED = 20
_FLIPS = 20
_STYLES = {
    "met": "bold green",
    "open": "bold green",
    "better": "bold green",
    "improved": "bold green",
    "missed": "bold red",
    "not met": "bold red",
    "closed": "bold red",
    "worse": "bold red",
    "regressed": "bold red",
    "undecided": "bold yellow",
}


def show_run(report: RunReport, *, console: Console) -> None:
    """Print the headline with its gate, remarks, categories and the most frequent patterns."""
    run, summary = report.run, report.summary
    labels = (line(f"{name}={value}", before="  ") for name, value in run.labels.items())
    console.print(Text.assemble(line(run.receipt.goldset, "bold"), *labels, line(f"run {run.id}", "dim", before="  ")))
    if run.finished is None:
        console.print(Text("not finished: every figure covers only what was scored so far", style="yellow"))
    console.print(Text.assemble(line(f"Judge {report.judge.judge}. ", "dim"), standing_sentence(report.judge)))
    console.print(_measures(summary.measures, width=console.width))
    decisions = " · ".join(f"{name} {number}" for name, number in report.decisions)
    console.print(line(f"{report.coverage} · {decisions}"))
    console.print(listed([*report.bounds, *report.remarks]))
    if summary.categories and console.width >= NARROW:
        console.print(titled("Categories", _categories(report)))
    if summary.criteria:
        console.print(titled("Criteria", _criteria(report, with_bars=console.width >= NARROW)))
    if report.patterns:
        console.print(titled("What goes wrong", _patterns(report, width=console.width)))
    if waived := [f"{record.id}: {told}" for record, told in report.waived]:
        more = [f"{len(waived) - _WAIVED} more in the report"] if len(waived) > _WAIVED else []
        console.print(titled("Waived violations", listed([*waived[:_WAIVED], *more])))
    if report.spread:
        console.print(titled("Spread between drafts", Text(report.spread)))
    if report.gate is not None:
        console.print(_gate(report))
    console.print()


def _standing(word: str) -> Text:
    return Text(word, style=_STYLES.get(word, "dim"))


def _measures(measures: Sequence[Headline], *, width: int) -> RenderableType:
    rows = [_measure(each) for each in measures]
    if width >= NARROW:
        return table("", "value", "95 % interval", "target", "", "based on", rows=rows, right=(1,))
    return _narrow((name, value, its, f"{ends}; target {target}; {n}") for name, value, ends, target, its, n in rows)


def _measure(each: Headline) -> tuple[str, Text, str, str, Text, str]:
    """Name, value, interval, target, standing, and on how many replies it is based."""
    scale, target = scale_of(each.name), each.target.text if each.target else NONE
    value = Text(figure(each.value, scale, target=each.target), style="bold")
    ends, based_on = interval(each.interval, scale) or NONE, count(each.n, "reply", "replies")
    return words(each.name), value, ends, target, _standing(target_standing(each)), based_on


def _narrow(lines: Iterable[tuple[str, Text, Text, str]]) -> Group:
    """Name, figure and standing on one line and the rest below, for a terminal that has no room for a table."""
    return Group(
        *(
            part
            for name, value, standing, rest in lines
            for part in (Text.assemble(name, " ", value, " ", standing), indented(line(rest), 2))
        )
    )


def _categories(report: RunReport) -> RenderableType:
    rows = (
        (
            each.name,
            f"{each.coverage.scored:,}/{each.coverage.replies:,}",
            figure(each.pass_rate, "share"),
            bar(each.pass_rate),
            interval(each.interval, "share"),
            figure(each.mean_total, "points"),
            Text(str(each.unsafe), style="bold red" if each.unsafe else ""),
        )
        for each in report.summary.categories
    )
    heads = ("category", "scored", "pass rate", "", "95 % interval", "mean total", "unsafe")
    return table(*heads, rows=rows, right=(1, 2, 5, 6))


def _criteria(report: RunReport, *, with_bars: bool) -> RenderableType:
    rows = (
        (
            name,
            figure(each.mean, "grade"),
            bar(None if each.mean is None else each.mean / TOP) if with_bars else "",
            interval(each.interval, "grade") or NONE,
            f"{each.graded:,}",
        )
        for name, each in report.criteria
    )
    return table("criterion", f"mean/{TOP}", "", "95 % interval", "graded", rows=rows, right=(1, 4))


def _patterns(report: RunReport, *, width: int) -> RenderableType:
    shown = report.patterns[:_PATTERNS]
    rows = [(words(each.name), f"{each.count:,}", figure(each.share, "share"), each.owner) for each in shown]
    heads = ("pattern", "replies", "of failed", "for")
    places = [("; ".join(where(found) for found in each.concentrations if found.significant),) for each in shown]
    if width >= WIDE and any(place for (place,) in places):
        wider = (row + place for row, place in zip(rows, places, strict=True))
        made = table(*heads, "more in", rows=wider, right=(1, 2), wraps=(0, 4))
        made.columns[-1].ratio = 1
    else:
        made = table(*heads, rows=rows, right=(1, 2))
    more = len(report.patterns) - _PATTERNS
    return Group(made, *([Text(f"{more} more in the report", style="dim")] if more > 0 else []))


def _gate(report: RunReport) -> RenderableType:
    if (gate := report.gate) is None:
        return Text()
    title = Text.assemble(("\nRelease gate: ", "bold"), _standing(gate.standing), f"  {report.gate_sentence}")
    checks = (
        Text.assemble(_standing(check_standing(check)), line(f"{words(check.name)}: {check.reason}", before="  "))
        for check in gate.checks
    )
    return Group(title, *(indented(check, 2) for check in checks))


def show_comparison(report: ComparisonReport, *, console: Console) -> None:
    """Print the answer, the changes and the cases whose outcome changed."""
    console.print(Text.assemble((run_title(report.before), "bold"), " → ", (run_title(report.after), "bold")))
    console.print(Text(report.sentence, style=_STYLES.get(report.standing, "bold")))
    console.print(Text(report.pairs))
    for remark in report.remarks:
        console.print(Text(f"- {remark}"))
    for group in report.groups:
        console.print(titled(group.title, _changes(group.lines, width=console.width)))
    title = f"Flips: {report.regressed:,} regressed, {report.improved:,} improved"
    console.print(titled(title, Group(*(part for flip in report.flips[:_FLIPS] for part in _flip(flip)))))
    if (more := len(report.flips) - _FLIPS) > 0:
        console.print(Text(f"  {more:,} more", style="dim"))
    console.print()


def _changes(lines: Sequence[ChangeLine], *, width: int) -> RenderableType:
    rows = [
        (
            each.name,
            figure(each.figure.before, each.scale),
            figure(each.figure.after, each.scale),
            Text(each.difference, style="bold"),
            change_interval(each.figure.interval, each.scale) or NONE,
            each.chance or NONE,
            _standing(each.standing),
        )
        for each in lines
    ]
    if width >= WIDE:
        return table("", "before", "after", "change", "95 % interval", "p or q", "", rows=rows, right=(1, 2, 3))
    return _narrow(
        (name, difference, standing, f"{before} → {after}; {ends}; {chance}")
        for name, before, after, difference, ends, chance, standing in rows
    )


def _flip(flip: Flip) -> Iterable[RenderableType]:
    totals = f"{points(flip.total_before)} → {points(flip.total_after)}"
    category = line(flip.category or NONE, before=f"  {totals}  ")
    yield Text.assemble(_standing(flip.direction), line(flip.id, before=" "), category)
    if flip.changes:
        yield indented(line("; ".join(flip.changes)), 4)


def show_runs(lines: Sequence[RunLine], *, console: Console) -> None:
    """Print the runs, or that there are none."""
    if not lines:
        console.print("no runs: touchstone eval GOLDSET makes one")
        return
    if console.width < NARROW:
        for each in lines:
            console.print(Text(f"{each.id}  {_rate(each)}  {each.goldset}  {each.labels}".rstrip()))
        return
    rows = (
        (each.id, each.started[:16].replace("T", " "), each.goldset, each.labels, f"{each.replies:,}", _rate(each))
        for each in lines
    )
    heads = ("run", "started", "gold set", "labels", "replies", "passed")
    console.print(table(*heads, rows=rows, right=(4, 5), style="bold", wraps=None))


def _rate(each: RunLine) -> str:
    if each.state == "interrupted":
        return each.state
    return NONE if each.pass_rate is None else f"{each.pass_rate:.0%}"
