"""A run, a comparison of two, a list of runs -> a terminal. Texts from outside are only ever `Text`, never markup."""

from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from touchstone.report.comparison import ChangeLine, ComparisonView, FlipLine
from touchstone.report.figures import sentence
from touchstone.report.run.view import MeasureView, PatternView, RunView, bounds_sentences
from touchstone.report.runs import RunLine
from touchstone.report.terminal.marks import NARROW, WIDE, bar, indented, titled
from touchstone.rubric.model import TOP

_PATTERNS = 8
_WAIVED = 20
_STANDING_STYLES = {
    "met": "bold green",
    "open": "bold green",
    "missed": "bold red",
    "not met": "bold red",
    "closed": "bold red",
    "undecided": "bold yellow",
}
_FLIPS = 20
_STYLES = {"better": "bold green", "improved": "bold green", "worse": "bold red", "regressed": "bold red"}


def show_run(view: RunView, *, console: Console) -> None:
    """Print the headline with its gate, remarks, categories and the most frequent patterns."""
    console.print(_heading(view))
    if view.unfinished:
        console.print(Text("not finished: every figure covers only what was scored so far", style="yellow"))
    console.print(Text.assemble((f"Judge {view.judge.name}. ", "dim"), view.judge.sentence))
    console.print(_measures(view.measures, width=console.width))
    console.print(Text(f"{view.coverage} · " + " · ".join(f"{each.name} {each.value}" for each in view.decisions)))
    console.print(_list(_remarks(view)))
    if view.categories and console.width >= NARROW:
        console.print(titled("Categories", _categories(view)))
    if view.criteria:
        console.print(titled("Criteria", _criteria(view, with_bars=console.width >= NARROW)))
    if view.pattern_lines:
        console.print(titled("What goes wrong", _patterns(view.pattern_lines, width=console.width)))
    if waived := [f"{row.id}: {line}" for row in view.rows for line in row.waived]:
        more = [f"{len(waived) - _WAIVED} more in the report"] if len(waived) > _WAIVED else []
        console.print(titled("Waived violations", _list([*waived[:_WAIVED], *more])))
    if view.spread:
        console.print(titled("Spread between drafts", Text(view.spread)))
    if view.verdict is not None:
        console.print(_gate(view))
    console.print()


def _heading(view: RunView) -> Text:
    labels = "".join(f"  {label.name}={label.value}" for label in view.labels)
    return Text.assemble((view.title, "bold"), labels, (f"  run {view.id}", "dim"))


def _standing(word: str) -> Text:
    return Text(word, style=_STANDING_STYLES.get(word, "dim"))


def _measures(lines: Iterable[MeasureView], *, width: int) -> RenderableType:
    if width < NARROW:
        return Group(*(part for line in lines for part in _measure_lines(line)))
    table = _table("", "value", "95 % interval", "target", "", "rests on", right=(1,))
    for line in lines:
        table.add_row(
            Text(line.name), Text(line.value, style="bold"), Text(line.interval or "–"), Text(line.target),
            _standing(line.standing), Text(line.basis),
        )  # fmt: skip
    return table


def _measure_lines(line: MeasureView) -> Iterable[RenderableType]:
    yield Text.assemble(line.name, " ", (line.value, "bold"), " ", _standing(line.standing))
    yield indented(Text(f"{line.interval or 'no interval'}; target {line.target}; {line.basis}"), 2)


def _remarks(view: RunView) -> Iterable[str]:
    yield from bounds_sentences(view)
    yield from (sentence(f"{line.name}: {line.remark}") for line in view.measures if line.remark)
    yield from view.remarks


def _list(texts: Iterable[str]) -> Table:
    lines = Table.grid(padding=(0, 1, 0, 0))
    for text in texts:
        lines.add_row("-", Text(text))
    return lines


def _categories(view: RunView) -> Table:
    table = _table("category", "scored", "pass rate", "", "95 % interval", "mean total", "unsafe", right=(1, 2, 5, 6))
    for line in view.categories:
        unsafe = Text(str(line.unsafe), style="bold red" if line.unsafe else "")
        table.add_row(
            Text(line.name), line.coverage, Text(line.pass_rate), bar(line.figures.pass_rate), Text(line.interval),
            line.mean_total, unsafe,
        )  # fmt: skip
    return table


def _criteria(view: RunView, *, with_bars: bool) -> Table:
    table = _table("criterion", f"mean/{TOP}", "", "95 % interval", "graded", right=(1, 4))
    for line, figures in zip(view.criteria, view.summary.criteria, strict=True):
        share = None if figures.mean is None else figures.mean / TOP
        table.add_row(
            Text(line.name), line.mean, bar(share) if with_bars else "", line.interval or "–", f"{line.graded:,}"
        )
    return table


