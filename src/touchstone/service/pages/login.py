"""Signing in and out: the form, the session that it begins, and its end."""

import logging
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from touchstone.service.auth.guard import COOKIE, Viewer
from touchstone.service.auth.sessions import SignedIn, set_cookie, sign_in, sign_out
from touchstone.service.context import Here
from touchstone.service.pages.render import go_to, show

router = APIRouter(include_in_schema=False)
# Only a few: anybody can send the header.
_MOST_WARNED = 10
_warned_of: set[str] = set()
log = logging.getLogger("touchstone.service")
_Field = Annotated[str, Form()]
_LONGEST_PATH = 2_000
_PROBLEMS = {
    "wrong": "The name or the password is wrong.",
    "wait": "Too many attempts: wait a few minutes and try again.",
}


@router.post("/login")
def login(request: Request, here: Here, *, name: _Field = "", password: _Field = "", next: _Field = "/") -> Response:
    """Begin a session and go on to `next`; back to the form, which keeps `next`, when it is not to be."""
    wanted = own_path(next)
    address = request.client.host if request.client else ""
    _warn_of_proxy(request.headers.get("x-forwarded-for", ""), address=address)
    found = sign_in(here, name=name, password=password, address=address)
    if not isinstance(found, SignedIn):
        kept = {"next": wanted} if wanted != "/" else {}
        return RedirectResponse(f"/login?{urlencode({'problem': found} | kept)}", 303)
    response = RedirectResponse(wanted, 303)
    set_cookie(response, found, request=request)
    return response


@router.post("/logout")
def logout(request: Request, here: Here, who: Viewer) -> Response:
    """End the session."""
    sign_out(here, request)
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, path="/")
    return response


@router.get("/login")
def login_form(
    request: Request,
    here: Here,
    *,
    next: str = "/",
    problem: Annotated[str, Query(max_length=50)] = "",
) -> Response:
    """The form; without --auth there is nobody to sign in."""
    if not here.options.has_auth:
        return go_to("/")
    said = _PROBLEMS.get(problem, "It did not work: try again." if problem else "")
    return show(request, "login.html", who=None, next=own_path(next), problem=said)


def _warn_of_proxy(forwarded: str, *, address: str) -> None:
    """Say once that everybody behind a proxy is taken for one; the client of a trusted one is in its header."""
    if forwarded and address not in forwarded and address not in _warned_of and len(_warned_of) < _MOST_WARNED:
        _warned_of.add(address)
        log.warning("%s sends X-Forwarded-For: if it is your proxy, start with --trusted-proxy %s", address, address)


def own_path(path: str) -> str:
    """The path if it is one of ours; a link with another site in it must not lead there after a login."""
    is_own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_own and len(path) <= _LONGEST_PATH else "/"
