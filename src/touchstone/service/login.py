"""Signing in and out: a name and a password -> a session and its cookie, for those who do not guess too often.

Log-ins that failed decide who has to wait before the next. One who signs in where they did before waits for no other.
"""

import logging
import secrets
import threading
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from touchstone.app.audit import from_now, note, now
from touchstone.app.users import fingerprint, verify_password
from touchstone.service.context import COOKIE, Here, Service, Viewer
from touchstone.service.pages.render import go_to, show
from touchstone.store.users import Logins, Session

_LONGEST_NAME = 200
_LONGEST_PATH = 2_000

# Wrong passwords within the window that a name has from one address.
WINDOW_SECONDS = 15 * 60.0
MOST_OF_PAIR = 5
# Of a name from everywhere, and from an address under every name: far more than people mistype. Then only those wait
# who have not signed in under the name from the address lately.
MOST_OF_NAME = 50
MOST_FROM_ADDRESS = 300
KNOWN_SECONDS = 30 * 24 * 3600.0

# What the store keeps of an address.
_LONGEST_ADDRESS = 64
# Each check takes 64 MiB and all of a core for a moment; those that wait for one hold a thread each.
_hashing = threading.Semaphore(2)
_waiting = threading.Semaphore(8)
_counting = threading.Lock()
# Proxies that the log has named. Only a few: anybody can send the header.
_MOST_WARNED = 10
_warned_of: set[str] = set()

Problem = Literal["wrong", "wait"]
PROBLEMS: dict[str, str] = {
    "wrong": "The name or the password is wrong.",
    "wait": "Too many attempts: wait a few minutes and try again.",
}
_Field = Annotated[str, Form()]

log = logging.getLogger("touchstone.service")
router = APIRouter(include_in_schema=False)


@router.get("/login")
def login_form(
    request: Request, here: Here, *, next: str = "/", problem: Annotated[str, Query(max_length=50)] = ""
) -> Response:
    """The form; without --auth there is nobody to sign in."""
    if not here.options.has_auth:
        return go_to("/")
    said = PROBLEMS.get(problem, "It did not work: try again." if problem else "")
    return show(request, "login.html", user=None, next=own_path(next), problem=said)


@router.post("/login")
def login(request: Request, here: Here, *, name: _Field = "", password: _Field = "", next: _Field = "/") -> Response:
    """Begin a session and go on to `next`; back to the form, which keeps `next`, when it is not to be."""
    wanted = own_path(next)
    address = request.client.host if request.client else ""
    _warn_of_proxy(request.headers.get("x-forwarded-for", ""), address=address)
    problem, secret = _sign_in(here, name=name[:_LONGEST_NAME], password=password, address=network_of(address))
    here.meters.signed_in(problem or "right")
    if problem is not None:
        kept = {"next": wanted} if wanted != "/" else {}
        return go_to(f"/login?{urlencode({'problem': problem} | kept)}")
    return with_session(request, here, wanted, secret)


def with_session(request: Request, here: Service, path: str, secret: str) -> Response:
    """On to the path, with the session's cookie."""
    response = RedirectResponse(path, 303)
    response.set_cookie(
        COOKIE,
        secret,
        max_age=int(here.options.session_seconds),
        path="/",
        # No script can read it, and other sites' forms do not send it.
        httponly=True,
        samesite="lax",
        # A team behind a proxy with TLS has https here; on plain http the cookie would not come back.
        secure=request.url.scheme == "https",
    )
    return response


@router.post("/logout")
def logout(caller: Viewer) -> Response:
    """End the session."""
    if secret := caller.request.cookies.get(COOKIE):
        found = caller.store.sessions.get(fingerprint(secret))
        caller.store.sessions.end(fingerprint(secret))
        if found is not None:
            note(caller.store, found.user, "logout")
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, path="/")
    return response


def _sign_in(here: Service, *, name: str, password: str, address: str) -> tuple[Problem | None, str]:
    """A new session's secret; or why not."""
    problem = check_password(here, name=name, password=password, address=address)
    if problem is not None:
        return problem, ""
    note(here.store, name, "login")
    return None, begin_session(here, name)


def begin_session(here: Service, name: str) -> str:
    """The secret of a new session of this person."""
    here.store.sessions.expire(now())
    secret = secrets.token_urlsafe(32)
    expires = from_now(here.options.session_seconds)
    session = Session(user=name, csrf=secrets.token_urlsafe(32), made=now(), expires=expires)
    here.store.sessions.add(fingerprint(secret), session)
    return secret


def check_password(here: Service, *, name: str, password: str, address: str) -> Problem | None:
    """Why they cannot come in: `wrong` for name or password alike, `wait` after too many tries."""
    # Whoever has to wait takes no room from others.
    if must_wait(here.store.logins, name=name, address=address) or not _waiting.acquire(blocking=False):
        return "wait"
    try:
        return _check(here, name=name, password=password, address=address)
    finally:
        _waiting.release()


def _check(here: Service, *, name: str, password: str, address: str) -> Problem | None:
    store = here.store
    # A try counts as failed until it has not: many at once are not let through while the first is looked at.
    with _counting:
        if must_wait(store.logins, name=name, address=address):
            return "wait"
        store.logins.note(name, address=address, at=now(), ok=False)
        expire(store.logins)
    user = store.users.get(name)
    with _hashing:
        is_right = verify_password(store.users.password_hash(name) if user else None, password)
    if user is None or not is_right or user.disabled:
        note(store, name if user else "", "login refused")
        return "wrong"
    store.logins.forgive(name, address=address)
    store.logins.note(name, address=address, at=now(), ok=True)
    return None


def must_wait(logins: Logins, *, name: str, address: str) -> bool:
    """Whether a name has to wait at an address; the right password does not help then."""
    since = from_now(-WINDOW_SECONDS)
    if logins.failures(name=name, address=address, since=since) >= MOST_OF_PAIR:
        return True
    if logins.has_succeeded(name, address=address, since=from_now(-KNOWN_SECONDS)):
        return False
    of_name, from_address = logins.failures(name=name, since=since), logins.failures(address=address, since=since)
    return of_name >= MOST_OF_NAME or from_address >= MOST_FROM_ADDRESS


def expire(logins: Logins) -> None:
    """Forget what no longer counts."""
    logins.expire(from_now(-2 * WINDOW_SECONDS), successes=from_now(-KNOWN_SECONDS))


def network_of(address: str) -> str:
    """What an address is counted under: of IPv6 its network of 64 bits, all of which one machine may have."""
    try:
        found = ip_address(address)
    except ValueError:
        return address[:_LONGEST_ADDRESS]
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or ip_network((int(found), 64), strict=False))
    return str(found)


def _warn_of_proxy(forwarded: str, *, address: str) -> None:
    """Say once that everybody behind a proxy is taken for one; the client of a trusted one is in its header."""
    if forwarded and address not in forwarded and address not in _warned_of and len(_warned_of) < _MOST_WARNED:
        _warned_of.add(address)
        log.warning("%s sends X-Forwarded-For: if it is your proxy, start with --trusted-proxy %s", address, address)


def own_path(path: str) -> str:
    """The path if it is one of ours; a link with another site in it must not lead there after a login."""
    is_own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_own and len(path) <= _LONGEST_PATH else "/"
