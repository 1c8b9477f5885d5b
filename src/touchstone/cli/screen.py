"""What a person sees while cases are scored: progress, failed rows and explanations."""

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from types import TracebackType
from typing import Self

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from touchstone.app.score import ScoredEntry
from touchstone.core.case import Case
from touchstone.report.explain import explain
from touchstone.report.plain import one_line
from touchstone.report.terminal.explanation import show_explanation
from touchstone.report.terminal.job import show_tally
from touchstone.runs.counts import Tally

MOST_NAMED = 20
_LONGEST_MESSAGE = 400


class Screen:
    """Follows a scoring: call it with each scored row. Notices go to stderr, explanations to stdout."""

    def __init__(
        self, *, explains: bool, shows_progress: bool, is_quiet: bool, meter: Callable[[], str] | None = None
    ) -> None:
        self.rows = 0
        self.failed = 0
        self._explains = explains
        self._is_quiet = is_quiet
        self._meter = meter
        self._notices = Console(stderr=True, soft_wrap=True, highlight=False)
        self._progress = _progress_bar(self._notices) if shows_progress and not is_quiet else None
        self._task = self._progress.add_task("", total=None, done="") if self._progress else None
        self._start = time.monotonic()
        self._open = ExitStack()

    def __enter__(self) -> Self:
        if self._progress:
            self._open.enter_context(self._progress)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        if self.failed > MOST_NAMED:
            self.notice(f"… and {self.failed - MOST_NAMED:,} more failed rows")

    def __call__(self, scored: ScoredEntry) -> None:
        """Show one row."""
        self.rows += 1
        if scored.result.failures:
            self.failed += 1
            self._name(scored)
        if self._explains:
            self._explain(scored)
        self._advance(scored.share_read)

    def notice(self, message: str) -> None:
        """One line on stderr, unless all is to be quiet."""
        if not self._is_quiet:
            self._notices.print(Text(message))

    def summarise(self, tally: Tally, *, as_json: bool, to_stderr: bool) -> None:
        """What the scoring came to; on stderr when the results are on stdout."""
        if as_json:
            typer.echo(json.dumps(asdict(tally)), err=to_stderr)
        else:
            print_page(lambda console: show_tally(tally, console=console), to_stderr=to_stderr)

    def _name(self, scored: ScoredEntry) -> None:
        if self.failed <= MOST_NAMED:
            place = f"{scored.entry.file}:{scored.entry.line}"
            for failure in scored.result.failures:
                self.notice(one_line(f"{place}: {failure.message}")[:_LONGEST_MESSAGE])

    def _explain(self, scored: ScoredEntry) -> None:
        if isinstance(scored.entry.case, Case):
            explanation = explain(scored.entry.case, scored.result)
            print_page(lambda console: show_explanation(explanation, console=console), to_stderr=False)

    def _advance(self, share_read: float | None) -> None:
        if self._progress is None or self._task is None:
            return
        seconds = time.monotonic() - self._start
        done = f"{self.rows:,} rows, {self.rows / max(seconds, 1e-9):,.0f}/s"
        done += f", {self._meter()}" if self._meter else ""
        total = None if share_read is None else 1.0
        self._progress.update(self._task, total=total, completed=share_read, done=done)


def print_page(show: Callable[[Console], None], *, to_stderr: bool) -> None:
    """Show on a console that is captured: Rich would end the command with exit code 1 when a pipe is closed."""
    console = Console(stderr=to_stderr, highlight=False)
    with console.capture() as page:
        show(console)
    typer.echo(page.get(), nl=False, err=to_stderr, color=True)


def _progress_bar(console: Console) -> Progress:
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[done]}"), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True)
