"""`touchstone review`: sample production replies, follow their reviews, and report the week."""

import getpass
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from touchstone.app.calibration import calibrate_judge, calibration_file, write_calibration
from touchstone.app.config import Settings
from touchstone.app.evaluation import evaluate_goldset
from touchstone.app.export import WEEKLY_RENDERERS, labelled_cases, promoted_cases, review_rows
from touchstone.app.production import Added, Intake
from touchstone.app.replies import Assignment
from touchstone.app.review import Drawing, close_queue, draw_queue, find_queue, now_text, reopen_queue, weekly
from touchstone.app.runs import open_store_of
from touchstone.cli import SOME_ROW_FAILED
from touchstone.cli.agreement import agreement
from touchstone.cli.eval import evaluation_screen, show_start, show_step
from touchstone.cli.options import (
    STDOUT,
    AsJson,
    Labels,
    Output,
    Quiet,
    Redact,
    Repeated,
    Rubric,
    Text,
    choice,
    pairs,
    takes_settings,
)
from touchstone.cli.screen import MOST_NAMED, Screen, print_json, print_page, put_text
from touchstone.core.errors import ConfigError
from touchstone.core.result import Failure
from touchstone.io.cases import Entry
from touchstone.report.plain import one_line
from touchstone.report.terminal.review import show_gains, show_model_gains, show_queues, show_weekly
from touchstone.store.runs import Store

review = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Sample production replies, follow reviews, report the week."
)

_QueueName = Annotated[
    Text,
    typer.Argument(metavar="QUEUE", help="A queue's id or name, or the start of it. Default: the newest."),
]


@review.command()
@takes_settings("rubric", "redact", "store", "config")
def sample(
    source: Annotated[
        str, typer.Argument(metavar="FILE_OR_RUN", help="A file of production replies, or a production run.")
    ] = "latest",
    *,
    n: Annotated[int, typer.Option("-n", "--size", metavar="N", min=1, help="How many replies to draw.")] = 25,
    double: Annotated[bool, typer.Option("--double", help="Have two people grade each reply, blind.")] = False,
    name: Annotated[str, typer.Option(metavar="TEXT", help="The queue's name.")] = "",
    oversample: Annotated[
        float, typer.Option(metavar="TIMES", min=1, help="How many times as likely the riskiest reply is drawn.")
    ] = 3.0,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=2**31 - 1, help="Seed for another draw of the same replies.")
    ] = None,
    reviewer: Annotated[
        Repeated, typer.Option(metavar="NAME", help="A person who may grade; repeatable. Default: everybody.")
    ] = None,
    label: Labels = None,
    rubric: Rubric = None,
    redact: Redact = False,
    settings: Settings,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Draw production replies for review from every category, risky ones more often, with known probability."""
    is_file = source == STDOUT or Path(source).is_file()
    if not is_file and (label or redact or rubric):
        raise ConfigError("--label, --redact and --rubric are for a file of replies: a stored run cannot change")
    drawing = Drawing(
        name=name,
        n=n,
        needed=2 if double else 1,
        seed=seed,
        oversampling=oversample,
        reviewers=tuple(reviewer or ()),
    )
    with open_store_of(settings, creates=is_file) as opened:
        if is_file:
            labels = pairs(label, flag="--label")
            run = _score_batch(source, settings=settings, store=opened, labels=labels, quiet=quiet)
        else:
            run = opened.find_run(source, kind="production").id
        queue = draw_queue(opened, run=run, drawing=drawing, by=_user_name(), now=now_text())
        items = opened.queues.progress(queue.id).items
    if as_json:
        print_json({"queue": queue.id, "run": run, "items": items, "population": queue.population}, indent=None)
        return
    typer.echo(f"{queue.id}: {items} of {queue.population:,} replies of run {run}")
    typer.echo(f"drawn by category, {queue.design}", err=True)
    typer.echo("grade them with touchstone serve; touchstone review weekly reports", err=True)


@review.command()
@takes_settings("map", "rubric", "redact", "store", "config")
def add(
    source: Annotated[str, typer.Argument(metavar="FILE", help="A file of production replies; - is stdin.")],
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="The run to add them to, such as 2026-W12; created if new.")
    ],
    *,
    label: Labels = None,
    settings: Settings,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Score production replies and add them to a run, for example every night, until a queue is drawn from it.

    A reply that is already in the run is not added again, so it is safe to repeat the command.
    """
    screen = Screen(is_quiet=quiet, shows_bar=False)

    def name_unread(entry: Entry, failure: Failure) -> None:
        screen.name_failed(f"{entry.file}:{entry.line}", failure)

    def show_added(so_far: Added) -> None:
        screen.notice(f"{so_far.added + so_far.repeated:,} replies are in run {so_far.run}")

    with screen, open_store_of(settings, creates=True) as opened:
        labels = pairs(label, flag="--label")
        intake = Intake(name=run, settings=settings, store=opened, labels=labels, by=_user_name())
        added = intake.add_file(source, on_added=show_added, on_unread=name_unread)
    if as_json:
        print_json({**asdict(added), "unread": screen.failed}, indent=None)
    else:
        _report_added(added, unread=screen.failed)
    if screen.failed or added.failed or added.conflicts:
        raise typer.Exit(SOME_ROW_FAILED)


