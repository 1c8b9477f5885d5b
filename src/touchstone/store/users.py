"""Users of the service, their tokens and sessions, and what guards it: logins, the audit log, repeated writes.

Passwords, tokens and sessions come in as hashes and stay hashes.
"""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import and_, delete, func, insert, or_, select, update

from touchstone.core.errors import ReviewError
from touchstone.store.database import Database
from touchstone.store.tables import Words, from_row, metadata, needed, to_row

users = sa.Table(
    "users",
    metadata,
    sa.Column("name", Words, primary_key=True),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("password", sa.String(255)),
    sa.Column("made", sa.String(40), nullable=False),
    sa.Column("disabled", sa.Boolean, nullable=False),
)

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("hash", sa.String(128), nullable=False, unique=True),
    sa.Column("user_name", sa.ForeignKey("users.name", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("label", Words, nullable=False),
    sa.Column("made", sa.String(40), nullable=False),
    sa.Column("expires", sa.String(40)),
    sa.Column("revoked", sa.String(40)),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("hash", sa.String(128), primary_key=True),
    sa.Column("user_name", sa.ForeignKey("users.name", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("csrf", sa.String(128), nullable=False),
    sa.Column("made", sa.String(40), nullable=False),
    sa.Column("expires", sa.String(40), nullable=False, index=True),
)

invites = sa.Table(
    "invites",
    metadata,
    sa.Column("hash", sa.String(128), primary_key=True),
    sa.Column("user_name", sa.ForeignKey("users.name", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("made", sa.String(40), nullable=False),
    sa.Column("expires", sa.String(40), nullable=False),
)

login_attempts = sa.Table(
    "login_attempts",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("name", Words, nullable=False),
    sa.Column("address", sa.String(64), nullable=False),
    sa.Column("at", sa.String(40), nullable=False, index=True),
    sa.Column("ok", sa.Boolean, nullable=False),
)
sa.Index("login_attempts_by_name", login_attempts.c.name, login_attempts.c.at)
sa.Index("login_attempts_by_address", login_attempts.c.address, login_attempts.c.at)

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("at", sa.String(40), nullable=False),
    sa.Column("who", Words, nullable=False),
    sa.Column("act", sa.String(64), nullable=False),
    *needed(Words, "subject", "detail"),
    sqlite_autoincrement=True,
)
sa.Index("audit_by_who", audit.c.who, audit.c.number)

idempotency = sa.Table(
    "idempotency",
    metadata,
    sa.Column("key", sa.String(255), primary_key=True),
    sa.Column("who", Words, primary_key=True),
    sa.Column("route", sa.String(255), primary_key=True),
    sa.Column("request_hash", sa.String(128), nullable=False),
    sa.Column("status", sa.Integer),
    sa.Column("body", Words),
    sa.Column("made", sa.String(40), nullable=False, index=True),
)

# Each may do what those before it may.
ROLES = ("viewer", "reviewer", "lead")
MAX_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """One person, with a role; a disabled one keeps the reviews and can do nothing."""

    name: str
    role: str
    made: str
    disabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """A program's way in, as the user it belongs to. `id` names it; the secret itself is not kept."""

    id: str
    user: str
    label: str
    made: str
    expires: str | None = None
    revoked: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A person's open login."""

    user: str
    csrf: str
    made: str
    expires: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One thing somebody did. `subject` and `detail` name things by id; customers' words have no place here."""

    at: str
    who: str
    act: str
    subject: str = ""
    detail: str = ""
    number: int | None = None


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A write that was sent before: for which request, and its answer once it is `done`."""

    request_hash: str
    status: int | None
    body: str | None

    @property
    def done(self) -> bool:
        return self.status is not None


class Users:
    """People by name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, user: User, *, password_hash: str | None = None) -> None:
        _check_role(user.role)
        if not user.name.strip() or len(user.name) > MAX_NAME or not user.name.isprintable():
            raise ReviewError(f"a user's name has 1 to {MAX_NAME} printable characters")
        if not self._database.add_missing(users, to_row(users, user, password=password_hash)):
            raise ReviewError(f"there is a user '{user.name}' already: give another name", kind="conflict")

    def get(self, name: str) -> User | None:
        row = self._database.first(select(users).where(users.c.name == name))
        return None if row is None else from_row(User, row)

    def list(self) -> tuple[User, ...]:
        return tuple(from_row(User, row) for row in self._database.rows(select(users).order_by(users.c.name)))

    def password_hash(self, name: str) -> str | None:
        found: str | None = self._database.scalar(select(users.c.password).where(users.c.name == name))
        return found

    def set_password(self, name: str, hash: str) -> None:
        """The new password ends every open login of this person, and their invites."""
        self._update(name, ends_sessions=True, password=hash)

    def set_role(self, name: str, role: str) -> None:
        _check_role(role)
        self._update(name, role=role)

    def disable(self, name: str) -> None:
        self._update(name, ends_sessions=True, disabled=True)

    def enable(self, name: str) -> None:
        self._update(name, disabled=False)

    def _update(self, name: str, *, ends_sessions: bool = False, **values: Any) -> None:
        with self._database.writing():
            if not self._database.write(update(users).where(users.c.name == name).values(**values)):
                raise ReviewError(f"there is no user '{name}': touchstone user list shows them", kind="unknown")
            if ends_sessions:
                for table in (sessions, invites):
                    self._database.write(delete(table).where(table.c.user_name == name))


class Tokens:
    """Tokens by the hash of their secret."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, token: ApiToken, *, hash: str) -> None:
        with self._database.writing():
            if self._database.scalar(select(users.c.name).where(users.c.name == token.user)) is None:
                raise ReviewError(f"there is no user '{token.user}': touchstone user add makes one", kind="unknown")
            self._database.write(insert(tokens), to_row(tokens, token, hash=hash, user_name=token.user))

    def by_hash(self, hash: str) -> ApiToken | None:
        """The token, whether it still holds or not: `expires` and `revoked` say."""
        row = self._database.first(select(tokens).where(tokens.c.hash == hash))
        return None if row is None else _token(row)

    def list(self, user: str | None = None) -> tuple[ApiToken, ...]:
        query = select(tokens).order_by(tokens.c.made, tokens.c.id)
        rows = self._database.rows(query if user is None else query.where(tokens.c.user_name == user))
        return tuple(map(_token, rows))

    def revoke(self, id: str, *, at: str) -> None:
        """Takes the token from the user; one that was revoked before keeps that time."""
        revoked = func.coalesce(tokens.c.revoked, at)
        if not self._database.write(update(tokens).where(tokens.c.id == id).values(revoked=revoked)):
            remedy = "touchstone user token NAME --list shows them"
            raise ReviewError(f"there is no token '{id}': {remedy}", kind="unknown")


class Sessions:
    """Open logins by the hash of their secret."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, hash: str, session: Session) -> None:
        self._database.write(insert(sessions), to_row(sessions, session, hash=hash, user_name=session.user))

    def get(self, hash: str) -> Session | None:
        row = self._database.first(select(sessions).where(sessions.c.hash == hash))
        return None if row is None else from_row(Session, row, user=row.user_name)

    def touch(self, hash: str, *, expires: str) -> None:
        self._database.write(update(sessions).where(sessions.c.hash == hash).values(expires=expires))

    def end(self, hash: str) -> None:
        self._database.write(delete(sessions).where(sessions.c.hash == hash))

    def end_others(self, user: str, *, keep: str) -> None:
        """Ends every login of this person but the one of that hash."""
        self._database.write(delete(sessions).where(sessions.c.user_name == user, sessions.c.hash != keep))

    def expire(self, now: str) -> None:
        """Drops those that ran out."""
        self._database.write(delete(sessions).where(sessions.c.expires <= now))


class Invites:
    """One-time links by the hash of their secret."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, hash: str, *, user: str, made: str, expires: str) -> None:
        """An invite of this person, in place of those they had."""
        with self._database.writing():
            self._database.write(delete(invites).where(or_(invites.c.user_name == user, invites.c.expires <= made)))
            row = {"hash": hash, "user_name": user, "made": made, "expires": expires}
            self._database.write(insert(invites), row)

    def user(self, hash: str, *, now: str) -> str | None:
        """Whom the invite is for, while it is valid and they have access."""
        valid = select(users.c.name).join(invites, invites.c.user_name == users.c.name)
        found: str | None = self._database.scalar(
            valid.where(invites.c.hash == hash, invites.c.expires > now, ~users.c.disabled)
        )
        return found

    def take(self, hash: str) -> bool:
        """Use the invite up; False when somebody was faster."""
        return bool(self._database.write(delete(invites).where(invites.c.hash == hash)))


class Logins:
    """Attempts to log in, kept so that guessing can be slowed down."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, name: str, *, address: str, at: str, ok: bool) -> None:
        self._database.write(insert(login_attempts), {"name": name, "address": address, "at": at, "ok": ok})

    def failures(self, *, since: str, name: str | None = None, address: str | None = None) -> int:
        """How many failed since then; with a name or an address, of that one."""
        query = select(func.count()).where(login_attempts.c.at >= since, ~login_attempts.c.ok)
        for column, value in ((login_attempts.c.name, name), (login_attempts.c.address, address)):
            query = query if value is None else query.where(column == value)
        count: int = self._database.scalar(query)
        return count

    def has_succeeded(self, name: str, *, address: str, since: str) -> bool:
        """Whether the name has signed in from the address since then."""
        table = login_attempts.c
        known = select(table.number).where(table.name == name, table.address == address, table.at >= since, table.ok)
        return self._database.first(known.limit(1)) is not None

    def forgive(self, name: str, *, address: str) -> None:
        """Drops a person's failures at an address, after a login from there that succeeded."""
        here = (login_attempts.c.name == name, login_attempts.c.address == address, ~login_attempts.c.ok)
        self._database.write(delete(login_attempts).where(*here))

    def expire(self, before: str, *, successes: str) -> None:
        """Drops failures from before one time and successes from before another."""
        table = login_attempts.c
        old = or_(and_(table.at < before, ~table.ok), table.at < successes)
        self._database.write(delete(login_attempts).where(old))


class Audit:
    """The audit log: entries are added and read, nothing else."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, entry: AuditEntry) -> None:
        self._database.write(insert(audit), to_row(audit, entry))

    def page(self, *, before: int | None = None, limit: int = 50, who: str | None = None) -> tuple[AuditEntry, ...]:
        """The newest first, from the one before the entry numbered `before`."""
        query = select(audit).order_by(audit.c.number.desc()).limit(limit)
        if before is not None:
            query = query.where(audit.c.number < before)
        if who is not None:
            query = query.where(audit.c.who == who)
        return tuple(from_row(AuditEntry, row) for row in self._database.rows(query))


class Idempotency:
    """Keys of writes, so that one that is sent twice is done once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, key: str, *, who: str, route: str, request_hash: str, at: str) -> KeptAnswer | None:
        """None: the write is yours to do; otherwise what is known of the one that has this key."""
        row = {"key": key, "who": who, "route": route, "request_hash": request_hash, "made": at}
        with self._database.writing():
            if self._database.add_missing(idempotency, row):
                return None
            found = self._database.rows(select(idempotency).where(_here(key, who, route)))[0]
            return from_row(KeptAnswer, found)

    def finish(self, key: str, *, who: str, route: str, status: int, body: str) -> None:
        """Keeps the answer for whoever sends the same again."""
        self._database.write(update(idempotency).where(_here(key, who, route)).values(status=status, body=body))

    def abandon(self, key: str, *, who: str, route: str) -> None:
        """Frees the key of a write that failed."""
        self._database.write(delete(idempotency).where(_here(key, who, route)))

    def expire(self, before: str) -> None:
        self._database.write(delete(idempotency).where(idempotency.c.made < before))


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise ReviewError(f"role '{role}' is not known: allowed are {', '.join(ROLES)}")


def _token(row: sa.Row[Any]) -> ApiToken:
    return from_row(ApiToken, row, user=row.user_name)


def _here(key: str, who: str, route: str) -> sa.ColumnElement[bool]:
    return and_(idempotency.c.key == key, idempotency.c.who == who, idempotency.c.route == route)
