"""What a calibration is worth -> a table in a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from touchstone.report.figures import figure
from touchstone.report.plain import one_line
from touchstone.review.calibration import LEAST_LABELS, Gain
from touchstone.review.model_calibration import ModelCalibration

WAYS = {"expected": "with an expected reply", "open": "with sources", "bare": "with neither"}


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
            WAYS[gain.way],
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
