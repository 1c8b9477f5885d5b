"""The run in a terminal: at every width, and deaf to escape sequences."""

from io import StringIO

import pytest
from rich.console import Console
from tests.report.sample import hostile_view, records, unscored, view_of

from touchstone.report.terminal.runs import show_run


def shown(view, width=110):
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    show_run(view, console=console)
    return console.file.getvalue()


def test_the_headline_patterns_and_gate_are_shown():
    text = shown(view_of(records(90)))
    for part in ("pass rate", "66.7", "missed", "90 replies", "missed question", "Release gate: closed", "billing"):
        assert part in text


@pytest.mark.parametrize("width", [20, 40, 69, 80, 100, 160])
def test_a_run_fits_any_width(width):
    assert all(len(line) <= width for line in shown(view_of(records(90)), width).splitlines())


def test_a_run_with_nothing_scored_is_shown():
    assert "–" in shown(view_of([unscored(1)], worst=[]))


def test_text_from_outside_moves_no_cursor():
    assert not set(shown(hostile_view())) & set("\x1b\x07\u202e")
