"""Secrets that are shown once and kept as hashes: session ids and API tokens.

They hold 256 random bits, so that one quick hash protects them; only passwords need a slow one.
"""

import hashlib
import secrets

TOKEN_PREFIX = "ts_"


def new_session() -> str:
    return secrets.token_urlsafe(32)


def new_token() -> str:
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def fingerprint(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
