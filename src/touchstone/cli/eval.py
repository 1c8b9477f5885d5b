"""`touchstone eval`: a gold set to a run, its report, and whether the version may be released."""

import signal
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from touchstone.app.batching import check_batch, fill_records
from touchstone.app.config import Settings
from touchstone.app.evaluation import JudgeStopped, Step, evaluate_goldset
from touchstone.app.judge_cost import meter_line, report_lines
from touchstone.app.judging import ModelJudge, open_judge
from touchstone.app.replies import Assignment
from touchstone.app.runs import RENDERERS, find_baseline, open_run, open_store_of, view_run, write_run
from touchstone.cli import GATE_NOT_MET, INTERRUPTED, SOME_ROW_FAILED
from touchstone.cli.options import Goldset, Labels, Quiet, Repeated, SummaryAsJson, Text, pairs, takes_settings
from touchstone.cli.screen import Screen, print_page
from touchstone.core.errors import ConfigError, InputError
from touchstone.report.run import RunReport
from touchstone.report.terminal.runs import show_run
from touchstone.runs.run import Run, Terms
from touchstone.store.runs import Store


@takes_settings(
    "map", "set", "rubric", "verifier", "target", "least_scored", "store", "runs", "redact", "config", "judge"
)
def eval(
    goldset: Goldset,
    *,
    responses: Annotated[Text, typer.Option(metavar="FILE", help="The replies, joined to the cases by id.")] = None,
    bot: Annotated[
        Text, typer.Option(metavar="COMMAND_OR_URL", help="Have a command or an HTTP endpoint draft the replies.")
    ] = None,
    repeat: Annotated[int, typer.Option(metavar="N", min=1, help="Drafts for each case, for a bot that varies.")] = 1,
    concurrency: Annotated[int, typer.Option(metavar="N", min=1, help="Drafts requested at once.")] = 4,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="How long a draft may take.")] = 30.0,
    retries: Annotated[int, typer.Option(metavar="N", min=0, help="How often a failed draft is tried again.")] = 2,
    header: Annotated[
        Repeated, typer.Option(metavar="NAME=VALUE", help="For the endpoint; ${VAR} is taken from the environment.")
    ] = None,
    label: Labels = None,
    gate: Annotated[bool, typer.Option("--gate", help="Exit with 1 unless every target is met.")] = False,
    baseline: Annotated[
        Text, typer.Option(metavar="RUN", help="With --gate: no significant regression against this run.")
    ] = None,
    settings: Settings,
    batch: Annotated[
        bool, typer.Option("--batch", help="Ask the model by its provider's batches: cheaper, within a day.")
    ] = False,
    new: Annotated[bool, typer.Option("--new", help="Start over, even where an interrupted run could resume.")] = False,
    as_json: SummaryAsJson = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate a bot on a gold set: score its replies, check them against targets, write the report.

    The run is kept; an interrupted run resumes where it stopped when the command is given again.
    """
    if responses and bot:
        raise ConfigError("give --responses or --bot, not both: a reply has one source")
    if repeat > 1 and not bot:
        raise ConfigError(f"--repeat {repeat} needs --bot: without one there is nothing to draft again")
    if baseline and not gate:
        raise ConfigError("--baseline is for --gate: compare two runs with touchstone compare")
    if batch:
        check_batch(settings, bot=bot)
    assignment = Assignment(
        goldset=goldset,
        responses=responses,
        bot=bot,
        repeat=repeat,
        concurrency=concurrency,
        timeout=timeout,
        retries=retries,
        headers=pairs(header, flag="--header"),
        labels=pairs(label, flag="--label"),
        starts_over=new,
    )
    with open_store_of(settings, creates=True) as opened:
        terms = _terms(baseline, settings=settings, store=opened) if gate else None
        run = _evaluate(assignment, settings=settings, store=opened, quiet=quiet, by_batch=batch)
        failures = opened.replies.count_failed(run)
        view = _conclude(run, settings=settings, store=opened, terms=terms)
    if as_json:
        typer.echo(RENDERERS["json"](view), nl=False)
    else:
        print_page(show_run, view)
    if not quiet:
        typer.echo(f"report: {Path(settings.runs) / run / 'report.html'}", err=True)
    if view.gate is not None and not view.gate.is_open:
        raise typer.Exit(GATE_NOT_MET)
    if failures:
        raise typer.Exit(SOME_ROW_FAILED)


def evaluation_screen(*, is_quiet: bool) -> Screen:
    """A bar that counts replies."""
    columns = (TextColumn("scoring"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Screen(*columns, TextColumn("{task.fields[done]}"), is_quiet=is_quiet)


def show_start(screen: Screen, run: Run, done: int) -> None:
    """Say which run this is, and whether it was resumed."""
    screen.done = done
    screen.notice(f"run {run.id} {f'resumed after {done:,} replies' if done else 'started'}")


def show_step(screen: Screen, step: Step, *, judge: ModelJudge | None = None) -> None:
    """Show one reply."""
    screen.done = step.done
    if step.result.failures:
        id = f", {step.reply.id}" if step.reply.id else ""
        screen.name_failed(f"line {step.reply.line}{id}", *step.result.failures)
    screen.advance(step.done, total=step.total, text=meter_line(judge) if judge else "")


def _terms(baseline: str | None, *, settings: Settings, store: Store) -> Terms:
    """Before anything is scored, so that a wrong name costs nothing and `latest` is the run before this one."""
    found = find_baseline(baseline, settings=settings, store=store) if baseline else None
    return Terms(least_scored=settings.least_scored, baseline=found)


def _evaluate(assignment: Assignment, *, settings: Settings, store: Store, quiet: bool, by_batch: bool) -> str:
    """The id of the finished run."""
    # Ended by a supervisor as by Ctrl-C: what the bot started is ended too, and what was scored is kept.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with open_judge(settings) as judge, evaluation_screen(is_quiet=quiet) as screen:
        resume = "the same command resumes from there"
        try:
            run = evaluate_goldset(
                assignment,
                settings=settings,
                store=store,
                on_start=partial(show_start, screen),
                on_step=partial(show_step, screen, judge=judge),
                judge=judge,
                fill=partial(fill_records, judge=judge, tell=screen.notice) if judge and by_batch else None,
            )
        except JudgeStopped as stopped:
            screen.notice(f"{stopped}; {screen.done:,} replies are graded and kept: {resume}")
            raise typer.Exit(SOME_ROW_FAILED) from None
        except KeyboardInterrupt:
            screen.notice(f"interrupted: {screen.done:,} replies are scored and kept; {resume}")
            raise typer.Exit(INTERRUPTED) from None
        for line in report_lines(judge):
            screen.notice(line)
    return run.id


def _conclude(id: str, *, settings: Settings, store: Store, terms: Terms | None) -> RunReport:
    if terms is not None:
        store.keep_terms(id, terms)
    view = view_run(open_run(id, store=store), store=store)
    try:
        write_run(view, Path(settings.runs) / id, lines=store.replies.lines(id))
    except InputError as error:
        raise InputError(f"{error}; the run is kept: write its report with touchstone report {id}") from error
    return view
