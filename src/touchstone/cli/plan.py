"""`touchstone plan`: what decides on a reply, and how often that was right."""

import json

import typer

from touchstone.cli.options import AsJson, Config, Set
from touchstone.cli.pairs import pairs

plan = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Show the settings that decide on a reply.")


@plan.callback()
def _group() -> None:
    """Show the settings that decide on a reply."""


@plan.command()
def show(*, set: Set = None, config: Config = None, as_json: AsJson = False) -> None:
    """Print the plan, and how often its cuts were right on each labelled set."""
    from touchstone.app.config import load_settings
    from touchstone.app.plan import view_plan
    from touchstone.report.plan import plan_to_dict, show_plan

    view = view_plan(load_settings(config, thresholds=pairs(set, flag="--set")))
    if as_json:
        typer.echo(json.dumps(plan_to_dict(view), ensure_ascii=False, indent=2))
        return
    from touchstone.cli.screen import print_page

    print_page(lambda console: show_plan(view, console=console), to_stderr=False)
