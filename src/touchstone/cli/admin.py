"""`touchstone store` and `user`: backups, erasure, and who may use the service with which role, password and tokens."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from touchstone.app import users
from touchstone.app.audit import COMMAND_LINE
from touchstone.app.config import Settings
from touchstone.app.review import now_text
from touchstone.app.runs import open_store_of
from touchstone.cli.options import Repeated, Text, Yes, pairs, takes_settings
from touchstone.core.errors import ConfigError
from touchstone.report.plain import one_line
from touchstone.store.backup import back_up
from touchstone.store.backup import restore as restore_backup
from touchstone.store.runs import Store

store = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Back up or restore the store, or erase customers' text."
)
user = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Manage the people who use touchstone serve --auth."
)

_Name = Annotated[str, typer.Argument(metavar="NAME", help="The person's name.")]


@store.command()
@takes_settings("store", "config")
def backup(
    target: Annotated[str, typer.Argument(metavar="FILE", help="A file that does not exist yet.")],
    *,
    settings: Settings,
) -> None:
    """Copy the store into one file, even while it is in use."""
    back_up(settings.store, Path(target))
    typer.echo(f"wrote {target}: it holds customers' text, keep it as safe as the store")


@store.command()
@takes_settings("store", "config")
def restore(
    source: Annotated[str, typer.Argument(metavar="FILE", help="What touchstone store backup wrote.")],
    *,
    yes: Yes = False,
    settings: Settings,
) -> None:
    """Replace the store with a backup. The old store is kept in a file beside it."""
    if not yes:
        typer.confirm(f"replace the store {settings.store} with {source}?", abort=True)
    kept = restore_backup(settings.store, Path(source))
    typer.echo(f"restored {settings.store}" + (f"; the old store is in {kept}" if kept else ""))


@store.command()
@takes_settings("store", "config")
def forget(
    cases: Annotated[Repeated, typer.Argument(metavar="CASE...", help="Ids of cases.")] = None,
    *,
    where: Annotated[
        Repeated,
        typer.Option(
            metavar="FIELD=VALUE",
            help="Cases whose metadata has this, such as customer=17; repeatable, all must match.",
        ),
    ] = None,
    yes: Yes = False,
    settings: Settings,
) -> None:
    """Erase the text of cases and every quote of it in results and reviews. Counts, grades and ids stay."""
    metadata = pairs(where, flag="--where")
    if not cases and not metadata:
        raise ConfigError("name what to erase: ids of cases, or --where FIELD=VALUE")
    with open_store_of(settings) as opened:
        if not yes:
            named = [*(cases or ()), *(f"{name}={value}" for name, value in metadata.items())]
            typer.confirm(f"erase the text of {', '.join(named)} permanently?", abort=True)
        found = opened.forget(cases=cases or (), metadata=metadata, at=now_text())
    typer.echo(f"erased {found.cases} cases in {found.results} replies and {found.reviews} reviews")
    if found.runs:
        directories = ", ".join(str(Path(settings.runs) / run) for run in found.runs)
        typer.echo(f"files that may still hold the text, as may backups: {directories}", err=True)


@user.command()
@takes_settings("store", "config")
def add(
    name: _Name,
    *,
    role: Annotated[str, typer.Option(metavar="ROLE", help="viewer, reviewer or lead.")] = "reviewer",
    settings: Settings,
) -> None:
    """Add a person. Asks for the password, or reads it from stdin if that is not a terminal."""
    with open_store_of(settings, creates=True) as opened:
        if opened.users.get(name) is not None:
            raise ConfigError(f"user '{name}' exists already: give another name, or touchstone user passwd {name}")
        users.add_user(opened, name, role=role, password=_ask_password(), by=COMMAND_LINE)
    typer.echo(f"{name} is a {role}")


@user.command()
@takes_settings("store", "config")
def passwd(name: _Name, *, settings: Settings) -> None:
    """Change a person's password and end their sessions."""
    with open_store_of(settings) as opened:
        _check_known(opened, name)
        users.set_password(opened, name, _ask_password(), by=COMMAND_LINE)
    typer.echo(f"{name} has a new password")


@user.command("role")
@takes_settings("store", "config")
def set_role(
    name: _Name,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="viewer, reviewer or lead.")],
    *,
    settings: Settings,
) -> None:
    """Change what a person may do."""
    with open_store_of(settings) as opened:
        users.set_role(opened, name, role, by=COMMAND_LINE)
    typer.echo(f"{name} is a {role}")


@user.command()
@takes_settings("store", "config")
def disable(
    name: _Name,
    *,
    again: Annotated[bool, typer.Option("--undo", help="Restore the person's access.")] = False,
    settings: Settings,
) -> None:
    """Remove a person's access; their reviews stay."""
    with open_store_of(settings) as opened:
        (users.enable_user if again else users.disable_user)(opened, name, by=COMMAND_LINE)
    typer.echo(f"{name} {'has access again' if again else 'has no more access'}")


@user.command("list")
@takes_settings("store", "config")
def list_users(*, settings: Settings) -> None:
    """List people and their roles."""
    with open_store_of(settings) as opened:
        found = opened.users.list()
    for each in found:
        typer.echo(f"{one_line(each.name)}\t{each.role}" + ("\tdisabled" if each.disabled else ""))
    if not found:
        typer.echo("no users yet: add one with touchstone user add NAME", err=True)


@user.command()
@takes_settings("store", "config")
def token(
    name: _Name,
    *,
    label: Annotated[str, typer.Option(metavar="TEXT", help="What the token is for.")] = "",
    days: Annotated[int, typer.Option(metavar="N", min=1, max=3650, help="Days until the token expires.")] = 365,
    revoke: Annotated[
        Text, typer.Option(metavar="ID", help="Revoke a token of this person instead of creating one.")
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="List the person's tokens instead.")] = False,
    settings: Settings,
) -> None:
    """Create a token for a program; it is shown once and stored as a hash."""
    with open_store_of(settings) as opened:
        _check_known(opened, name)
        if revoke is not None:
            if revoke not in {each.id for each in opened.tokens.list(name)}:
                raise ConfigError(f"{name} has no token '{revoke}': touchstone user token {name} --list shows them")
            users.revoke_token(opened, revoke, by=COMMAND_LINE)
            typer.echo(f"token {revoke} is revoked")
        elif show:
            for each in opened.tokens.list(name):
                state = "revoked" if each.revoked else f"until {(each.expires or 'ever')[:10]}"
                typer.echo(f"{each.id}\t{state}\t{one_line(each.label)}")
        else:
            typer.echo(users.add_token(opened, name, label=label, days=days, by=COMMAND_LINE))


def _ask_password() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    return sys.stdin.readline().rstrip("\n")


def _check_known(store: Store, name: str) -> None:
    if store.users.get(name) is None:
        raise ConfigError(f"there is no user '{name}': touchstone user list shows them")
