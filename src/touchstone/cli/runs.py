"""`touchstone runs`, `report` and `compare`: what was evaluated before."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from touchstone.app.config import Settings
from touchstone.app.jobs.report import JOB_RENDERERS, is_job, open_finished
from touchstone.app.runs import (
    COMPARISON_RENDERERS,
    RENDERERS,
    find_id,
    list_lines,
    open_run,
    open_store_of,
    view_comparison,
    view_run,
    write_results,
)
from touchstone.cli.options import STDOUT, AsJson, Output, Repeated, Yes, choice, pairs, takes_settings
from touchstone.cli.screen import print_json, print_page, put_text
from touchstone.report.terminal.job import show_job
from touchstone.report.terminal.runs import show_comparison, show_run, show_runs

runs = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="List, show, label and delete runs.")

_Run = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, its directory, latest or previous.")]


@runs.command("list")
@takes_settings("store", "config")
def list_runs(
    *,
    label: Annotated[Repeated, typer.Option(metavar="KEY=VALUE", help="Only runs with this label; repeatable.")] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="How many, the newest first.")] = 20,
    settings: Settings,
    as_json: AsJson = False,
) -> None:
    """List runs, the newest first."""
    with open_store_of(settings) as opened:
        found = list_lines(opened, labels=pairs(label, flag="--label"), limit=limit)
    if as_json:
        print_json([asdict(line) for line in found])
    else:
        print_page(show_runs, found)


@runs.command()
@takes_settings("store", "config")
def show(run: _Run = "latest", *, settings: Settings, as_json: AsJson = False) -> None:
    """Show a run's summary."""
    _report(run, format="json" if as_json else "terminal", output=STDOUT, settings=settings)


@runs.command("label")
@takes_settings("store", "config")
def label_run(
    run: _Run,
    labels: Annotated[list[str], typer.Argument(metavar="KEY=VALUE...", help="Labels to set.")],
    *,
    settings: Settings,
) -> None:
    """Label a run, such as prompt=v7; an existing label is replaced."""
    with open_store_of(settings) as opened:
        labelled = opened.label_run(find_id(run, store=opened), pairs(labels, flag="the label"))
    typer.echo(f"{labelled.id}: {', '.join(f'{key}={value}' for key, value in labelled.labels.items())}")


@runs.command()
@takes_settings("store", "config")
def delete(run: _Run, *, yes: Yes = False, settings: Settings) -> None:
    """Delete a run from the store. Files written for it stay."""
    with open_store_of(settings) as opened:
        id = find_id(run, store=opened)
        if not yes:
            typer.confirm(f"delete run {id} with its results?", abort=True)
        opened.delete_run(id)
    typer.echo(f"deleted {id}")


@takes_settings("store", "config")
def report(
    run: _Run = "latest",
    *,
    format: Annotated[
        str, typer.Option(metavar="NAME", help="terminal, html, md, junit, json or jsonl (the results).")
    ] = "html",
    output: Output = "",
    settings: Settings,
) -> None:
    """Write a run's report again, in any format. Default: report.html in the run's directory.

    RUN may also be the directory or URL that `touchstone score -o` wrote its shards to.
    """
    if is_job(run):
        _report_job(run, format=format, output=output)
    else:
        _report(run, format=format, output=output, settings=settings)


@takes_settings("store", "config")
def compare(
    before: Annotated[str, typer.Argument(metavar="A", help="The earlier run: its id, its directory, or previous.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The later run.")] = "latest",
    *,
    format: Annotated[str, typer.Option(metavar="NAME", help="terminal, html, md or json.")] = "terminal",
    output: Output = STDOUT,
    settings: Settings,
    as_json: AsJson = False,
) -> None:
    """Compare two runs on the cases both have: what changed, and whether it could be chance."""
    chosen = choice("json" if as_json else format, ("terminal", *COMPARISON_RENDERERS), flag="--format")
    with open_store_of(settings) as opened:
        view = view_comparison(open_run(before, store=opened), open_run(after, store=opened))
    if chosen == "terminal":
        print_page(show_comparison, view)
    else:
        put_text(COMPARISON_RENDERERS[chosen](view), output)


def _report(run: str, *, format: str, output: str, settings: Settings) -> None:
    chosen = choice(format, ("terminal", *RENDERERS, "jsonl"), flag="--format")
    with open_store_of(settings) as opened:
        found = open_run(run, store=opened)
        usual = str(Path(settings.runs) / found.run.id / "report.html") if chosen == "html" else STDOUT
        if chosen == "jsonl":
            write_results(opened.replies.lines(found.run.id), output or usual)
            return
        view = view_run(found, store=opened)
    if chosen == "terminal":
        print_page(show_run, view)
    else:
        put_text(RENDERERS[chosen](view), output or usual)


def _report_job(name: str, *, format: str, output: str) -> None:
    chosen = choice(format, ("terminal", "json", *JOB_RENDERERS), flag="--format")
    job = open_finished(name)
    if chosen == "terminal":
        print_page(show_job, job.summary)
    elif chosen == "html" and not output:
        typer.echo(f"wrote {job.write(JOB_RENDERERS[chosen](job.view()))}", err=True)
    else:
        put_text(job.as_json() + "\n" if chosen == "json" else JOB_RENDERERS[chosen](job.view()), output or STDOUT)
