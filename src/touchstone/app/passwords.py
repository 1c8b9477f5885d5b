"""A password -> the argon2id text that is kept of it, and whether another try is the same password."""

import secrets
from functools import cache
from typing import TYPE_CHECKING

from touchstone.core.errors import ConfigError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

# NIST SP 800-63B asks for at least 8 and for room up to 64; a longer one only costs time.
LEAST_LENGTH = 10
MOST_LENGTH = 256


def hash_password(password: str) -> str:
    """What is kept of a password; ConfigError when it is too short or too long to be one."""
    if not LEAST_LENGTH <= len(password) <= MOST_LENGTH:
        raise ConfigError(
            f"the password has {len(password)} characters, allowed are {LEAST_LENGTH} to {MOST_LENGTH}: "
            "a few words in a row are easy to keep in mind"
        )
    return _hasher().hash(password)


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
