"""What a person sees: notices, failed rows and a progress bar on stderr; pages, JSON and files on request."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import typer
from rich.console import Console
from rich.progress import Progress, ProgressColumn
from rich.text import Text

from touchstone.core.result import Failure
from touchstone.io.locations import write_text
from touchstone.report.plain import one_line

MOST_NAMED = 20
_LONGEST_MESSAGE = 400


class Screen:
    """Follows work on stderr: a bar on a terminal, the first failures by name, notices unless all is to be quiet."""

    def __init__(self, *columns: ProgressColumn, is_quiet: bool, shows_bar: bool | None = None) -> None:
        self.done = 0
        self.failed = 0
        self._is_quiet = is_quiet
        self._console = Console(stderr=True, soft_wrap=True, highlight=False)
        shows = sys.stderr.isatty() if shows_bar is None else shows_bar
        self.bar = Progress(*columns, console=self._console, transient=True) if shows and not is_quiet else None
        self._task = self.bar.add_task("", total=None, done="") if self.bar else None

    def __enter__(self) -> Self:
        if self.bar:
            self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar:
            self.bar.stop()
        if self.failed > MOST_NAMED:
            self.notice(f"… and {self.failed - MOST_NAMED:,} more failed rows")

    def notice(self, message: str) -> None:
        """One line on stderr, unless all is to be quiet."""
        if not self._is_quiet:
            self._console.print(Text(message))

    def name_failed(self, place: str, *failures: Failure) -> None:
        """Count a failed row, and say why it failed while they are few."""
        self.failed += 1
        if self.failed <= MOST_NAMED:
            for failure in failures:
                self.notice(one_line(f"{place}: {failure.message}")[:_LONGEST_MESSAGE])

    def advance(self, completed: float | None, *, total: float | None, text: str = "") -> None:
        """Move the bar; `text` is shown where a column has `{task.fields[done]}`."""
        if self.bar is not None and self._task is not None:
            self.bar.update(self._task, completed=completed, total=total, done=text)


def print_page(show: Callable[..., None], *values: Any, to_stderr: bool = False, **options: Any) -> None:
    """Show values on a console that is captured: Rich would end the command with exit code 1 when a pipe is closed."""
    console = Console(stderr=to_stderr, highlight=False)
    with console.capture() as page:
        show(*values, console=console, **options)
    typer.echo(page.get(), nl=False, err=to_stderr, color=True)


def print_json(value: Any, *, indent: int | None = 2, to_stderr: bool = False) -> None:
    """A value as JSON, for machines."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=indent), err=to_stderr)


def put_text(text: str, target: str) -> None:
    """A text on stdout, or in a file that is there whole or not at all."""
    if target == "-":
        typer.echo(text, nl=False)
        return
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    write_text(Path(target), text)
    typer.echo(f"wrote {target}", err=True)
