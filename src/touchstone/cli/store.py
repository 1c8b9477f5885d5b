"""`touchstone store`: back it up, restore it, and erase what a customer wants erased."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from touchstone.cli.options import Config, StorePlace
from touchstone.cli.pairs import pairs
from touchstone.core.errors import ConfigError

if TYPE_CHECKING:
    from touchstone.app.config import Settings

store = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Back up or restore the store, or erase customers' text."
)

_Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


@store.command()
def backup(
    target: Annotated[str, typer.Argument(metavar="FILE", help="A file that does not exist yet.")],
    *,
    place: StorePlace = None,
    config: Config = None,
) -> None:
    """Copy the store into one file, even while it is in use."""
    from touchstone.store.backup import back_up

    back_up(_settings(place, config).store, Path(target))
    typer.echo(f"wrote {target}: it holds customers' text, keep it as safe as the store")


@store.command()
def restore(
    source: Annotated[str, typer.Argument(metavar="FILE", help="What touchstone store backup wrote.")],
    *,
    yes: _Yes = False,
    place: StorePlace = None,
    config: Config = None,
) -> None:
    """Replace the store with a backup. The old store is kept in a file beside it."""
    from touchstone.store.backup import restore as put_back

    target = _settings(place, config).store
    if not yes:
        typer.confirm(f"replace the store {target} by {source}?", abort=True)
    kept = put_back(target, Path(source))
    typer.echo(f"restored {target}" + (f"; what was there is in {kept}" if kept else ""))


@store.command()
def forget(
    cases: Annotated[list[str] | None, typer.Argument(metavar="CASE...", help="Ids of cases.")] = None,
    *,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=VALUE",
            help="Cases whose metadata has this, such as customer=17; repeatable, all must match.",
        ),
    ] = None,
    yes: _Yes = False,
    place: StorePlace = None,
    config: Config = None,
) -> None:
    """Erase the text of cases and every quote of it in results and reviews. Counts, grades and ids stay."""
    from touchstone.app.review import now_text
    from touchstone.app.runs import open_store_of

    metadata = pairs(where, flag="--where")
    if not cases and not metadata:
        raise ConfigError("name what is to be erased: ids of cases, or --where FIELD=VALUE")
    settings = _settings(place, config)
    with open_store_of(settings) as opened:
        if not yes:
            named = [*(cases or ()), *(f"{name}={value}" for name, value in metadata.items())]
            typer.confirm(f"erase the text of {', '.join(named)} for good?", abort=True)
        found = opened.forget(cases=cases or (), metadata=metadata, at=now_text())
    typer.echo(f"erased {found.cases} cases in {found.results} replies and {found.reviews} reviews")
    if found.runs:
        directories = ", ".join(str(Path(settings.runs) / run) for run in found.runs)
        typer.echo(f"files that may hold the text still, as backups do: {directories}", err=True)


def _settings(place: str | None, config: str | None) -> "Settings":
    from touchstone.app.config import load_settings

    return load_settings(config, store=place)
