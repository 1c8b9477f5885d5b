"""`touchstone verifier`: how well a sentence-pair model of one's own tells right sentences from wrong ones."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from touchstone.cli.options import AsJson

if TYPE_CHECKING:
    from touchstone.app.verifying import Measured

verifier = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Check a verifier before you use it.")


@verifier.callback()
def _group() -> None:
    """Check a verifier before you use it."""


@verifier.command()
def check(
    directory: Annotated[
        str, typer.Argument(metavar="DIRECTORY", help="The directory with the model, its tokenizer and verifier.json.")
    ],
    *,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="FILE", help="Labelled sentences. Default: data/verifier."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a verifier on labelled sentences: AUC overall and by kind, and the cut at which precision is .9."""
    from dataclasses import asdict

    from touchstone.app.verifying import find_verifier, measure, read_groups

    loaded = find_verifier(directory)
    assert loaded is not None
    groups = read_groups(data or ())
    typer.echo(f"reading {sum(len(group.rows) for group in groups):,} sentences", err=True)
    found = measure(loaded, groups)
    typer.echo(json.dumps(asdict(found), ensure_ascii=False, indent=2) if as_json else _told(found))


def _told(found: "Measured") -> str:
    from touchstone.app.verifying import PRECISION
    from touchstone.report.plain import plain

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
    return plain("\n".join(lines))
