"""How rulings, statuses, tables and numbers look in a terminal. Colour is never the only sign of anything.

A text from outside is cleaned and is only ever `Text`, never markup.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from touchstone.report.figures import figure
from touchstone.report.plain import one_line

STATUS_STYLES = {
    "supported": "green",
    "derived": "cyan",
    "contradicted": "bold red",
    "unsupported": "yellow",
}
# What a verifier says of a sentence.
STANDING_STYLES = {
    "supported": "green",
    "contradicted": "bold red",
    "not_stated": "yellow",
    "no_claim": "dim",
}
# A ground of its own, so that the status of an anchor inside a violation could still be told by its number.
VIOLATION_STYLE = "bold white on magenta"
SUSPICION_STYLE = "black on yellow"
RULING_STYLES = {
    "PASS": "bold green",
    "WARN": "bold yellow",
    "FAIL": "bold red",
    "send": "green",
    "review": "yellow",
    "block": "red",
}
# From how many columns on there is room for two texts side by side, and below how many for one only.
WIDE = 100
NARROW = 70
_BAR = 10


def titled(title: str, content: RenderableType) -> Group:
    """Content under a title, with a blank line before it."""
    return Group(Text(f"\n{title}", style="bold"), indented(content, 2))


def indented(content: RenderableType, columns: int) -> Padding:
    return Padding(content, (0, 0, 0, columns), expand=False)


def line(text: str, style: str = "", *, before: str = "") -> Text:
    """A text from outside on one line, after what is put before it as it is."""
    return Text(f"{before}{one_line(text)}", style=style)


def listed(texts: Iterable[str]) -> Table:
    """A list with a dash before each text."""
    lines = Table.grid(padding=(0, 1, 0, 0))
    for text in texts:
        lines.add_row("-", line(text))
    return lines


def table(
    *heads: str,
    rows: Iterable[Sequence[RenderableType]],
    right: Collection[int] = (),
    gap: int = 2,
    style: str = "dim",
    wraps: Collection[int] | None = (0,),
) -> Table:
    """Rows under their heads. Cells in `wraps` (all for None) break where there is no room, the others are cut."""
    made = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), show_header=any(heads), header_style=style)
    for at, head in enumerate(heads):
        may_wrap = wraps is None or at in wraps
        justify: Literal["left", "right"] = "right" if at in right else "left"
        made.add_column(head, justify=justify, no_wrap=not may_wrap, overflow="fold" if may_wrap else "ellipsis")
    for row in rows:
        made.add_row(*(line(cell) if isinstance(cell, str) else cell for cell in row))
    return made


def ruling(name: str | None, *, absent: str) -> Text:
    """A verdict, outcome or decision in its colour."""
    return Text(name or absent, style=RULING_STYLES.get(name or "", "bold"))


def number(value: float | None) -> Text:
    return Text(figure(value, "unit"))


def bar(share: float | None) -> Text:
    """A share from 0 to 1 as a bar; dim when there is none."""
    filled = 0 if share is None else round(max(0.0, min(1.0, share)) * _BAR)
    return Text("█" * filled + "░" * (_BAR - filled), style="dim" if share is None else "")
