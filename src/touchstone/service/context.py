"""A request -> the Caller who makes it, and the parts of the service it has come to; or a Refusal.

Every route names the role it is for.
"""

import hmac
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args
from urllib.parse import quote

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from touchstone.app import audit
from touchstone.app.audit import now
from touchstone.app.config import Settings
from touchstone.app.users import fingerprint
from touchstone.service.figures import RunCache
from touchstone.service.limits import Rates
from touchstone.service.options import Options
from touchstone.service.pages.render import show
from touchstone.service.problems import API, Refusal
from touchstone.service.scoring.scorer import Scorer
from touchstone.service.telemetry import Meters, Telemetry
from touchstone.service.uploads import Uploads
from touchstone.store.runs import Store

Role = Literal["viewer", "reviewer", "lead"]
# Each may do what those before it may.
ROLES: tuple[Role, ...] = get_args(Role)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
COOKIE = "touchstone_session"
# Where a request keeps under whom it is counted.
RATE_KEY = "touchstone.rate_key"
CSRF_HEADER = "X-CSRF-Token"
CSRF_FIELD = "csrf_token"
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of one service."""

    settings: Settings
    store: Store
    scorer: Scorer
    options: Options
    rates: Rates
    meters: Meters
    telemetry: Telemetry
    cache: RunCache
    uploads: Uploads


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who may use the service. `csrf` is what their browser has to send along when it changes something."""

    name: str
    role: Role
    via: Literal["local", "session", "token"]
    csrf: str = ""

    @property
    def key(self) -> str:
        """What their requests are counted under."""
        return f"{self.via} {self.name}"

    def may(self, role: Role) -> bool:
        """Whether they may do what is for `role`."""
        return ROLES.index(self.role) >= ROLES.index(role)


LOCAL = Principal("local", "lead", "local")


@dataclass(frozen=True, slots=True)
class Caller:
    """A request that somebody may make: to which service, and who they are."""

    request: Request
    service: Service
    user: Principal

    @property
    def store(self) -> Store:
        return self.service.store

    @property
    def name(self) -> str:
        return self.user.name

    def note(self, act: str, subject: str, *, detail: str = "") -> None:
        """Note in the audit log what they did, and to what: by ids, without a word of a customer."""
        audit.note(self.store, self.name, act, subject, detail=detail)

    def show(self, template: str, **values: Any) -> Response:
        """A page for them."""
        return show(self.request, template, user=self.user, **values)


async def find_service(request: Request) -> Service:
    """The service a request has come to."""
    service: Service = request.app.state.service
    return service


Here = Annotated[Service, Depends(find_service)]


async def find_user(request: Request, here: Here) -> Principal | None:
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
    return _user(Principal(found.user, "viewer", "token"), store)


def _by_session(session: str, store: Store) -> Principal | None:
    found = store.sessions.get(fingerprint(session))
    if found is None or found.expires <= now():
        return None
    return _user(Principal(found.user, "viewer", "session", found.csrf), store)


def _user(claimed: Principal, store: Store) -> Principal | None:
    """The user as they are now: a role that was taken away, or an account that was closed, counts at once."""
    user = store.users.get(claimed.name)
    if user is None or user.disabled:
        return None
    # A role of a later version, which is not known here, may do the least.
    role: Role = next((role for role in ROLES if role == user.role), "viewer")
    return Principal(user.name, role, claimed.via, claimed.csrf)


class Requires:
    """The dependency of a route that is for one role and those above it."""

    def __init__(self, role: Role) -> None:
        self.role: Role = role

    async def __call__(self, request: Request, here: Here) -> Caller:
        user = await find_user(request, here)
        if user is None:
            raise _signed_out(request)
        if not user.may(self.role):
            raise Refusal(403, "forbidden", f"this is for a {self.role}, and {user.name} is a {user.role}: ask a lead")
        if user.via == "session" and request.method not in SAFE_METHODS:
            await _check_csrf(request, user)
        request.scope[RATE_KEY] = user.key
        here.rates.take(user.key)
        return Caller(request, here, user)


def _signed_out(request: Request) -> Refusal:
    if request.url.path.startswith(API) or request.url.path == "/metrics":
        detail = "send Authorization: Bearer with a token of touchstone user token, or sign in at /login"
        return Refusal(401, "sign-in", detail, headers={"WWW-Authenticate": "Bearer"})
    if "hx-request" in request.headers:
        return Refusal(401, "sign-in", "the session has ended: sign in again", headers={"HX-Redirect": "/login"})
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    back = f"?next={quote(path)}" if request.method == "GET" and path != "/" else ""
    return Refusal(303, "sign-in", "sign in first", headers={"Location": f"/login{back}"})


async def _check_csrf(request: Request, user: Principal) -> None:
    """Another site's page can have a browser send its cookie along, but does not know this."""
    given = request.headers.get(CSRF_HEADER)
    if given is None and request.headers.get("content-type", "").startswith(_FORMS):
        field = (await request.form()).get(CSRF_FIELD)
        given = field if isinstance(field, str) else None
    if not hmac.compare_digest((given or "").encode(), user.csrf.encode()):
        raise Refusal(403, "forbidden", f"the request lacks its {CSRF_HEADER}: load the page again and repeat it")


Viewer = Annotated[Caller, Depends(Requires("viewer"))]
Reviewer = Annotated[Caller, Depends(Requires("reviewer"))]
Lead = Annotated[Caller, Depends(Requires("lead"))]
