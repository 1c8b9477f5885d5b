"""A password -> the argon2id text that is kept of it, and whether another try is the same password."""

import secrets
from functools import cache
from typing import TYPE_CHECKING

from touchstone.core import resource
from touchstone.core.errors import ConfigError

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