@review.command("queue")
@takes_settings("store", "config")
def show_queue(
    queue: _QueueName = None,
    *,
    close: Annotated[bool, typer.Option("--close", help="Close the queue: no more reviews.")] = False,
    reopen: Annotated[bool, typer.Option("--reopen", help="Reopen the queue for reviews.")] = False,
    settings: Settings,
    as_json: AsJson = False,
) -> None:
    """List queues with their progress, or close or reopen one."""
    if close and reopen:
        raise ConfigError("give --close or --reopen, not both")
    if (close or reopen) and queue is None:
        raise ConfigError("name the queue to close or reopen")
    with open_store_of(settings) as opened:
        if close or reopen:
            id = find_queue(opened, queue).id
            (close_queue if close else reopen_queue)(opened, id, by=_user_name())
        every = opened.queues.list() if queue is None else (find_queue(opened, queue),)
        lines = [(each, opened.queues.progress(each.id)) for each in every]
    if as_json:
        print_json([{**asdict(each), "progress": asdict(progress)} for each, progress in lines])
    else:
        print_page(show_queues, lines)


@review.command()
@takes_settings("store", "config")
def export(
    queue: _QueueName = None,
    *,
    what: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="cases (with people's labels), reviews (one by one) or promoted (cases; without QUEUE those of all).",
        ),
    ] = "cases",
    output: Output = STDOUT,
    settings: Settings,
) -> None:
    """Write reviewed replies as JSONL: cases with labels for a gold set, or the reviews themselves."""
    chosen = choice(what, ("cases", "reviews", "promoted"), flag="--what")
    with open_store_of(settings) as opened:
        if chosen == "promoted":
            rows = list(promoted_cases(opened, run=find_queue(opened, queue).run if queue else None))
        else:
            id = find_queue(opened, queue).id
            rows = list(labelled_cases(opened, id) if chosen == "cases" else review_rows(opened, id))
    put_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), output)
    typer.echo(f"{len(rows):,} rows", err=True)


review.command()(agreement)


@review.command("weekly")
@takes_settings("store", "config")
def report_week(
    queue: _QueueName = None,
    *,
    format: Annotated[str, typer.Option(metavar="NAME", help="terminal, html, csv, json or jsonl.")] = "terminal",
    output: Output = STDOUT,
    settings: Settings,
    as_json: AsJson = False,
) -> None:
    """Report a queue: the pass rate of all replies, corrected by the reviews, agreement, patterns, reminders."""
    chosen = choice("json" if as_json else format, ("terminal", *WEEKLY_RENDERERS), flag="--format")
    with open_store_of(settings) as opened:
        report = weekly(opened, find_queue(opened, queue).id, now=now_text())
    if chosen == "terminal":
        print_page(show_weekly, report)
    else:
        put_text(WEEKLY_RENDERERS[chosen](report), output)


@review.command()
@takes_settings("store", "config")
def calibrate(
    *,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write the models. Default: beside the store."),
    ] = "",
    settings: Settings,
    as_json: AsJson = False,
) -> None:
    """Calibrate the judges to the team's reviews, and show the gain on held-out reviews.

    Always calibrates the offline judge; also the language model in touchstone.yaml if its answers on reviewed
    replies were kept.
    """
    with open_store_of(settings) as opened:
        found = calibrate_judge(opened, settings=settings, today=now_text()[:10])
    offline, model = found.offline, found.model
    target = Path(output) if output else calibration_file(settings.store, offline.fitted.version)
    write_calibration(found, target)
    if as_json:
        told = {"file": str(target), "version": offline.fitted.version, "gains": list(map(asdict, offline.gains))}
        print_json(told | ({"model_gains": list(map(asdict, model.gains))} if model else {}))
        return
    print_page(show_gains, offline.gains)
    if model is not None:
        print_page(show_model_gains, model)
    typer.echo(f"wrote {target}; to grade by it, add to touchstone.yaml: calibration: {target}", err=True)


def _report_added(added: Added, *, unread: int) -> None:
    rest = ((added.repeated, "there before"), (unread, "no cases"), (added.failed, "not scored"))
    counts = [f"{added.added:,} added", *(f"{count:,} {what}" for count, what in rest if count)]
    typer.echo(f"{added.run}: {', '.join(counts)}; {added.replies:,} replies in all")
    for id in added.conflicts[:MOST_NAMED]:
        typer.echo(one_line(f"{id}: the run has another reply of this id; give each its own"), err=True)


def _score_batch(source: str, *, settings: Settings, store: Store, labels: Mapping[str, str], quiet: bool) -> str:
    """The id of the production run that the file's replies were kept in."""
    assignment = Assignment(goldset=source, labels=labels, kind="production")
    with evaluation_screen(is_quiet=quiet) as screen:
        start, step = partial(show_start, screen), partial(show_step, screen)
        return evaluate_goldset(assignment, settings=settings, store=store, on_start=start, on_step=step).id


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "command line"
