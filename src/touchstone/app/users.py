"""Users, their passwords and tokens: what the command line and the service do with them, noted in the audit log.

Of a password its argon2id text is kept. Session ids and API tokens are shown once and kept as hashes: they hold 256
random bits, so that one quick hash protects them, where passwords need a slow one.
"""

import hashlib
import secrets
from functools import cache
from typing import TYPE_CHECKING

from touchstone.app.audit import from_now, note, now
from touchstone.core import resource
from touchstone.core.errors import ConfigError, ReviewError
from touchstone.store.runs import Store
from touchstone.store.users import ApiToken, User

if TYPE_CHECKING:
    from argon2 import PasswordHasher

# NIST SP 800-63B asks for at least 8 and for room up to 64, and to refuse common passwords, repetitions and the user's
# name; a longer one only costs time.
LEAST_LENGTH = 10
MOST_LENGTH = 256
LEAST_DIFFERENT = 5
LEAST_BESIDE_NAME = 6
_COMMON = "common_passwords.txt"
_REMEDY = "take a few words in a row, which are easy to keep in mind"
_TOKEN_PREFIX = "ts_"
TOKEN_DAYS = 365
INVITE_DAYS = 7


def add_user(store: Store, name: str, *, role: str, password: str, by: str) -> None:
    """A new user; ConfigError for a weak password, ReviewError for a name or role that cannot be."""
    name = name.strip()
    store.users.add(User(name=name, role=role, made=now()), password_hash=hash_password(password, name=name))
    note(store, by, f"user added as {role}", name)


def set_password(store: Store, name: str, password: str, *, by: str) -> None:
    """Another password; whoever was signed in under the old one no longer is."""
    store.users.set_password(name, hash_password(password, name=name))
    note(store, by, "password set", name)


def invite_user(store: Store, name: str, *, role: str | None = None, by: str) -> str:
    """The secret of a one-time link with which the user chooses a password; with a role the user is a new one."""
    name = name.strip()
    if role is not None:
        store.users.add(User(name=name, role=role, made=now()))
        note(store, by, f"user added as {role}", name)
    elif store.users.get(name) is None:
        raise ReviewError(f"there is no user '{name}'", kind="unknown")
    secret = secrets.token_urlsafe(32)
    store.invites.add(fingerprint(secret), user=name, made=now(), expires=from_now(INVITE_DAYS * 24 * 3600.0))
    note(store, by, "user invited", name)
    return secret


def accept_invite(store: Store, secret: str, password: str) -> str | None:
    """The user whose password it is from now on; None when the link is not valid, ConfigError for a weak password."""
    hash = fingerprint(secret)
    name = store.invites.user(hash, now=now())
    if name is None:
        return None
    kept = hash_password(password, name=name)
    if not store.invites.take(hash):
        return None
    store.users.set_password(name, kept)
    note(store, name, "invite accepted", name)
    return name


def set_role(store: Store, name: str, role: str, *, by: str) -> None:
    """Another role."""
    store.users.set_role(name, role)
    note(store, by, f"role set to {role}", name)


def disable_user(store: Store, name: str, *, by: str) -> None:
    """Remove a user's access and end their sessions; their reviews stay."""
    store.users.disable(name)
    note(store, by, "user disabled", name)


def enable_user(store: Store, name: str, *, by: str) -> None:
    """Restore a user's access."""
    store.users.enable(name)
    note(store, by, "user enabled", name)


def add_token(store: Store, name: str, *, label: str, by: str, days: int = TOKEN_DAYS) -> str:
    """The secret of a new token for a program; only its hash is kept."""
    secret = _TOKEN_PREFIX + secrets.token_urlsafe(32)
    id = secrets.token_hex(4)
    token = ApiToken(id=id, user=name, label=label.strip(), made=now(), expires=from_now(days * 24 * 3600.0))
    store.tokens.add(token, hash=fingerprint(secret))
    note(store, by, f"token {id} added", name)
    return secret


def revoke_token(store: Store, id: str, *, by: str) -> None:
    """End a token."""
    store.tokens.revoke(id, at=now())
    note(store, by, "token revoked", id)


def fingerprint(secret: str) -> str:
    """What is kept of a session id or a token."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def hash_password(password: str, *, name: str) -> str:
    """What is kept of the password of the user `name`; ConfigError, which says what is wanted, for a weak one."""
    if problem := _weakness(password, name=name):
        raise ConfigError(f"{problem}: {_REMEDY}")
    return _hasher().hash(password)


def _weakness(password: str, *, name: str) -> str | None:
    """Why it would soon be guessed."""
    if not LEAST_LENGTH <= len(password) <= MOST_LENGTH:
        return f"the password has {len(password)} characters, allowed are {LEAST_LENGTH} to {MOST_LENGTH}"
    folded = password.casefold()
    if (different := len(set(folded))) < LEAST_DIFFERENT:
        return f"the password has {different} different characters, at least {LEAST_DIFFERENT} are needed"
    common = resource.words(_COMMON)
    if folded in common or _without_end(folded) in common:
        return "the password is one of those that are tried first"
    if name and len(folded.replace(name.casefold(), "")) < LEAST_BESIDE_NAME:
        return f"the password is little but the user's name, at least {LEAST_BESIDE_NAME} other characters are needed"
    return None


def _without_end(text: str) -> str:
    """The text without the figures and signs behind its last letter."""
    last = next((at for at in range(len(text), 0, -1) if text[at - 1].isalpha()), 0)
    return text[:last]


def verify_password(kept: str | None, password: str) -> bool:
    """Whether it is the password. Without one that is kept it takes as long and is False: a name is not given away."""
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        _hasher().verify(kept or _nobody(), password[:MOST_LENGTH])
    except (VerificationError, InvalidHashError):
        return False
    return bool(kept)


@cache
def _hasher() -> "PasswordHasher":
    try:
        from argon2 import PasswordHasher
    except ImportError:
        raise ConfigError("passwords need argon2-cffi: pip install 'touchstone-eval[serve]'") from None
    # The library's defaults are RFC 9106's second recommended choice: 64 MiB, three passes.
    return PasswordHasher()


@cache
def _nobody() -> str:
    return _hasher().hash(secrets.token_hex())
