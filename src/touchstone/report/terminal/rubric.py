"""A rubric's card, level texts and changes -> a terminal. Texts from a file are only ever `Text`, never markup."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from touchstone.report.plain import one_line, plain
from touchstone.report.terminal.layout import indented, line
from touchstone.rubric.card import Card, Change, ConventionTexts, LevelTexts

_MARGIN = 2
_SHORT = 60


def show_card(card: Card, *, console: Console) -> None:
    """Print the card in its box, or line by line where the box does not fit."""
    title = one_line(card.title)
    sections = [[plain(line) for line in section] for section in card.sections]
    inside = max(cell_len(line) for line in (title, *(line for section in sections for line in section))) + _MARGIN
    if inside + 2 > console.width:
        console.print(Text(title, style="bold"))
        for section in sections:
            console.print(*(Text(line) for line in ("", *section)), sep="\n")
        return
    left = (inside - cell_len(title)) // 2
    console.print(Text(f"┌{'─' * inside}┐"))
    console.print(_boxed(Text(title, style="bold"), indent=left, inside=inside))
    for section in sections:
        console.print(Text(f"├{'─' * inside}┤"))
        for text in section:
            console.print(_boxed(Text(text), indent=_MARGIN, inside=inside))
    console.print(Text(f"└{'─' * inside}┘"))


def show_levels(texts: Iterable[LevelTexts], *, console: Console) -> None:
    """Print what each level of each criterion means."""
    for criterion in texts:
        console.print(line(criterion.heading, "bold", before="\n"))
        for level, text in criterion.levels:
            console.print(indented(line(text, before=f"{level}  "), _MARGIN))


def show_conventions(texts: Iterable[ConventionTexts], *, version: str, console: Console) -> None:
    """Print how levels and kinds of violation are meant where their texts leave it open."""
    for at, each in enumerate(texts):
        if not at:
            console.print(line(f"Conventions {version}", "bold", before="\n"))
        console.print(line(each.heading, "bold"))
        for sentence in each.sentences:
            console.print(indented(line(sentence), _MARGIN))


def show_changes(changes: Sequence[Change], *, console: Console) -> None:
    """Print what was removed (-), added (+) and changed (~), the long ones one below the other."""
    if not changes:
        console.print(Text("no difference"))
    for change in changes:
        _show_change(change, console=console)


def _show_change(change: Change, *, console: Console) -> None:
    where = line(change.where, "bold")
    before, after = (None if value is None else _shown(value) for value in (change.before, change.after))
    if before is None or after is None:
        sign, text, style = ("+", after, "green") if before is None else ("-", before, "red")
        console.print(Text.assemble((f"{sign} ", style), where, ": ", (text or "", style)))
    elif len(before) + len(after) <= _SHORT:
        console.print(Text.assemble(("~ ", "yellow"), where, ": ", (before, "red"), " → ", (after, "green")))
    else:
        console.print(Text.assemble(("~ ", "yellow"), where))
        for sign, text, style in (("- ", before, "red"), ("+ ", after, "green")):
            console.print(indented(Text(f"{sign}{text}", style=style), _MARGIN))


def _shown(value: str | float) -> str:
    return one_line(value) if isinstance(value, str) else f"{value:g}"


def _boxed(text: Text, *, indent: int, inside: int) -> Text:
    return Text.assemble("│", " " * indent, text, " " * (inside - indent - cell_len(text.plain)), "│")
