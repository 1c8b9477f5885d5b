"""`touchstone review`: sample production replies, follow their reviews, and report the week."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from touchstone.cli.add import add
from touchstone.cli.agreement import agreement
from touchstone.cli.options import AsJson, Config, Output, Quiet, Redact, StorePlace
from touchstone.cli.pairs import pairs
from touchstone.core.errors import ConfigError

if TYPE_CHECKING:
    from touchstone.app.config import Settings
    from touchstone.store.runs import Store

review = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Sample production replies, follow reviews, report the week."
)

_QueueName = Annotated[
    str | None,
    typer.Argument(metavar="QUEUE", help="A queue's id or name, or the start of it. Default: the newest."),
]


@review.command()
def sample(
    source: Annotated[
        str, typer.Argument(metavar="FILE_OR_RUN", help="A file of production replies, or a production run.")
    ] = "latest",
    *,
    n: Annotated[int, typer.Option("-n", "--size", metavar="N", min=1, help="How many replies to draw.")] = 25,
    double: Annotated[bool, typer.Option("--double", help="Have two people grade each reply, blind.")] = False,
    name: Annotated[str, typer.Option(metavar="TEXT", help="The queue's name.")] = "",
    oversample: Annotated[
        float, typer.Option(metavar="TIMES", min=1, help="How many times as likely a risky reply is drawn.")
    ] = 3.0,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=2**31 - 1, help="Seed for another draw of the same replies.")
    ] = None,
    reviewer: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A person who may grade; repeatable. Default: everybody.")
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Label the batch, such as version=7; repeatable. For a file."),
    ] = None,
    redact: Redact = False,
    rubric: Annotated[str | None, typer.Option(metavar="FILE_OR_NAME", help="Grade a file by this rubric.")] = None,
    store: StorePlace = None,
    config: Config = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Draw production replies for review from every category, risky ones more often, with known probability."""
    from touchstone.app.config import load_settings
    from touchstone.app.review import Drawing, draw_queue, now_text
    from touchstone.app.runs import open_store_of

    settings = load_settings(config, store=store, rubric=rubric, redacts=redact)
    is_file = source == "-" or Path(source).is_file()
    if not is_file and (label or redact or rubric):
        raise ConfigError("--label, --redact and --rubric are for a file of replies: a run is kept as it is")
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
        queue = draw_queue(opened, run=run, drawing=drawing, by=_whoami(), now=now_text())
        items = opened.queues.progress(queue.id).items
    if as_json:
        typer.echo(json.dumps({"queue": queue.id, "run": run, "items": items, "population": queue.population}))
        return
    typer.echo(f"{queue.id}: {items} of {queue.population:,} replies of run {run}")
    typer.echo("grade them with touchstone serve; touchstone review weekly reports", err=True)


review.command()(add)


