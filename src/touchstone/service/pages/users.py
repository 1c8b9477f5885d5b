"""Who may use the service, as a lead sees it: users, roles, passwords, tokens, and who did what."""

import secrets
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from touchstone.app.passwords import hash_password
from touchstone.core.errors import ReviewError
from touchstone.service.auth.guard import Lead
from touchstone.service.auth.principal import Principal, fingerprint, new_token
from touchstone.service.context import Here, note, now
from touchstone.service.pages.render import go_to, show
from touchstone.store.users import ROLES, ApiToken, User

router = APIRouter(include_in_schema=False)
_Name = Annotated[str, Form(max_length=100)]
_Password = Annotated[str, Form(max_length=256)]
_ENTRIES = 50


@router.get("/users")
def users(request: Request, here: Here, who: Lead) -> Response:
    """Everybody, their tokens, and the newest entries of the audit log."""
    return _page(request, here, who)


@router.post("/users")
def add(here: Here, who: Lead, *, name: _Name, role: _Name, password: _Password) -> Response:
    """A new user."""
    hashed = hash_password(password, name=name.strip())
    here.store.users.add(User(name=name.strip(), role=role, made=now()), password_hash=hashed)
    note(here, who, f"user added as {role}", name.strip())
    return go_to("/users")


@router.post("/users/role")
def set_role(here: Here, who: Lead, *, name: _Name, role: _Name) -> Response:
    """Another role."""
    _check_not_self(who, name)
    here.store.users.set_role(name, role)
    note(here, who, f"role set to {role}", name)
    return go_to("/users")


@router.post("/users/password")
def set_password(here: Here, who: Lead, *, name: _Name, password: _Password) -> Response:
    """Another password; whoever was signed in under the old one no longer is."""
    here.store.users.set_password(name, hash_password(password, name=name))
    here.store.sessions.end_all(name)
    note(here, who, "password set", name)
    return go_to("/users")


@router.post("/users/access")
def set_access(here: Here, who: Lead, *, name: _Name, disabled: _Name = "") -> Response:
    """Let a user in no more, or again; reviews stay."""
    _check_not_self(who, name)
    if disabled:
        here.store.users.disable(name)
        here.store.sessions.end_all(name)
    else:
        here.store.users.enable(name)
    note(here, who, "user disabled" if disabled else "user enabled", name)
    return go_to("/users")


@router.post("/users/tokens")
def add_token(request: Request, here: Here, who: Lead, *, name: _Name, label: _Name = "") -> Response:
    """A token for a program; its secret is shown this once."""
    secret = new_token()
    token = ApiToken(id=secrets.token_hex(8), user=name, label=label.strip(), made=now())
    here.store.tokens.add(token, hash=fingerprint(secret))
    note(here, who, f"token {token.id} added", name)
    return _page(request, here, who, secret=secret)


@router.post("/users/tokens/revoke")
def revoke_token(here: Here, who: Lead, *, id: _Name) -> Response:
    """A token that is to work no more."""
    here.store.tokens.revoke(id, at=now())
    note(here, who, "token revoked", id)
    return go_to("/users")


def _page(request: Request, here: Here, who: Principal, *, secret: str = "") -> Response:
    return show(
        request,
        "users.html",
        who=who,
        users=here.store.users.list(),
        tokens=here.store.tokens.list(),
        entries=here.store.audit.page(limit=_ENTRIES),
        roles=ROLES,
        secret=secret,
        has_auth=here.options.has_auth,
    )


def _check_not_self(who: Principal, name: str) -> None:
    if name == who.name:
        raise ReviewError("you cannot take your own role away: ask another lead")
