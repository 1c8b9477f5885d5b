"""`touchstone runs`, `report` and `compare`: what was evaluated before."""

import json
from pathlib import Path
from typing import Annotated

import typer

from touchstone.cli.options import AsJson, Config, Output, StorePlace
from touchstone.cli.pairs import pairs
from touchstone.core.errors import ConfigError

runs = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="List, show, label and delete runs.")

_Run = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, its directory, latest or previous.")]


@runs.command("list")
def list_runs(
    *,
    label: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only runs with this label; repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="How many, the newest first.")] = 20,
    store: StorePlace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List runs, the newest first."""
    from touchstone.app.config import load_settings
    from touchstone.app.runs import list_lines, open_store_of

    settings = load_settings(config, store=store)
    with open_store_of(settings) as opened:
        found = list_lines(opened, labels=pairs(label, flag="--label"), limit=limit)
    if as_json:
        from touchstone.report.runs import lines_to_dicts

        typer.echo(json.dumps(lines_to_dicts(found), ensure_ascii=False, indent=2))
        return
    from touchstone.cli.screen import print_page
    from touchstone.report.terminal.runs import show_runs

    print_page(lambda console: show_runs(found, console=console), to_stderr=False)


@runs.command()
def show(run: _Run = "latest", *, store: StorePlace = None, config: Config = None, as_json: AsJson = False) -> None:
    """Show a run's summary."""
    _report(run, format="json" if as_json else "terminal", output="-", store=store, config=config)


@runs.command("label")
def label_run(
    run: _Run,
    labels: Annotated[list[str], typer.Argument(metavar="KEY=VALUE...", help="Labels to set.")],
    *,
    store: StorePlace = None,
    config: Config = None,
) -> None:
    """Label a run, such as prompt=v7; an existing label is replaced."""
    from touchstone.app.config import load_settings
    from touchstone.app.runs import find_id, open_store_of

    with open_store_of(load_settings(config, store=store)) as opened:
        labelled = opened.label_run(find_id(run, store=opened), pairs(labels, flag="the label"))
    typer.echo(f"{labelled.id}: {', '.join(f'{key}={value}' for key, value in labelled.labels.items())}")


@runs.command()
def delete(
    run: _Run,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    store: StorePlace = None,
    config: Config = None,
) -> None:
    """Delete a run from the store. Files written for it stay."""
    from touchstone.app.config import load_settings
    from touchstone.app.runs import find_id, open_store_of

    with open_store_of(load_settings(config, store=store)) as opened:
        id = find_id(run, store=opened)
        if not yes:
            typer.confirm(f"delete run {id} with its results?", abort=True)
        opened.delete_run(id)
    typer.echo(f"deleted {id}")


def report(
    run: _Run = "latest",
    *,
    format: Annotated[
        str, typer.Option(metavar="NAME", help="terminal, html, md, junit, json or jsonl (the results).")
    ] = "html",
    output: Output = "",
    store: StorePlace = None,
    config: Config = None,
) -> None:
    """Write a run's report again, in any format. Default: report.html in the run's directory.

    RUN may also be the directory or URL that `touchstone score -o` wrote its shards to.
    """
    from touchstone.app.jobs.report import is_job

    if is_job(run):
        _report_job(run, format=format, output=output)
        return
    _report(run, format=format, output=output, store=store, config=config)


def compare(
    before: Annotated[str, typer.Argument(metavar="A", help="The earlier run: an id, a directory, previous …")],
    after: Annotated[str, typer.Argument(metavar="B", help="The later one.")] = "latest",
    *,
    format: Annotated[str, typer.Option(metavar="NAME", help="terminal, html, md or json.")] = "terminal",
    output: Output = "-",
    store: StorePlace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs on the cases both have: what changed, and whether it could be chance."""
    from touchstone.app.config import load_settings
    from touchstone.app.runs import COMPARISON_RENDERERS, open_run, open_store_of, view_comparison

    chosen = "json" if as_json else format
    _check_format(chosen, ("terminal", *COMPARISON_RENDERERS))
    with open_store_of(load_settings(config, store=store)) as opened:
        view = view_comparison(open_run(before, store=opened), open_run(after, store=opened))
    if chosen == "terminal":
        from touchstone.cli.screen import print_page
        from touchstone.report.terminal.runs import show_comparison

        print_page(lambda console: show_comparison(view, console=console), to_stderr=False)
        return
    _write(COMPARISON_RENDERERS[chosen](view), output)


def _report(run: str, *, format: str, output: str, store: str | None, config: str | None) -> None:
    from touchstone.app.config import load_settings
    from touchstone.app.runs import RENDERERS, open_run, open_store_of, view_run, write_results

    _check_format(format, ("terminal", *RENDERERS, "jsonl"))
    settings = load_settings(config, store=store)
    with open_store_of(settings) as opened:
        found = open_run(run, store=opened)
        target = output or str(Path(settings.runs) / found.run.id / "report.html" if format == "html" else "-")
        if format == "jsonl":
            write_results(opened.results(found.run.id), target)
            return
        view = view_run(found, store=opened)
    if format == "terminal":
        from touchstone.cli.screen import print_page
        from touchstone.report.terminal.runs import show_run

        print_page(lambda console: show_run(view, console=console), to_stderr=False)
        return
    _write(RENDERERS[format](view), target)


def _report_job(name: str, *, format: str, output: str) -> None:
    from touchstone.app.jobs.report import JOB_RENDERERS, open_finished

    _check_format(format, ("terminal", "json", *JOB_RENDERERS))
    job = open_finished(name)
    if format == "terminal":
        from touchstone.cli.screen import print_page
        from touchstone.report.terminal.job import show_job

        print_page(lambda console: show_job(job.summary, console=console), to_stderr=False)
    elif format == "html" and not output:
        typer.echo(f"wrote {job.write(JOB_RENDERERS[format](job.view()))}", err=True)
    else:
        _write(job.as_json() + "\n" if format == "json" else JOB_RENDERERS[format](job.view()), output or "-")


def _check_format(format: str, known: tuple[str, ...]) -> None:
    if format not in known:
        raise ConfigError(f"--format {format} is not known: allowed are {', '.join(known)}")


def _write(text: str, target: str) -> None:
    if target == "-":
        typer.echo(text, nl=False)
        return
    from touchstone.app.runs import write_text

    Path(target).parent.mkdir(parents=True, exist_ok=True)
    write_text(Path(target), text)
    typer.echo(f"wrote {target}", err=True)
