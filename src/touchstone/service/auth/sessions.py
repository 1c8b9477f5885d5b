"""A name and a password -> a session in the store and its cookie, for those who do not guess too often.

Log-ins that failed decide who has to wait before the next. One who signs in where they did before waits for no other.
"""

import secrets
import threading
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from touchstone.app.passwords import verify_password
from touchstone.service.auth.guard import COOKIE
from touchstone.service.auth.principal import fingerprint, new_session
from touchstone.service.context import Service, from_now, now
from touchstone.store.users import AuditEntry, Logins, Session

_LONGEST_NAME = 200

# Wrong passwords within the window that a name has from one address.
WINDOW_SECONDS = 15 * 60.0
MOST_OF_PAIR = 5
# Of a name from everywhere, and from an address under every name: far more than people mistype. Then only those wait
# who have not signed in under the name from the address lately.
MOST_OF_NAME = 50
MOST_FROM_ADDRESS = 300
KNOWN_SECONDS = 30 * 24 * 3600.0

# What the store keeps of an address.
_LONGEST_PLACE = 64

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


def must_wait(logins: Logins, *, name: str, place: str) -> bool:
    """Whether a name has to wait at a place; the right password does not help then."""
    since = from_now(-WINDOW_SECONDS)
    if logins.failures(name=name, address=place, since=since) >= MOST_OF_PAIR:
        return True
    if logins.has_succeeded(name, address=place, since=from_now(-KNOWN_SECONDS)):
        return False
    of_name, from_address = logins.failures(name=name, since=since), logins.failures(address=place, since=since)
    return of_name >= MOST_OF_NAME or from_address >= MOST_FROM_ADDRESS


def expire(logins: Logins) -> None:
    """Forget what no longer counts."""
    logins.expire(from_now(-2 * WINDOW_SECONDS), successes=from_now(-KNOWN_SECONDS))


def place_of(address: str) -> str:
    """What an address is counted under: of IPv6 its network of 64 bits, all of which one machine may have."""
    try:
        found = ip_address(address)
    except ValueError:
        return address[:_LONGEST_PLACE]
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ip_network((int(found), 64), strict=False))
    return str(found)
