"""What a person sees while a gold set is evaluated: what is resumed, progress, replies that failed."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from touchstone.app.evaluation import Step
from touchstone.report.plain import one_line
from touchstone.runs.run import Run

MOST_NAMED = 20
_LONGEST_MESSAGE = 400


class EvalScreen:
    """Follows an evaluation on stderr."""

    def __init__(self, *, shows_progress: bool, is_quiet: bool) -> None:
        self.done = 0
        self._failed = 0
        self._is_quiet = is_quiet
        self._console = Console(stderr=True, soft_wrap=True, highlight=False)
        columns = (TextColumn("scoring"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=self._console, transient=True) if shows_progress else None
        self._task = self._progress.add_task("", total=None) if self._progress else None

    def __enter__(self) -> Self:
        if self._progress:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress:
            self._progress.stop()
        if self._failed > MOST_NAMED:
            self.notice(f"… and {self._failed - MOST_NAMED:,} more replies failed")

    def start(self, run: Run, done: int) -> None:
        """Say which run this is, and whether it goes on from before."""
        self.done = done
        how = f"goes on after {done:,} replies" if done else "started"
        self.notice(f"run {run.id} {how}")

    def step(self, step: Step) -> None:
        """Show one reply."""
        self.done = step.done
        if step.result.failures:
            self._failed += 1
            self._name(step)
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=step.done, total=step.total)

    def notice(self, message: str) -> None:
        """One line, unless all is to be quiet."""
        if not self._is_quiet:
            self._console.print(Text(message))

    def _name(self, step: Step) -> None:
        if self._failed <= MOST_NAMED:
            place = f"line {step.reply.line}" + (f", {step.reply.id}" if step.reply.id else "")
            for failure in step.result.failures:
                self.notice(one_line(f"{place}: {failure.message}")[:_LONGEST_MESSAGE])
