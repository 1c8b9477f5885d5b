"""People who may use the service, their tokens and their sessions. Secrets come in as hashes and stay hashes."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Row, delete, insert, select, update

from touchstone.core.errors import ReviewError
from touchstone.store.database import Database
from touchstone.store.people_schema import sessions, tokens, users

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


class Users:
    """People by name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, user: User, *, password_hash: str | None = None) -> None:
        _check_role(user.role)
        if not user.name.strip() or len(user.name) > MAX_NAME or not user.name.isprintable():
            raise ReviewError(f"a user's name has 1 to {MAX_NAME} printable characters")
        with self._database.writing() as connection:
            if connection.scalar(select(users.c.name).where(users.c.name == user.name)) is not None:
                raise ReviewError(f"there is a user '{user.name}' already: give another name", kind="conflict")
            connection.execute(insert(users), {**asdict(user), "password": password_hash})

    def get(self, name: str) -> User | None:
        with self._database.reading() as connection:
            row = connection.execute(select(users).where(users.c.name == name)).first()
        return None if row is None else _user(row)

    def list(self) -> tuple[User, ...]:
        with self._database.reading() as connection:
            return tuple(_user(row) for row in connection.execute(select(users).order_by(users.c.name)))

    def password_hash(self, name: str) -> str | None:
        with self._database.reading() as connection:
            found: str | None = connection.scalar(select(users.c.password).where(users.c.name == name))
            return found

    def set_password(self, name: str, hash: str) -> None:
        """The new password ends every open login of this person."""
        self._update(name, ends_sessions=True, password=hash)

    def set_role(self, name: str, role: str) -> None:
        _check_role(role)
        self._update(name, role=role)

    def disable(self, name: str) -> None:
        self._update(name, ends_sessions=True, disabled=True)

    def enable(self, name: str) -> None:
        self._update(name, disabled=False)

    def _update(self, name: str, *, ends_sessions: bool = False, **values: Any) -> None:
        with self._database.writing() as connection:
            changed = connection.execute(update(users).where(users.c.name == name).values(**values))
            if not changed.rowcount:
                raise ReviewError(f"there is no user '{name}': touchstone user list shows them", kind="unknown")
            if ends_sessions:
                connection.execute(delete(sessions).where(sessions.c.user_name == name))


class Tokens:
    """Tokens by the hash of their secret."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, token: ApiToken, *, hash: str) -> None:
        row = {**asdict(token), "hash": hash, "user_name": token.user}
        del row["user"]
        with self._database.writing() as connection:
            if connection.scalar(select(users.c.name).where(users.c.name == token.user)) is None:
                raise ReviewError(f"there is no user '{token.user}': touchstone user add makes one", kind="unknown")
            connection.execute(insert(tokens), row)

    def by_hash(self, hash: str) -> ApiToken | None:
        """The token, whether it still holds or not: `expires` and `revoked` say."""
        with self._database.reading() as connection:
            row = connection.execute(select(tokens).where(tokens.c.hash == hash)).first()
        return None if row is None else _token(row)

    def list(self, user: str | None = None) -> tuple[ApiToken, ...]:
        query = select(tokens).order_by(tokens.c.made, tokens.c.id)
        with self._database.reading() as connection:
            rows = connection.execute(query if user is None else query.where(tokens.c.user_name == user))
            return tuple(_token(row) for row in rows)

    def revoke(self, id: str, *, at: str) -> None:
        with self._database.writing() as connection:
            here = (tokens.c.id == id, tokens.c.revoked.is_(None))
            connection.execute(update(tokens).where(*here).values(revoked=at))
            if connection.scalar(select(tokens.c.id).where(tokens.c.id == id)) is None:
                remedy = "touchstone user token NAME --list shows them"
                raise ReviewError(f"there is no token '{id}': {remedy}", kind="unknown")


class Sessions:
    """Open logins by the hash of their secret."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, hash: str, session: Session) -> None:
        row = {**asdict(session), "hash": hash, "user_name": session.user}
        del row["user"]
        with self._database.writing() as connection:
            connection.execute(insert(sessions), row)

    def get(self, hash: str) -> Session | None:
        with self._database.reading() as connection:
            row = connection.execute(select(sessions).where(sessions.c.hash == hash)).first()
        if row is None:
            return None
        return Session(user=row.user_name, csrf=row.csrf, made=row.made, expires=row.expires)

    def touch(self, hash: str, *, expires: str) -> None:
        with self._database.writing() as connection:
            connection.execute(update(sessions).where(sessions.c.hash == hash).values(expires=expires))

    def end(self, hash: str) -> None:
        self._delete(sessions.c.hash == hash)

    def end_all(self, user: str) -> None:
        self._delete(sessions.c.user_name == user)

    def expire(self, now: str) -> None:
        """Drops those that ran out."""
        self._delete(sessions.c.expires <= now)

    def _delete(self, condition: Any) -> None:
        with self._database.writing() as connection:
            connection.execute(delete(sessions).where(condition))


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise ReviewError(f"role '{role}' is not known: allowed are {', '.join(ROLES)}")


def _user(row: Row[Any]) -> User:
    return User(name=row.name, role=row.role, made=row.made, disabled=row.disabled)


def _token(row: Row[Any]) -> ApiToken:
    return ApiToken(
        id=row.id, user=row.user_name, label=row.label, made=row.made, expires=row.expires, revoked=row.revoked
    )
