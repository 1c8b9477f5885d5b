"""`touchstone user`: who may use the service, with which role, password and tokens."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from touchstone.cli.options import Config, StorePlace
from touchstone.core.errors import ConfigError

if TYPE_CHECKING:
    from touchstone.store.runs import Store

user = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Manage the people who use touchstone serve --auth."
)

_Name = Annotated[str, typer.Argument(metavar="NAME", help="The person's name.")]
_Role = Annotated[str, typer.Option(metavar="ROLE", help="viewer, reviewer or lead.")]


@user.command()
def add(name: _Name, *, role: _Role = "reviewer", place: StorePlace = None, config: Config = None) -> None:
    """Add a person. Asks for the password, or reads it from stdin if that is not a terminal."""
    from touchstone.app.passwords import hash_password
    from touchstone.app.review import now_text
    from touchstone.store.users import User

    with _open(place, config, creates=True) as opened:
        if opened.users.get(name) is not None:
            raise ConfigError(f"there is a user '{name}' already: give another name, or touchstone user passwd {name}")
        entry = User(name=name, role=role, made=now_text())
        opened.users.add(entry, password_hash=hash_password(_ask_password(), name=name))
        _note(opened, "user add", name, role)
    typer.echo(f"{name} is a {role}")


@user.command()
def passwd(name: _Name, *, place: StorePlace = None, config: Config = None) -> None:
    """Change a person's password and end their sessions."""
    from touchstone.app.passwords import hash_password

    with _open(place, config) as opened:
        _check_known(opened, name)
        opened.users.set_password(name, hash_password(_ask_password(), name=name))
        _note(opened, "user passwd", name)
    typer.echo(f"{name} has a new password")


@user.command("role")
def set_role(
    name: _Name,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="viewer, reviewer or lead.")],
    *,
    place: StorePlace = None,
    config: Config = None,
) -> None:
    """Change what a person may do."""
    with _open(place, config) as opened:
        opened.users.set_role(name, role)
        _note(opened, "user role", name, role)
    typer.echo(f"{name} is a {role}")


@user.command()
def disable(
    name: _Name,
    *,
    again: Annotated[bool, typer.Option("--undo", help="Restore the person's access.")] = False,
    place: StorePlace = None,
    config: Config = None,
) -> None:
    """Remove a person's access; their reviews stay."""
    with _open(place, config) as opened:
        if again:
            opened.users.enable(name)
        else:
            opened.users.disable(name)
        _note(opened, "user enable" if again else "user disable", name)
    typer.echo(f"{name} is {'let in again' if again else 'let in no more'}")


@user.command("list")
def list_users(*, place: StorePlace = None, config: Config = None) -> None:
    """List people and their roles."""
    from touchstone.report.plain import one_line

    with _open(place, config) as opened:
        found = opened.users.list()
    for each in found:
        typer.echo(f"{one_line(each.name)}\t{each.role}" + ("\tdisabled" if each.disabled else ""))
    if not found:
        typer.echo("no users: touchstone user add NAME makes one", err=True)


@user.command()
def token(
    name: _Name,
    *,
    label: Annotated[str, typer.Option(metavar="TEXT", help="What the token is for.")] = "",
    days: Annotated[int, typer.Option(metavar="N", min=1, max=3650, help="Days until the token expires.")] = 365,
    revoke: Annotated[
        str | None, typer.Option(metavar="ID", help="Revoke a token of this person instead of creating one.")
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="List the person's tokens instead.")] = False,
    place: StorePlace = None,
    config: Config = None,
) -> None:
    """Create a token for a program; it is shown once and stored as a hash."""
    with _open(place, config) as opened:
        _check_known(opened, name)
        if revoke is not None:
            _revoke(opened, name, revoke)
        elif show:
            _list_tokens(opened, name)
        else:
            typer.echo(_make_token(opened, name, label=label, days=days))


def _make_token(store: "Store", name: str, *, label: str, days: int) -> str:
    import secrets
    from datetime import UTC, datetime, timedelta

    from touchstone.service.auth.principal import fingerprint, new_token
    from touchstone.store.users import ApiToken

    now = datetime.now(UTC)
    secret = new_token()
    entry = ApiToken(
        id=secrets.token_hex(4),
        user=name,
        label=label,
        made=now.isoformat(timespec="seconds"),
        expires=(now + timedelta(days=days)).isoformat(timespec="seconds"),
    )
    store.tokens.add(entry, hash=fingerprint(secret))
    _note(store, "token add", name, entry.id)
    return secret


def _revoke(store: "Store", name: str, id: str) -> None:
    from touchstone.app.review import now_text

    if id not in {each.id for each in store.tokens.list(name)}:
        raise ConfigError(f"{name} has no token '{id}': touchstone user token {name} --list shows them")
    store.tokens.revoke(id, at=now_text())
    _note(store, "token revoke", name, id)
    typer.echo(f"token {id} holds no more")


def _list_tokens(store: "Store", name: str) -> None:
    from touchstone.report.plain import one_line

    for each in store.tokens.list(name):
        state = "revoked" if each.revoked else f"until {(each.expires or 'ever')[:10]}"
        typer.echo(f"{each.id}\t{state}\t{one_line(each.label)}")


def _ask_password() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    return sys.stdin.readline().rstrip("\n")


def _check_known(store: "Store", name: str) -> None:
    if store.users.get(name) is None:
        raise ConfigError(f"there is no user '{name}': touchstone user list shows them")


def _note(store: "Store", act: str, subject: str, detail: str = "") -> None:
    """In the audit log, as done on the command line."""
    from touchstone.app.review import now_text
    from touchstone.store.guards import AuditEntry

    store.audit.note(AuditEntry(at=now_text(), who="command line", act=act, subject=subject, detail=detail))


def _open(place: str | None, config: str | None, *, creates: bool = False) -> "Store":
    from touchstone.app.config import load_settings
    from touchstone.app.runs import open_store_of

    return open_store_of(load_settings(config, store=place), creates=creates)