def _patterns(lines: tuple[PatternView, ...], *, width: int) -> RenderableType:
    table = _table("pattern", "replies", "of failed", "for", right=(1, 2))
    where = width >= WIDE and any(line.concentrations for line in lines[:_PATTERNS])
    if where:
        table.add_column("more in", ratio=1)
    for line in lines[:_PATTERNS]:
        cells = [Text(line.name), Text(f"{line.count:,}"), Text(line.share), Text(line.owner)]
        table.add_row(*cells, *([Text("; ".join(line.concentrations))] if where else []))
    more = len(lines) - _PATTERNS
    return Group(table, *([Text(f"{more} more in the report", style="dim")] if more > 0 else []))


def _gate(view: RunView) -> RenderableType:
    if (verdict := view.verdict) is None:
        return Text()
    checks = (Text.assemble(_standing(check.standing), f"  {check.name}: {check.reason}") for check in verdict.checks)
    title = Text.assemble(("\nRelease gate: ", "bold"), _standing(verdict.standing), f"  {verdict.sentence}")
    return Group(title, *(indented(check, 2) for check in checks))


def _table(*columns: str, right: tuple[int, ...]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for at, name in enumerate(columns):
        table.add_column(name, justify="right" if at in right else "left", no_wrap=at > 0)
    return table


def show_comparison(view: ComparisonView, *, console: Console) -> None:
    """Print the answer, the changes and the cases that changed sides."""
    console.print(Text.assemble((view.before.title, "bold"), " → ", (view.after.title, "bold")))
    console.print(Text(view.sentence, style=_STYLES.get(view.standing, "bold")))
    console.print(Text(view.pairs))
    for remark in (*view.differing, *view.remarks):
        console.print(Text(f"- {remark}"))
    for title, lines in (("Headline", view.headline), ("Grades", view.grades), ("Categories", view.categories)):
        if lines:
            console.print(titled(title, _changes(lines, width=console.width)))
    title = f"Flips: {view.regressed:,} regressed, {view.improved:,} improved"
    console.print(titled(title, Group(*(part for flip in view.flips[:_FLIPS] for part in _flip(flip)))))
    if (more := len(view.flips) - _FLIPS) > 0:
        console.print(Text(f"  {more:,} more", style="dim"))
    console.print()


def _changes(lines: Iterable[ChangeLine], *, width: int) -> RenderableType:
    if width < WIDE:
        return Group(*(part for line in lines for part in _change_lines(line)))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for at, name in enumerate(("", "before", "after", "change", "95 % interval", "chance", "")):
        table.add_column(name, justify="right" if at in (1, 2, 3) else "left", no_wrap=at > 0)
    for line in lines:
        table.add_row(
            Text(line.name), line.before, line.after, Text(line.difference, style="bold"), line.interval or "–",
            line.chance or "–", Text(line.standing, style=_STYLES.get(line.standing, "dim")),
        )  # fmt: skip
    return table


def _change_lines(line: ChangeLine) -> Iterable[RenderableType]:
    standing = Text(line.standing, style=_STYLES.get(line.standing, "dim"))
    yield Text.assemble(line.name, " ", (line.difference, "bold"), " ", standing)
    yield indented(
        Text(f"{line.before} → {line.after}; {line.interval or 'no interval'}; {line.chance or 'no test'}"), 2
    )


def _flip(flip: FlipLine) -> Iterable[RenderableType]:
    yield Text.assemble((flip.direction, _STYLES[flip.direction]), f" {flip.id}  {flip.totals}  {flip.category}")
    if flip.changes:
        yield indented(Text("; ".join(flip.changes)), 4)


def show_runs(lines: Sequence[RunLine], *, console: Console) -> None:
    """Print the runs, or that there are none."""
    if not lines:
        console.print("no runs: touchstone eval GOLDSET makes one")
        return
    if console.width < NARROW:
        for line in lines:
            console.print(Text(f"{line.id}  {_rate(line)}  {line.goldset}  {line.labels}".rstrip()))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("run", "started", "gold set", "labels"):
        table.add_column(head, overflow="fold")
    table.add_column("replies", justify="right")
    table.add_column("passed", justify="right")
    for line in lines:
        cells = (
            line.id,
            line.started[:16].replace("T", " "),
            line.goldset,
            line.labels,
            f"{line.replies:,}",
            _rate(line),
        )
        table.add_row(*map(Text, cells))
    console.print(table)


def _rate(line: RunLine) -> str:
    if line.state == "interrupted":
        return line.state
    return "–" if line.pass_rate is None else f"{line.pass_rate:.0%}"
