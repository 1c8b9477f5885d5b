"""WeeklyReport, queues, agreement, and what a calibration is worth -> a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from touchstone.report import weekly
from touchstone.report.figures import figure, interval, sentence, words
from touchstone.report.plain import one_line
from touchstone.report.terminal.layout import line, table
from touchstone.review.agreement import Agreement
from touchstone.review.calibration import LEAST_LABELS, Gain, ModelCalibration
from touchstone.review.queue import Progress, Queue
from touchstone.review.weekly import WeeklyReport

_UPTAKE = {True: "used", False: "left as it was"}


def show_weekly(report: WeeklyReport, *, console: Console) -> None:
    """Print the report."""
    console.print(line(report.queue.name, "bold"))
    for name, value in weekly.facts(report):
        console.print(Text(f"{name:<9}{value}"))
    console.print()
    for rate in weekly.rates(report):
        console.print(Text(rate.sentence))
        console.print(Text(f"  {rate.corrected.estimator}", style="dim"))
    for text in weekly.remarks(report):
        console.print(Text(f"! {sentence(text)}"))
    console.print()
    show_agreements(weekly.agreements(report), console=console)
    console.print("", Text("Patterns", style="bold"), sep="\n")
    if not report.patterns:
        console.print("no failed reply shows a pattern")
    for each in report.patterns:
        name = f"{each.name}{' (new)' if each.is_new else ''}, {each.owner}"
        console.print(line(name, before=f"{each.count:>5}  {figure(each.share, 'share'):>7}  "))
        for done in each.actions:
            action = f"{done.action.state}: {done.action.text} ({done.action.by}); {weekly.effect(done)}"
            console.print(line(action, before="       "))


def show_agreements(compared: Sequence[tuple[str, Agreement]], *, console: Console) -> None:
    """Print how far two sides agree, a blank line between several."""
    heads = ("criterion", "replies", "same", "within one", "kappa", "95 % interval", "alpha")
    for at, (title, agreement) in enumerate(compared):
        if at:
            console.print()
        console.print(Text(title, style="bold"))
        rows = [
            (
                words(each.name),
                str(each.n),
                figure(each.exact, "share"),
                "" if each.name == "outcome" else figure(each.within_one, "share"),
                figure(each.kappa, "unit"),
                interval(each.interval, "unit"),
                figure(each.alpha, "unit"),
            )
            for each in weekly.agreement_lines(agreement)
        ]
        if rows:
            console.print(_table(heads, rows, right=range(1, 7)))
        if note := weekly.agreement_note(title, agreement):
            console.print(Text(sentence(note)))


def show_queues(lines: Sequence[tuple[Queue, Progress]], *, console: Console) -> None:
    """Print queues, the newest first."""
    if not lines:
        console.print("no queues: touchstone review sample makes one")
        return
    rows = (
        (
            queue.id,
            queue.name,
            queue.run,
            "closed" if queue.closed else "open",
            *map(str, (progress.items, progress.finished, progress.differs)),
        )
        for queue, progress in lines
    )
    heads = ("queue", "name", "run", "state", "items", "finished", "differ")
    console.print(_table(heads, rows, right=(4, 5, 6)))


def show_gains(gains: Sequence[Gain], *, console: Console) -> None:
    """Print agreement with people on labels held out, before and after."""
    if not gains:
        console.print(f"no criterion has {LEAST_LABELS} labels of one kind: the models stay as they are")
        return
    rows = (
        (
            each.criterion,
            weekly.MODES[each.mode],
            str(each.n),
            figure(each.kappa_before, "unit"),
            figure(each.kappa_after, "unit"),
            figure(each.error_before, "unit"),
            figure(each.error_after, "unit"),
            _UPTAKE[each.taken],
        )
        for each in gains
    )
    heads = ("criterion", "graded", "labels", "kappa", "→", "error", "→", "")
    console.print(_table(heads, rows, right=range(2, 7)))


def show_model_gains(found: ModelCalibration, *, console: Console) -> None:
    """Print what refitting a language model's judge is worth on labels held out, before and after."""
    console.print(Text(f"\n{one_line(found.fit.judge or '')}", style="bold"))
    if not found.gains:
        console.print(f"fewer than {LEAST_LABELS} reviewed replies have kept answers: what is fitted stays as it is")
        return
    rows = (
        (each.name, str(each.n), figure(each.before, "unit"), figure(each.after, "unit"), _UPTAKE[each.taken])
        for each in found.gains
    )
    console.print(_table(("fitted", "labels", "error", "→", ""), rows, right=(1, 2, 3)))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int]) -> RenderableType:
    return table(*heads, rows=rows, right=tuple(right), style="bold", wraps=None)
