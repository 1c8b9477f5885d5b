"""One's own account: another password, an end to other sessions; and the one-time link that begins an account."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.responses import Response

from touchstone.app import users
from touchstone.app.audit import now
from touchstone.app.users import fingerprint
from touchstone.core.errors import ConfigError
from touchstone.service import login
from touchstone.service.context import COOKIE, Caller, Here, Viewer
from touchstone.service.pages.render import go_to, show
from touchstone.service.problems import Refusal

pages = APIRouter(include_in_schema=False)
_Password = Annotated[str, Form(max_length=256)]
_GONE = "The link was used, is older than 7 days or was replaced: ask a lead for a new one."


async def _by_session(caller: Viewer) -> Caller:
    if caller.user.via != "session":
        raise Refusal(403, "forbidden", "an account is its owner's: sign in with a password on a service with --auth")
    return caller


_Owner = Annotated[Caller, Depends(_by_session)]


@pages.get("/account")
def account(caller: _Owner, *, done: Annotated[str, Query(max_length=20)] = "") -> Response:
    """The forms, and what was done."""
    return caller.show("account.html", done=done, problem="")


@pages.post("/account/password")
def change_password(request: Request, caller: _Owner, *, current: _Password, password: _Password) -> Response:
    """Another password of one's own. Every session ends, and this browser begins a new one."""
    here, address = caller.service, request.client.host if request.client else ""
    problem = login.check_password(here, name=caller.name, password=current, address=login.network_of(address))
    said = {"wrong": "The current password is wrong."}.get(problem, login.PROBLEMS[problem]) if problem else ""
    if not said:
        try:
            users.set_password(caller.store, caller.name, password, by=caller.name)
        except ConfigError as error:
            said = str(error)
    if said:
        return caller.show("account.html", done="", problem=said, status=422)
    return login.with_session(request, here, "/account?done=password", login.begin_session(here, caller.name))


@pages.post("/account/sessions")
def end_other_sessions(caller: _Owner) -> Response:
    """Sign out everywhere but here."""
    caller.store.sessions.end_others(caller.name, keep=fingerprint(caller.request.cookies[COOKIE]))
    caller.note("signed out elsewhere", caller.name)
    return go_to("/account?done=sessions")


@pages.get("/invite/{secret}")
def invite(request: Request, here: Here, secret: str) -> Response:
    """The form in which somebody who was invited chooses a password. Open to whoever has the link."""
    name = here.store.invites.user(fingerprint(secret), now=now())
    if name is None:
        raise Refusal(404, "unknown", _GONE)
    return show(request, "invite.html", user=None, name=name, problem="")


@pages.post("/invite/{secret}")
def accept(request: Request, here: Here, secret: str, *, password: _Password) -> Response:
    """Keep the password and sign in; the link is used up."""
    try:
        name = users.accept_invite(here.store, secret, password)
    except ConfigError as error:
        name = here.store.invites.user(fingerprint(secret), now=now())
        return show(request, "invite.html", user=None, status=422, name=name or "", problem=str(error))
    if name is None:
        raise Refusal(404, "unknown", _GONE)
    return login.with_session(request, here, "/", login.begin_session(here, name))
