"""Who may use the service, as a lead sees it: users, roles, passwords, tokens, and the audit log."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Form, Query
from starlette.responses import Response

from touchstone.app import users
from touchstone.core.errors import ReviewError
from touchstone.service.answers import Limit, listed
from touchstone.service.context import Caller, Lead
from touchstone.service.pages.render import go_to
from touchstone.service.schemas import answers
from touchstone.store.users import ROLES

router = APIRouter(prefix="/v1/audit", tags=["audit"])
pages = APIRouter(prefix="/users", include_in_schema=False)
_Name = Annotated[str, Form(max_length=100)]
_Password = Annotated[str, Form(max_length=256)]
_ENTRIES = 50


@router.get("", responses=answers("AuditEntries", 422))
def list_audit(
    caller: Lead,
    *,
    person: Annotated[str | None, Query(max_length=200, description="Only what this person did.")] = None,
    limit: Limit = 50,
    after: Annotated[int | None, Query(ge=1, lt=2**31, description="`next` of the page before.")] = None,
) -> Response:
    """Logins, queues, rulings, waivers, labels, deletions and actions, the newest first."""
    found = caller.store.audit.page(before=after, limit=limit + 1, who=person)
    return listed("entries", found, limit, row=asdict, cursor=lambda each: each.number)


@pages.get("")
def users_page(caller: Lead) -> Response:
    """Everybody, their tokens, and the newest entries of the audit log."""
    return _page(caller)


@pages.post("")
def add(caller: Lead, *, name: _Name, role: _Name, password: _Password) -> Response:
    """A new user."""
    users.add_user(caller.store, name, role=role, password=password, by=caller.name)
    return go_to("/users")


@pages.post("/invite")
def invite(caller: Lead, *, name: _Name, role: _Name = "") -> Response:
    """A one-time link for a user, who is a new one where a role is given; it is shown this once."""
    secret = users.invite_user(caller.store, name, role=role or None, by=caller.name)
    here = caller.request.url
    return _page(caller, link=f"{here.scheme}://{here.netloc}/invite/{secret}", invited=name)


@pages.post("/role")
def set_role(caller: Lead, *, name: _Name, role: _Name) -> Response:
    """Another role."""
    _check_not_self(caller, name)
    users.set_role(caller.store, name, role, by=caller.name)
    return go_to("/users")


@pages.post("/password")
def set_password(caller: Lead, *, name: _Name, password: _Password) -> Response:
    """Another password; whoever was signed in under the old one no longer is."""
    users.set_password(caller.store, name, password, by=caller.name)
    return go_to("/users")


@pages.post("/access")
def set_access(caller: Lead, *, name: _Name, disabled: _Name = "") -> Response:
    """Remove a user's access, or restore it; reviews stay."""
    _check_not_self(caller, name)
    (users.disable_user if disabled else users.enable_user)(caller.store, name, by=caller.name)
    return go_to("/users")


@pages.post("/tokens")
def add_token(caller: Lead, *, name: _Name, label: _Name = "") -> Response:
    """A token for a program; its secret is shown this once."""
    return _page(caller, secret=users.add_token(caller.store, name, label=label, by=caller.name))


@pages.post("/tokens/revoke")
def revoke_token(caller: Lead, *, id: _Name) -> Response:
    """A token that is to work no more."""
    users.revoke_token(caller.store, id, by=caller.name)
    return go_to("/users")


def _page(caller: Caller, *, secret: str = "", link: str = "", invited: str = "") -> Response:
    return caller.show(
        "users.html",
        users=caller.store.users.list(),
        tokens=caller.store.tokens.list(),
        entries=caller.store.audit.page(limit=_ENTRIES),
        roles=ROLES,
        secret=secret,
        link=link,
        invited=invited,
        has_auth=caller.service.options.has_auth,
    )


def _check_not_self(caller: Caller, name: str) -> None:
    if name == caller.name:
        raise ReviewError("you cannot take your own role away: ask another lead")
