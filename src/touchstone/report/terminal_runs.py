"""A list of runs in a terminal: the newest first, one line each where there is room."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from touchstone.report.marks import NARROW
from touchstone.report.runs import RunLine


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
