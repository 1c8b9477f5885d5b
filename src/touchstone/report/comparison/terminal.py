"""ComparisonView -> a terminal. Texts from outside are only ever `Text`, never markup."""

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from touchstone.report.comparison.view import ChangeLine, ComparisonView, FlipLine
from touchstone.report.marks import NARROW, indented, titled

_FLIPS = 20
_STYLES = {"better": "bold green", "improved": "bold green", "worse": "bold red", "regressed": "bold red"}


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
    if width < NARROW:
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
