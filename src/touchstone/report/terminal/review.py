"""WeeklyView, queues, agreement, and what a calibration is worth -> a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from touchstone.report.figures import figure, sentence
from touchstone.report.plain import one_line
from touchstone.report.weekly import AgreementView, WeeklyView
from touchstone.review.calibration import LEAST_LABELS, Gain, ModelCalibration
from touchstone.review.queue import Progress, Queue

MODES = {"expected": "with an expected reply", "open": "with sources", "bare": "with neither"}


def show_weekly(view: WeeklyView, *, console: Console) -> None:
    """Print the report."""
    console.print(Text(view.title, style="bold"))
    for fact in view.facts:
        console.print(Text(f"{fact.name:<9}{fact.value}"))
    console.print()
    for rate in view.rates:
        console.print(Text(rate.sentence))
        console.print(Text(f"  {rate.estimator}", style="dim"))
    for text in (*view.reminders, *view.remarks):
        console.print(Text(f"! {sentence(text)}"))
    for each in view.agreement:
        console.print()
        show_agreement(each, console=console)
    console.print()
    _show_patterns(view, console=console)


def show_agreements(views: Sequence[AgreementView], *, console: Console) -> None:
    """Print each, with a line between them."""
    for at, view in enumerate(views):
        if at:
            console.print()
        show_agreement(view, console=console)


def show_agreement(view: AgreementView, *, console: Console) -> None:
    """Print how far two sides agree."""
    console.print(Text(view.title, style="bold"))
    if view.rows:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("criterion")
        for head in ("replies", "same", "within one", "kappa", "95 % interval", "alpha"):
            table.add_column(head, justify="right")
        for row in view.rows:
            cells = (row.name, str(row.n), row.exact, row.within_one, row.kappa, row.interval, row.alpha)
            table.add_row(*map(Text, cells))
        console.print(table)
    if view.note:
        console.print(Text(sentence(view.note)))


def show_queues(lines: Sequence[tuple[Queue, Progress]], *, console: Console) -> None:
    """Print queues, the newest first."""
    if not lines:
        console.print("no queues: touchstone review sample makes one")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("queue", "name", "run", "state"):
        table.add_column(head, overflow="fold")
    for head in ("items", "finished", "differ"):
        table.add_column(head, justify="right")
    for queue, progress in lines:
        state = "closed" if queue.closed else "open"
        counts = (progress.items, progress.finished, progress.differs)
        table.add_row(*map(Text, (queue.id, one_line(queue.name), queue.run, state, *map(str, counts))))
    console.print(table)


def _show_patterns(view: WeeklyView, *, console: Console) -> None:
    console.print(Text("Patterns", style="bold"))
    if not view.patterns:
        console.print("no failed reply has a pattern")
    for line in view.patterns:
        new = " (new)" if line.is_new else ""
        console.print(Text(f"{line.count:>5}  {line.shown_share:>7}  {line.name}{new}, {line.owner}"))
        for action in line.actions:
            console.print(Text(f"       {action.state}: {action.text} ({action.by}); {action.effect}"))


def show_gains(gains: Sequence[Gain], *, console: Console) -> None:
    """Print agreement with people on labels held out, before and after."""
    if not gains:
        console.print(f"no criterion has {LEAST_LABELS} labels of one kind: the models stay as they are")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("criterion", "graded"):
        table.add_column(head, overflow="fold")
    for head in ("labels", "kappa", "→", "error", "→"):
        table.add_column(head, justify="right")
    table.add_column("")
    for gain in gains:
        cells = (
            gain.criterion,
            MODES[gain.mode],
            str(gain.n),
            figure(gain.kappa_before, "unit"),
            figure(gain.kappa_after, "unit"),
            figure(gain.error_before, "unit"),
            figure(gain.error_after, "unit"),
            "taken" if gain.taken else "left as it was",
        )
        table.add_row(*map(Text, cells))
    console.print(table)


def show_model_gains(found: ModelCalibration, *, console: Console) -> None:
    """Print what moving a language model's fit is worth on labels held out, before and after."""
    console.print(Text(f"\n{one_line(found.fit.judge or '')}", style="bold"))
    if not found.gains:
        console.print(f"fewer than {LEAST_LABELS} reviewed replies have kept answers: what is fitted stays as it is")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("fitted", overflow="fold")
    for head in ("labels", "error", "→"):
        table.add_column(head, justify="right")
    table.add_column("")
    for gain in found.gains:
        taken = "taken" if gain.taken else "left as it was"
        cells = (gain.name, str(gain.n), figure(gain.before, "unit"), figure(gain.after, "unit"), taken)
        table.add_row(*map(Text, cells))
    console.print(table)
