"""How rulings, statuses, violations and numbers look in a terminal. Colour is never the only sign of anything."""

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

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


def ruling(name: str | None, *, absent: str) -> Text:
    """A verdict, outcome or decision in its colour."""
    return Text(name or absent, style=RULING_STYLES.get(name or "", "bold"))


def number(value: float | None) -> Text:
    return Text("–" if value is None else f"{value:.2f}")


def bar(share: float | None) -> Text:
    """A share from 0 to 1 as a bar; dim when there is none."""
    filled = 0 if share is None else round(max(0.0, min(1.0, share)) * _BAR)
    return Text("█" * filled + "░" * (_BAR - filled), style="dim" if share is None else "")
