"""A request -> the Principal it comes from, or a Refusal; every route names the role it is for."""

import hmac
from typing import Annotated
from urllib.parse import quote

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from touchstone.service.auth.principal import LOCAL, Principal, Role, Via, fingerprint, role_of
from touchstone.service.context import Here, now
from touchstone.service.edge import SAFE_METHODS
from touchstone.service.problems import API, Refusal
from touchstone.store.runs import Store

COOKIE = "touchstone_session"
CSRF_HEADER = "X-CSRF-Token"
CSRF_FIELD = "csrf_token"
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


async def find_principal(request: Request, here: Here) -> Principal | None:
    """Whoever signed in, or None."""
    if not here.options.has_auth:
        return LOCAL
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return await run_in_threadpool(_by_token, token.strip(), here.store)
    session = request.cookies.get(COOKIE)
    return await run_in_threadpool(_by_session, session, here.store) if session else None


def _by_token(token: str, store: Store) -> Principal | None:
    found = store.tokens.by_hash(fingerprint(token))
    if found is None or found.revoked is not None or (found.expires is not None and found.expires <= now()):
        return None
    return _user(found.user, store, via="token")


def _by_session(session: str, store: Store) -> Principal | None:
    found = store.sessions.get(fingerprint(session))
    if found is None or found.expires <= now():
        return None
    return _user(found.user, store, via="session", csrf=found.csrf)


def _user(name: str, store: Store, *, via: Via, csrf: str = "") -> Principal | None:
    """The user as they are now: a role that was taken away, or an account that was closed, counts at once."""
    user = store.users.get(name)
    if user is None or user.disabled:
        return None
    return Principal(user.name, role_of(user.role), via, csrf)


class Needs:
    """The dependency of a route that is for one role and those above it."""

    def __init__(self, role: Role) -> None:
        self.role: Role = role

    async def __call__(self, request: Request, here: Here) -> Principal:
        who = await find_principal(request, here)
        if who is None:
            raise _signed_out(request)
        if not who.may(self.role):
            raise Refusal(403, "forbidden", f"this is for a {self.role}, and {who.name} is a {who.role}: ask a lead")
        if who.via == "session" and request.method not in SAFE_METHODS:
            await _check_csrf(request, who)
        here.rates.take(who.key)
        return who


def _signed_out(request: Request) -> Refusal:
    if request.url.path.startswith(API) or request.url.path == "/metrics":
        detail = "send Authorization: Bearer with a token of touchstone user token, or sign in at /login"
        return Refusal(401, "sign-in", detail, headers={"WWW-Authenticate": "Bearer"})
    if "hx-request" in request.headers:
        return Refusal(401, "sign-in", "the session has ended: sign in again", headers={"HX-Redirect": "/login"})
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    back = f"?next={quote(path)}" if request.method == "GET" and path != "/" else ""
    return Refusal(303, "sign-in", "sign in first", headers={"Location": f"/login{back}"})


async def _check_csrf(request: Request, who: Principal) -> None:
    """Another site's page can have a browser send its cookie along, but does not know this."""
    given = request.headers.get(CSRF_HEADER)
    if given is None and request.headers.get("content-type", "").startswith(_FORMS):
        field = (await request.form()).get(CSRF_FIELD)
        given = field if isinstance(field, str) else None
    if not hmac.compare_digest((given or "").encode(), who.csrf.encode()):
        raise Refusal(403, "forbidden", f"the request lacks its {CSRF_HEADER}: load the page again and repeat it")


Viewer = Annotated[Principal, Depends(Needs("viewer"))]
Reviewer = Annotated[Principal, Depends(Needs("reviewer"))]
Lead = Annotated[Principal, Depends(Needs("lead"))]
