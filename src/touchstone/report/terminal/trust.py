"""One judge, or several side by side -> a terminal."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from touchstone.report.trust.view import FiguresLine, FiguresTable, GroupLine, JudgeTableView, TrustView

# From how many columns on kappa stands beside the rest and not below it.
ROOM_FOR_ALL = 190
# How long a name may be to stand on one line.
_NAME = 26


def show_trust(view: TrustView, *, console: Console) -> None:
    """Print what the judge is worth, criterion by criterion and group by group."""
    console.print(Text.assemble((view.title, "bold"), f" on {view.goldset}: ", (view.standing, "bold")))
    console.print(Text(view.sentence))
    if view.coverage_sentence:
        console.print(Text(view.coverage_sentence))
    console.print()
    console.print(_table(("", "", ""), ((line.name, line.value, line.note) for line in view.headline)))
    console.print()
    heads = ("criterion", "kappa", "95 % interval", "equal", "within 1", "lean", "graded", "open")
    console.print(
        _table(
            heads,
            (
                (
                    each.name,
                    each.kappa,
                    each.interval,
                    each.equal,
                    each.within_one,
                    each.lean,
                    f"{each.n:,}",
                    f"{each.left_open:,}",
                )
                for each in view.criteria
            ),
        )
    )
    console.print()
    kinds = ("violations", "precision", "95 % interval", "recall", "95 % interval")
    console.print(
        _table(
            kinds,
            (
                (
                    each.name,
                    each.precision,
                    each.precision_interval,
                    each.recall,
                    each.recall_interval,
                )
                for each in view.violations
            ),
        )
    )
    if view.sets:
        console.print()
        show_figures(view.sets, console=console)
    for title, groups in (("category", view.categories), ("length of the reply", view.lengths)):
        if groups:
            console.print()
            console.print(_groups(title, groups))
    for remark in view.remarks:
        console.print(Text(f"- {remark}"))


def show_judges(view: JudgeTableView, *, console: Console) -> None:
    """Print several judges side by side."""
    console.print(Text.assemble((f"{len(view.table.lines)} judges", "bold"), f" on {view.goldset}"))
    console.print(Text(view.sentence))
    console.print()
    show_figures(view.table, console=console)
    for remark in view.remarks:
        console.print(Text(f"- {remark}"))


def show_figures(table: FiguresTable, *, console: Console) -> None:
    """Print a line for each judge or set; where lines are too long for the terminal, in parts below each other."""
    outcomes = ("replies", "same outcome", "95 % interval", "passed that people fail", "left open")
    violations = tuple(f"violations: {name}" for name in ("precision", "recall"))
    kappas = tuple(f"kappa {name}" for name in table.criteria)
    rows = [_FiguresRow(line) for line in table.lines]
    if console.width >= ROOM_FOR_ALL:
        heads = (table.first, *outcomes, *violations, *kappas)
        console.print(_table(heads, ((r.line.name, *r.outcomes, *r.violations, *r.kappas) for r in rows)))
        return
    console.print(_table((table.first, *outcomes), ((row.line.name, *row.outcomes) for row in rows)))
    if kappas:
        console.print()
        console.print(_table(("kappa", *table.criteria), ((row.line.name, *row.kappas) for row in rows)))
    console.print()
    console.print(_table(("violations", "precision", "recall"), ((row.line.name, *row.violations) for row in rows)))


@dataclass(frozen=True, slots=True)
class _FiguresRow:
    """The cells of a line by the part of the table they belong to."""

    line: FiguresLine

    @property
    def outcomes(self) -> tuple[str, ...]:
        line = self.line
        return (line.replies, line.outcome.value, line.outcome.note, line.false_pass, line.left_open)

    @property
    def kappas(self) -> tuple[str, ...]:
        return tuple(cell.value for cell in self.line.kappas)

    @property
    def violations(self) -> tuple[str, ...]:
        cells = (self.line.precision, self.line.recall)
        return tuple(f"{cell.value} ({cell.note})" if cell.note else cell.value for cell in cells)


def _groups(title: str, groups: Sequence[GroupLine]) -> Table:
    heads = (title, "same outcome", "95 % interval", "points too many", "95 % interval", "replies")
    return _table(heads, ((g.name, g.agreement, g.interval, g.lean, g.lean_interval, f"{g.n:,}") for g in groups))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), show_header=any(heads), header_style="dim")
    lines = [tuple(map(Text, row)) for row in rows]
    # Rich wraps the others first, so that words of a name are not broken.
    whole = max((cells[0].cell_len for cells in lines), default=0) <= _NAME
    for at, head in enumerate(heads):
        first = at == 0
        table.add_column(head, justify="left" if first else "right", overflow="fold", no_wrap=first and whole)
    for cells in lines:
        table.add_row(*cells)
    return table
