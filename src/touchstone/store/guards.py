"""What guards the service: login attempts, who did what, and writes that may be sent twice."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import and_, delete, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from touchstone.store.database import Database
from touchstone.store.people_schema import audit, idempotency, login_attempts


class Logins:
    """Attempts to log in, kept so that guessing can be slowed down."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, name: str, *, address: str, at: str, ok: bool) -> None:
        with self._database.writing() as connection:
            connection.execute(insert(login_attempts), {"name": name, "address": address, "at": at, "ok": ok})

    def failures(self, *, since: str, name: str | None = None, address: str | None = None) -> int:
        """How many failed since then; with a name or an address, of that one."""
        query = select(func.count()).select_from(login_attempts).where(login_attempts.c.at >= since)
        query = query.where(~login_attempts.c.ok)
        for column, value in ((login_attempts.c.name, name), (login_attempts.c.address, address)):
            query = query if value is None else query.where(column == value)
        with self._database.reading() as connection:
            return connection.scalar(query) or 0

    def has_succeeded(self, name: str, *, address: str, since: str) -> bool:
        """Whether the name has signed in from the address since then."""
        table = login_attempts.c
        known = select(table.number).where(table.name == name, table.address == address, table.at >= since, table.ok)
        with self._database.reading() as connection:
            return connection.execute(known.limit(1)).first() is not None

    def forgive(self, name: str, *, address: str) -> None:
        """Drops a person's failures at an address, after a login from there that succeeded."""
        with self._database.writing() as connection:
            here = (login_attempts.c.name == name, login_attempts.c.address == address, ~login_attempts.c.ok)
            connection.execute(delete(login_attempts).where(*here))

    def expire(self, before: str, *, successes: str) -> None:
        """Drops failures from before one time and successes from before another."""
        table = login_attempts.c
        old = or_(and_(table.at < before, ~table.ok), table.at < successes)
        with self._database.writing() as connection:
            connection.execute(delete(login_attempts).where(old))


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One thing somebody did. `subject` and `detail` name things by id; customers' words have no place here."""

    at: str
    who: str
    act: str
    subject: str = ""
    detail: str = ""
    number: int | None = None


class Audit:
    """Who did what and when; entries are added and read, nothing else."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, entry: AuditEntry) -> None:
        row = asdict(entry)
        del row["number"]
        with self._database.writing() as connection:
            connection.execute(insert(audit), row)

    def page(self, *, before: int | None = None, limit: int = 50, who: str | None = None) -> tuple[AuditEntry, ...]:
        """The newest first, from the one before the entry numbered `before`."""
        query = select(audit).order_by(audit.c.number.desc()).limit(limit)
        if before is not None:
            query = query.where(audit.c.number < before)
        if who is not None:
            query = query.where(audit.c.who == who)
        with self._database.reading() as connection:
            return tuple(AuditEntry(**row._mapping) for row in connection.execute(query))


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A write that was sent before: for which request, and its answer once it is `done`."""

    request_hash: str
    status: int | None
    body: str | None

    @property
    def done(self) -> bool:
        return self.status is not None


class Idempotency:
    """Keys of writes, so that one that is sent twice is done once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, key: str, *, who: str, route: str, request_hash: str, at: str) -> KeptAnswer | None:
        """None: the write is yours to do; otherwise what is known of the one that has this key."""
        row = {"key": key, "who": who, "route": route, "request_hash": request_hash, "made": at}
        with self._database.writing() as connection:
            kinds: dict[str, Any] = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}
            adding = kinds[connection.dialect.name](idempotency).on_conflict_do_nothing()
            if connection.execute(adding.returning(idempotency.c.key), row).first() is not None:
                return None
            found = connection.execute(select(idempotency).where(*_here(key, who, route))).one()
            return KeptAnswer(found.request_hash, found.status, found.body)

    def finish(self, key: str, *, who: str, route: str, status: int, body: str) -> None:
        """Keeps the answer for whoever sends the same again."""
        with self._database.writing() as connection:
            here = update(idempotency).where(*_here(key, who, route))
            connection.execute(here.values(status=status, body=body))

    def abandon(self, key: str, *, who: str, route: str) -> None:
        """Frees the key of a write that failed."""
        with self._database.writing() as connection:
            connection.execute(delete(idempotency).where(*_here(key, who, route)))

    def expire(self, before: str) -> None:
        with self._database.writing() as connection:
            connection.execute(delete(idempotency).where(idempotency.c.made < before))


def _here(key: str, who: str, route: str) -> tuple[Any, Any, Any]:
    return idempotency.c.key == key, idempotency.c.who == who, idempotency.c.route == route
