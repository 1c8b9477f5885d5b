"""`touchstone init`: a first configuration and example cases."""

from pathlib import Path
from typing import Annotated

import typer


def init(
    directory: Annotated[Path, typer.Argument(help="Where to write them; created if missing.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
) -> None:
    """Write a commented touchstone.yaml and a cases.jsonl with three examples."""
    from touchstone.app.scaffold import write_scaffold

    paths = write_scaffold(directory, force=force)
    for path in paths:
        typer.echo(f"wrote {path}")
    typer.echo(f"next: touchstone score {paths[-1]} --explain")
