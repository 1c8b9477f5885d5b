"""The tables of people and of what guards the service, as the newest migration leaves them.

Passwords, tokens and sessions are kept as hashes only.
"""

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, String, Table

from touchstone.store.columns import Words
from touchstone.store.schema import metadata

users = Table(
    "users",
    metadata,
    Column("name", Words, primary_key=True),
    Column("role", String(16), nullable=False),
    Column("password", String(255)),
    Column("made", String(40), nullable=False),
    Column("disabled", Boolean, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("hash", String(128), nullable=False, unique=True),
    Column("user_name", ForeignKey("users.name", ondelete="CASCADE"), nullable=False, index=True),
    Column("label", Words, nullable=False),
    Column("made", String(40), nullable=False),
    Column("expires", String(40)),
    Column("revoked", String(40)),
)

sessions = Table(
    "sessions",
    metadata,
    Column("hash", String(128), primary_key=True),
    Column("user_name", ForeignKey("users.name", ondelete="CASCADE"), nullable=False, index=True),
    Column("csrf", String(128), nullable=False),
    Column("made", String(40), nullable=False),
    Column("expires", String(40), nullable=False, index=True),
)

login_attempts = Table(
    "login_attempts",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("name", Words, nullable=False),
    Column("address", String(64), nullable=False),
    Column("at", String(40), nullable=False, index=True),
    Column("ok", Boolean, nullable=False),
)
Index("login_attempts_by_name", login_attempts.c.name, login_attempts.c.at)
Index("login_attempts_by_address", login_attempts.c.address, login_attempts.c.at)

audit = Table(
    "audit",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("at", String(40), nullable=False),
    Column("who", Words, nullable=False),
    Column("act", String(64), nullable=False),
    Column("subject", Words, nullable=False),
    Column("detail", Words, nullable=False),
    sqlite_autoincrement=True,
)
Index("audit_by_who", audit.c.who, audit.c.number)

idempotency = Table(
    "idempotency",
    metadata,
    Column("key", String(255), primary_key=True),
    Column("who", Words, primary_key=True),
    Column("route", String(255), primary_key=True),
    Column("request_hash", String(128), nullable=False),
    Column("status", Integer),
    Column("body", Words),
    Column("made", String(40), nullable=False, index=True),
)

TABLES = (users, tokens, sessions, login_attempts, audit, idempotency)
