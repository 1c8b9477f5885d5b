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
from touchstone.service.auth.throttle import expire, must_wait, place_of
from touchstone.service.clock import from_now, now
from touchstone.service.context import Service
from touchstone.store.guards import AuditEntry
from touchstone.store.users import Session

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
    name, place = name[:_LONGEST_NAME], place_of(address)
    # Whoever has to wait takes no room from others.
    if must_wait(here.store.logins, name=name, place=place) or not _waiting.acquire(blocking=False):
        here.meters.signed_in("wait")
        return "wait"
    try:
        return _sign_in(here, name=name, password=password, place=place)
    finally:
        _waiting.release()


def _sign_in(here: Service, *, name: str, password: str, place: str) -> SignedIn | Problem:
    store = here.store
    # A try counts as failed until it has not: many at once are not let through while the first is looked at.
    with _counting:
        if must_wait(store.logins, name=name, place=place):
            here.meters.signed_in("wait")
            return "wait"
        store.logins.note(name, address=place, at=now(), ok=False)
        expire(store.logins)
    user = store.users.get(name)
    with _hashing:
        is_right = verify_password(store.users.password_hash(name) if user else None, password)
    if user is None or not is_right or user.disabled:
        here.meters.signed_in("wrong")
        store.audit.note(AuditEntry(at=now(), who=name if user else "", act="login refused"))
        return "wrong"
    store.logins.forgive(name, address=place)
    store.logins.note(name, address=place, at=now(), ok=True)
    store.sessions.expire(now())
    secret = new_session()
    expires = from_now(here.options.session_seconds)
    session = Session(user=name, csrf=secrets.token_urlsafe(32), made=now(), expires=expires)
    store.sessions.add(fingerprint(secret), session)
    store.audit.note(AuditEntry(at=now(), who=name, act="login"))
    here.meters.signed_in("right")
    return SignedIn(secret, here.options.session_seconds)


def sign_out(here: Service, request: Request) -> None:
    """End the session that the request's cookie names."""
    if secret := request.cookies.get(COOKIE):
        found = here.store.sessions.get(fingerprint(secret))
        here.store.sessions.end(fingerprint(secret))
        if found is not None:
            here.store.audit.note(AuditEntry(at=now(), who=found.user, act="logout"))


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
