"""`touchstone eval`: a gold set to a run, its report, and whether the version may be released."""

import signal
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from touchstone.cli.exits import GATE_NOT_MET, INTERRUPTED, SOME_ROW_FAILED
from touchstone.cli.judge_options import JudgeOptions, takes_judge
from touchstone.cli.options import Config, Map, Quiet, Redact, Rubric, Set, StorePlace, Verifier
from touchstone.cli.pairs import pairs
from touchstone.core.errors import ConfigError, InputError

if TYPE_CHECKING:
    from touchstone.app.config import Settings
    from touchstone.app.evaluation import Assignment
    from touchstone.report.run.view import RunView
    from touchstone.runs.run import Terms
    from touchstone.store.runs import Store

_Repeated = list[str] | None


@takes_judge
def eval(
    goldset: Annotated[
        str, typer.Argument(metavar="GOLDSET", help="A file of cases, or a set that ships: support, industries.")
    ],
    *,
    responses: Annotated[
        str | None, typer.Option(metavar="FILE", help="The replies, joined to the cases by id.")
    ] = None,
    bot: Annotated[
        str | None, typer.Option(metavar="COMMAND_OR_URL", help="Have a command or an HTTP endpoint draft the replies.")
    ] = None,
    repeat: Annotated[int, typer.Option(metavar="N", min=1, help="Drafts for each case, for a bot that varies.")] = 1,
    concurrency: Annotated[int, typer.Option(metavar="N", min=1, help="Drafts under way at once.")] = 4,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="How long a draft may take.")] = 30.0,
    retries: Annotated[int, typer.Option(metavar="N", min=0, help="How often a failed draft is tried again.")] = 2,
    header: Annotated[
        _Repeated, typer.Option(metavar="NAME=VALUE", help="For the endpoint; ${VAR} is taken from the environment.")
    ] = None,
    label: Annotated[
        _Repeated, typer.Option(metavar="KEY=VALUE", help="Mark the run, such as prompt=v7; repeatable.")
    ] = None,
    gate: Annotated[bool, typer.Option("--gate", help="Exit with 1 unless every target is met.")] = False,
    baseline: Annotated[
        str | None, typer.Option(metavar="RUN", help="With --gate: no significant regression against this run.")
    ] = None,
    target: Annotated[
        _Repeated, typer.Option(metavar="KEY=VALUE", help="Change a target, such as pass_rate=75; repeatable.")
    ] = None,
    least_scored: Annotated[
        str | None, typer.Option(metavar="SHARE", help="What the gate needs scored of all replies.")
    ] = None,
    map: Map = None,
    set: Set = None,
    rubric: Rubric = None,
    verifier: Verifier = None,
    config: Config = None,
    judge: JudgeOptions,
    batch: Annotated[
        bool, typer.Option("--batch", help="Ask the model by its provider's batches: cheaper, within a day.")
    ] = False,
    store: StorePlace = None,
    runs: Annotated[str | None, typer.Option(metavar="DIRECTORY", help="Where the files of runs are written.")] = None,
    redact: Redact = False,
    new: Annotated[bool, typer.Option("--new", help="Start over, also where an interrupted run could go on.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Give the summary as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate a bot on a gold set: score its replies, hold them against the targets, write the report.

    The run is kept; a run that was interrupted goes on where it stopped when the command is given again.
    """
    from touchstone.app.config import load_settings
    from touchstone.app.evaluation import Assignment
    from touchstone.app.runs import open_store_of

    if responses and bot:
        raise ConfigError("give --responses or --bot, not both: a reply has one source")
    if repeat > 1 and not bot:
        raise ConfigError(f"--repeat {repeat} needs --bot: without one there is nothing to draft again")
    if baseline and not gate:
        raise ConfigError("--baseline is for --gate: compare two runs with touchstone compare")
    settings = load_settings(
        config,
        thresholds=pairs(set, flag="--set"),
        columns=pairs(map, flag="--map", at_last=True),
        rubric=rubric,
        targets=pairs(target, flag="--target"),
        store=store,
        runs=runs,
        least_scored=least_scored,
        redacts=redact,
        judge=judge.flags(),
        verifier=verifier,
    )
    if batch:
        from touchstone.app.batching import check_batch

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
        run, failures = _evaluate(assignment, settings=settings, store=opened, quiet=quiet, by_batch=batch)
        view = _conclude(run, settings=settings, store=opened, terms=terms)
    _show(view, as_json=as_json)
    if not quiet:
        typer.echo(f"report: {Path(settings.runs) / run / 'report.html'}", err=True)
    if view.gate is not None and not view.gate.is_open:
        raise typer.Exit(GATE_NOT_MET)
    if failures:
        raise typer.Exit(SOME_ROW_FAILED)


def _terms(baseline: str | None, *, settings: "Settings", store: "Store") -> "Terms":
    """Before anything is scored, so that a wrong name costs nothing and `latest` is the run before this one."""
    from touchstone.app.runs import find_baseline
    from touchstone.runs.run import Terms

    found = find_baseline(baseline, settings=settings, store=store) if baseline else None
    return Terms(least_scored=settings.least_scored, baseline=found)


def _evaluate(
    assignment: "Assignment", *, settings: "Settings", store: "Store", quiet: bool, by_batch: bool
) -> tuple[str, int]:
    """The id of the finished run, and how many of its replies failed."""
    from touchstone.app.evaluation import JudgeStopped, evaluate_goldset
    from touchstone.app.judge_report import meter_line, report_lines
    from touchstone.app.judging import open_judge
    from touchstone.cli.eval_screen import EvalScreen

    # Ended by a supervisor as by Ctrl-C: what the bot started is ended too, and what was scored is kept.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack:
        judge = stack.enter_context(open_judge(settings))
        shows = sys.stderr.isatty() and not quiet
        meter = partial(meter_line, judge) if judge else None
        screen = stack.enter_context(EvalScreen(shows_progress=shows, is_quiet=quiet, meter=meter))
        fill = None
        if judge and by_batch:
            from touchstone.app.batching import fill_records

            fill = partial(fill_records, judge=judge, tell=screen.notice)
        try:
            run = evaluate_goldset(
                assignment,
                settings=settings,
                store=store,
                on_start=screen.start,
                on_step=screen.step,
                judge=judge,
                fill=fill,
            )
        except JudgeStopped as stopped:
            screen.notice(
                f"{stopped}; {screen.done:,} replies are graded and kept: the same command goes on from there"
            )
            raise typer.Exit(SOME_ROW_FAILED) from None
        except KeyboardInterrupt:
            screen.notice(
                f"interrupted: {screen.done:,} replies are scored and kept; the same command goes on from there"
            )
            raise typer.Exit(INTERRUPTED) from None
        for line in report_lines(judge) if judge else ():
            screen.notice(line)
    return run.id, store.count_failed(run.id)


def _conclude(id: str, *, settings: "Settings", store: "Store", terms: "Terms | None") -> "RunView":
    from touchstone.app.runs import open_run, view_run, write_run

    if terms is not None:
        store.keep_terms(id, terms)
    view = view_run(open_run(id, store=store), store=store)
    try:
        write_run(view, Path(settings.runs) / id, results=store.results(id))
    except InputError as error:
        raise InputError(f"{error}; the run is kept: write its report with touchstone report {id}") from error
    return view


def _show(view: "RunView", *, as_json: bool) -> None:
    if as_json:
        from touchstone.app.runs import RENDERERS

        typer.echo(RENDERERS["json"](view), nl=False)
        return
    from touchstone.cli.screen import print_page
    from touchstone.report.terminal.runs import show_run

    print_page(lambda console: show_run(view, console=console), to_stderr=False)
