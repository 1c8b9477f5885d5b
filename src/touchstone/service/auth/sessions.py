"""A name and a password -> a session in the store and its cookie, for those who do not guess too often."""

import secrets
import threading
from dataclasses import dataclass
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from touchstone.app.passwords import verify_password
from touchstone.service.auth.guard import COOKIE
from touchstone.service.auth.secret import fingerprint, new_session
from touchstone.service.clock import from_now, now
from touchstone.service.context import Service
from touchstone.store.guards import Entry
from touchstone.store.users import Session

# Failures within the window after which nobody is let in: of one name from one address, of a name, of an address.
# The second is high, so that a stranger elsewhere cannot easily lock somebody out.
WINDOW_SECONDS = 15 * 60.0
MOST_HERE, MOST_OF_NAME, MOST_FROM_ADDRESS = 5, 50, 30
_LONGEST_NAME = 200

# Each check takes 64 MiB and all of a core for a moment; those that wait for one hold a thread each.
_hashing = threading.Semaphore(2)
_waiting = threading.Semaphore(8)
_counting = threading.Lock()

Problem = Literal["wrong", "wait"]


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A new session: the secret for the cookie, and how long it lasts."""

    secret: str
    seconds: float


def sign_in(here: Service, *, name: str, password: str, address: str) -> SignedIn | Problem:
    """Begin a session, or say why not: `wrong` for name or password alike, `wait` after too many tries."""
    if not _waiting.acquire(blocking=False):
        return "wait"
    try:
        return _sign_in(here, name=name[:_LONGEST_NAME], password=password, address=address)
    finally:
        _waiting.release()


def _sign_in(here: Service, *, name: str, password: str, address: str) -> SignedIn | Problem:
    store = here.store
    # A try counts as failed until it has not: many at once are not let through while the first is looked at.
    with _counting:
        if _guesses_too_often(here, name=name, address=address):
            here.meters.signed_in("wait")
            return "wait"
        store.logins.note(name, address=address, at=now(), ok=False)
    user = store.users.get(name)
    with _hashing:
        is_right = verify_password(store.users.password_hash(name) if user else None, password)
    if user is None or not is_right or user.disabled:
        here.meters.signed_in("wrong")
        store.audit.note(Entry(at=now(), who=name if user else "", act="login refused"))
        return "wrong"
    store.logins.forgive(name)
    store.logins.note(name, address=address, at=now(), ok=True)
    store.logins.expire(from_now(-2 * WINDOW_SECONDS))
    store.sessions.expire(now())
    secret = new_session()
    expires = from_now(here.options.session_seconds)
    session = Session(user=name, csrf=secrets.token_urlsafe(32), made=now(), expires=expires)
    store.sessions.add(fingerprint(secret), session)
    store.audit.note(Entry(at=now(), who=name, act="login"))
    here.meters.signed_in("right")
    return SignedIn(secret, here.options.session_seconds)


def sign_out(here: Service, request: Request) -> None:
    """End the session that the request's cookie names."""
    if secret := request.cookies.get(COOKIE):
        found = here.store.sessions.get(fingerprint(secret))
        here.store.sessions.end(fingerprint(secret))
        if found is not None:
            here.store.audit.note(Entry(at=now(), who=found.user, act="logout"))


def set_cookie(response: Response, signed_in: SignedIn, *, request: Request) -> None:
    """Give the browser its session: no script can read it, and other sites' forms do not send it."""
    response.set_cookie(
        COOKIE,
        signed_in.secret,
        max_age=int(signed_in.seconds),
        path="/",
        httponly=True,
        samesite="lax",
        # A team behind a proxy with TLS has https here; on plain http the cookie would not come back.
        secure=request.url.scheme == "https",
    )


def _guesses_too_often(here: Service, *, name: str, address: str) -> bool:
    since = from_now(-WINDOW_SECONDS)
    logins = here.store.logins
    return (
        logins.failures(name=name, address=address, since=since) >= MOST_HERE
        or logins.failures(name=name, since=since) >= MOST_OF_NAME
        or logins.failures(address=address, since=since) >= MOST_FROM_ADDRESS
    )