@review.command("queue")
def show_queue(
    queue: _QueueName = None,
    *,
    close: Annotated[bool, typer.Option("--close", help="Close the queue: no more reviews.")] = False,
    reopen: Annotated[bool, typer.Option("--reopen", help="Reopen the queue for reviews.")] = False,
    store: StorePlace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List queues with their progress, or close or reopen one."""
    from touchstone.app.review import find_queue, now_text

    if close and reopen:
        raise ConfigError("give --close or --reopen, not both")
    if (close or reopen) and queue is None:
        raise ConfigError("name the queue that is to be closed or reopened")
    with _open(store, config) as opened:
        if close or reopen:
            id = find_queue(opened, queue).id
            _ = opened.queues.close(id, at=now_text()) if close else opened.queues.reopen(id)
        every = opened.queues.list() if queue is None else (find_queue(opened, queue),)
        lines = [(each, opened.queues.progress(each.id)) for each in every]
    if as_json:
        from dataclasses import asdict

        rows = [{**asdict(each), "progress": asdict(progress)} for each, progress in lines]
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    from touchstone.cli.screen import print_page
    from touchstone.report.terminal.review import show_queues

    print_page(lambda console: show_queues(lines, console=console), to_stderr=False)


@review.command()
def export(
    queue: _QueueName = None,
    *,
    what: Annotated[
        str,
        typer.Option(metavar="WHAT", help="cases (with people's labels), reviews (one by one) or promoted (cases)."),
    ] = "cases",
    output: Output = "-",
    store: StorePlace = None,
    config: Config = None,
) -> None:
    """Write reviewed replies as JSONL: cases with labels for a gold set, or the reviews themselves."""
    from touchstone.app.export import labelled_cases, promoted_cases, review_rows
    from touchstone.app.review import find_queue

    if what not in ("cases", "reviews", "promoted"):
        raise ConfigError(f"--what {what} is not known: allowed are cases, reviews, promoted")
    with _open(store, config) as opened:
        if what == "promoted":
            rows = list(promoted_cases(opened))
        else:
            id = find_queue(opened, queue).id
            rows = list(labelled_cases(opened, id) if what == "cases" else review_rows(opened, id))
    _write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), output)
    typer.echo(f"{len(rows):,} rows", err=True)


review.command()(agreement)


@review.command("weekly")
def report_week(
    queue: _QueueName = None,
    *,
    format: Annotated[str, typer.Option(metavar="NAME", help="terminal, html, csv, json or jsonl.")] = "terminal",
    output: Output = "-",
    store: StorePlace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Report a queue: the pass rate of all replies, corrected by the reviews, agreement, patterns, reminders."""
    from touchstone.app.export import WEEKLY_RENDERERS
    from touchstone.app.review import find_queue, now_text, weekly
    from touchstone.report.weekly import weekly_view

    chosen = "json" if as_json else format
    if chosen not in ("terminal", *WEEKLY_RENDERERS):
        raise ConfigError(f"--format {chosen} is not known: allowed are terminal, {', '.join(WEEKLY_RENDERERS)}")
    with _open(store, config) as opened:
        view = weekly_view(weekly(opened, find_queue(opened, queue).id, now=now_text()))
    if chosen != "terminal":
        _write(WEEKLY_RENDERERS[chosen](view), output)
        return
    from touchstone.cli.screen import print_page
    from touchstone.report.terminal.review import show_weekly

    print_page(lambda console: show_weekly(view, console=console), to_stderr=False)


@review.command()
def calibrate(
    *,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write the models. Default: beside the store."),
    ] = "",
    store: StorePlace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Calibrate the judges to the team's reviews, and show the gain on held-out reviews.

    Always calibrates the offline judge; also the language model in touchstone.yaml if its answers on reviewed
    replies were kept.
    """
    from dataclasses import asdict

    from touchstone.app.calibration import calibrate_judge, write_calibration
    from touchstone.app.config import load_settings
    from touchstone.app.review import now_text
    from touchstone.app.runs import open_store_of

    settings = load_settings(config, store=store)
    with open_store_of(settings) as opened:
        found = calibrate_judge(opened, settings=settings, today=now_text()[:10])
    home = Path(".touchstone") if "://" in settings.store else Path(settings.store).parent
    offline, model = found.offline, found.model
    target = Path(output) if output else home / f"judge-{offline.fitted.version}.json"
    write_calibration(found, target)
    if as_json:
        told = {"file": str(target), "version": offline.fitted.version, "gains": list(map(asdict, offline.gains))}
        told |= {"model_gains": list(map(asdict, model.gains))} if model else {}
        typer.echo(json.dumps(told, indent=2))
        return
    from touchstone.cli.screen import print_page
    from touchstone.report.terminal.review import show_gains, show_model_gains

    print_page(lambda console: show_gains(offline.gains, console=console), to_stderr=False)
    if model is not None:
        print_page(lambda console: show_model_gains(model, console=console), to_stderr=False)
    typer.echo(f"wrote {target}; to grade by it, put into touchstone.yaml: calibration: {target}", err=True)


def _score_batch(source: str, *, settings: "Settings", store: "Store", labels: dict[str, str], quiet: bool) -> str:
    """The id of the production run that the file's replies were kept in."""
    from touchstone.app.evaluation import Assignment, evaluate_goldset
    from touchstone.cli.eval_screen import EvalScreen

    assignment = Assignment(goldset=source, labels=labels, kind="production")
    with EvalScreen(shows_progress=sys.stderr.isatty() and not quiet, is_quiet=quiet) as screen:
        run = evaluate_goldset(assignment, settings=settings, store=store, on_start=screen.start, on_step=screen.step)
    return run.id


def _open(store: str | None, config: str | None) -> "Store":
    from touchstone.app.config import load_settings
    from touchstone.app.runs import open_store_of

    return open_store_of(load_settings(config, store=store))


def _whoami() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "command line"


def _write(text: str, target: str) -> None:
    if target == "-":
        typer.echo(text, nl=False)
        return
    from touchstone.app.runs import write_text

    write_text(Path(target), text)
    typer.echo(f"wrote {target}", err=True)
