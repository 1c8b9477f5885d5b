"""TrustView -> a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from touchstone.report.trust.view import GroupLine, TrustView


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
    for title, groups in (("category", view.categories), ("length of the reply", view.lengths)):
        if groups:
            console.print()
            console.print(_groups(title, groups))
    for remark in view.remarks:
        console.print(Text(f"- {remark}"))


def _groups(title: str, groups: Sequence[GroupLine]) -> Table:
    heads = (title, "same outcome", "95 % interval", "points too many", "95 % interval", "replies")
    return _table(heads, ((g.name, g.agreement, g.interval, g.lean, g.lean_interval, f"{g.n:,}") for g in groups))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), show_header=any(heads), header_style="dim")
    for at, head in enumerate(heads):
        table.add_column(head, justify="left" if at == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
