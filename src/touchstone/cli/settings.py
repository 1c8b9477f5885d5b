"""`touchstone init`, `plan`, `rubric` and `verifier`: what grades and decides, written, shown, checked."""

from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from touchstone.app.config import Settings
from touchstone.app.plan import view_plan
from touchstone.app.rubrics import load_rubric, review_remark
from touchstone.app.scaffold import write_scaffold
from touchstone.app.verifier import PRECISION, Measured, find_verifier, measure, read_groups
from touchstone.cli.options import AsJson, Repeated, takes_settings
from touchstone.cli.screen import print_json, print_page
from touchstone.report.figures import count
from touchstone.report.plain import one_line, plain
from touchstone.report.plan import plan_to_dict, show_plan
from touchstone.report.terminal.rubric import show_card, show_changes, show_conventions, show_levels
from touchstone.rubric.card import card, conventions, difference_to_dict, differences, level_texts, rubric_to_dict

plan = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Show the settings that decide on a reply.")
rubric = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Show, check or compare rubrics.")
verifier = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Check a verifier before you use it.")


def init(
    directory: Annotated[Path, typer.Argument(help="Where to write them; created if missing.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
) -> None:
    """Write a commented touchstone.yaml and a cases.jsonl with three examples."""
    paths = write_scaffold(directory, force=force)
    for path in paths:
        typer.echo(f"wrote {path}")
    typer.echo(f"next: touchstone score {paths[-1]} --explain")


@plan.command("show")
@takes_settings("set", "config")
def show_settings(*, settings: Settings, as_json: AsJson = False) -> None:
    """Print the plan, and how often its cuts were right on each labelled set."""
    view = view_plan(settings)
    if as_json:
        print_json(plan_to_dict(view))
    else:
        print_page(show_plan, view)


@rubric.command()
def show(
    name: Annotated[str, typer.Argument(metavar="FILE_OR_NAME", help="A YAML file or a packaged name.")] = "supportai",
    *,
    levels: Annotated[bool, typer.Option("--levels", help="Add what each level of each criterion means.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the quick reference card and the conventions: criteria, weights, what passes and fails, the target."""
    chosen = load_rubric(name)
    if as_json:
        print_json(rubric_to_dict(chosen))
        return
    print_page(show_card, card(chosen))
    if levels:
        print_page(show_levels, level_texts(chosen))
    print_page(show_conventions, conventions(chosen), version=chosen.conventions.version)


@rubric.command()
def check(
    name: Annotated[str, typer.Argument(metavar="FILE", help="The YAML file of a rubric, or a packaged name.")],
) -> None:
    """Check whether a rubric can be used. Warns if its last review is over 90 days old."""
    found = load_rubric(name)
    criteria = count(len(found.criteria), "criterion", "criteria")
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
    old, new = load_rubric(before), load_rubric(after)
    if as_json:
        print_json(difference_to_dict(old, new))
    else:
        print_page(show_changes, differences(old, new))


@verifier.command("check")
def check_verifier(
    directory: Annotated[
        str, typer.Argument(metavar="DIRECTORY", help="The directory with the model, its tokenizer and verifier.json.")
    ],
    *,
    data: Annotated[
        Repeated, typer.Option("--data", metavar="FILE", help="Labelled sentences. Default: data/verifier.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a verifier on labelled sentences: AUC overall and by kind, and the cut at which precision is .9."""
    loaded = find_verifier(directory)
    assert loaded is not None
    groups = read_groups(data or ())
    typer.echo(f"reading {sum(len(group.rows) for group in groups):,} sentences", err=True)
    found = measure(loaded, groups)
    if as_json:
        print_json(asdict(found))
    else:
        typer.echo(plain("\n".join(_measured_lines(found))))


def _measured_lines(found: Measured) -> list[str]:
    lines = [f"{found.verifier}: {found.sentences:,} sentences, {found.supported:,} of them supported"]
    lines += ["", "AUC against the supported sentences"]
    width = max(len(area.kind) for area in found.areas)
    for area in found.areas:
        value = "   –" if area.auc is None else f"{area.auc:.2f}"
        lines.append(f"  {area.kind:{width}}  {value}  {area.sentences:>6,} sentences")
    lines += ["", f"Cut for a precision of {PRECISION:g}"]
    for cut in found.cuts:
        head = f"  {100 * cut.wrong_share:.0f} % of sentences wrong"
        if cut.cut is None:
            lines.append(f"{head}: none reaches it")
            continue
        counts = f"{cut.findings:,} findings in these rows, {cut.right:,} right, of {cut.wrong:,} wrong sentences"
        lines.append(f"{head}: {cut.cut:.2f}, {counts}")
    return lines
