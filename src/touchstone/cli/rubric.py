"""`touchstone rubric`: what a rubric says, whether it can be used, and what changed in it."""

import json
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from touchstone.cli.options import AsJson

if TYPE_CHECKING:
    from rich.console import Console

rubric = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Show, check or compare rubrics.")


@rubric.command()
def show(
    name: Annotated[str, typer.Argument(metavar="FILE_OR_NAME", help="A YAML file or a packaged name.")] = "supportai",
    *,
    levels: Annotated[bool, typer.Option("--levels", help="Add what each level of each criterion means.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the quick reference card and the conventions: criteria, weights, what passes and fails, the target."""
    from touchstone.app.rubrics import load_rubric
    from touchstone.rubric.card import card, conventions, level_texts, rubric_to_dict

    chosen = load_rubric(name)
    if as_json:
        typer.echo(json.dumps(rubric_to_dict(chosen), ensure_ascii=False, indent=2))
        return
    from touchstone.report.terminal.rubric import show_card, show_conventions, show_levels

    _print(lambda console: show_card(card(chosen), console=console))
    if levels:
        _print(lambda console: show_levels(level_texts(chosen), console=console))
    version = chosen.conventions.version
    _print(lambda console: show_conventions(conventions(chosen), version=version, console=console))


@rubric.command()
def check(
    name: Annotated[str, typer.Argument(metavar="FILE", help="The YAML file of a rubric, or a packaged name.")],
) -> None:
    """Check whether a rubric can be used. Warns if its last review is over 90 days old."""
    from touchstone.app.rubrics import load_rubric, review_remark
    from touchstone.report.plain import one_line

    found = load_rubric(name)
    count = len(found.criteria)
    criteria = f"{count} {'criterion' if count == 1 else 'criteria'}"
    typer.echo(one_line(f"{name}: valid: {found.name} {found.version}, {criteria}, reviewed {found.reviewed}"))
    if remark := review_remark(found, today=date.today()):
        typer.echo(one_line(f"{name}: warning: {remark}"), err=True)


@rubric.command()
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="The earlier rubric: a YAML file or a packaged name.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The later one.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Show what changed from A to B: criteria, weights, level texts, gates, targets, versions."""
    from touchstone.app.rubrics import load_rubric
    from touchstone.rubric.difference import difference_to_dict, differences

    old, new = load_rubric(before), load_rubric(after)
    if as_json:
        typer.echo(json.dumps(difference_to_dict(old, new), ensure_ascii=False, indent=2))
        return
    from touchstone.report.terminal.rubric import show_changes

    _print(lambda console: show_changes(differences(old, new), console=console))


def _print(show: "Callable[[Console], None]") -> None:
    from touchstone.cli.screen import print_page

    print_page(show, to_stderr=False)
