"""A path or URL -> an open database whose transactions end whole or not at all.

SQLite writes ahead (WAL), so that a run is read while another is written. `synchronous` is NORMAL: what was committed
survives the death of the process at any moment; after a power cut the file is sound, and at most the last results
are scored again when the run goes on. FULL would add the disk's flush, a few milliseconds, to every result.
"""

import glob
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, Executable, Row, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from touchstone.core.errors import StoreError
from touchstone.store.private import make_directory, make_file, take_from_others

# The directory that is ours wherever it is, and the end of the name that a store is kept under when it is replaced.
HOME = ".touchstone"
BEFORE_RESTORE = ".before-restore"
# How long a write waits for another process's.
PATIENCE_SECONDS = 30.0
_FORMS = "a path, sqlite:///path or postgresql://user@host/name"
# SQLite's result codes by the start of their names (sqlite.org/rescode.html).
_SQLITE = (
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        "is locked by another process: wait until that has finished, or end it, and try again",
    ),
    (("SQLITE_FULL",), "cannot grow, the disk is full: free some space and try again; what was stored before is kept"),
    (
        ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH"),
        "cannot be opened for writing: give write permission for the file and its directory, or name another store",
    ),
    (("SQLITE_NOTADB",), "is not a database: name another file for the store, or move this one away"),
    (("SQLITE_CORRUPT",), "is damaged: restore it from a backup, or move it away to begin a new one"),
    (("SQLITE_IOERR",), "cannot be read or written: check the disk's free space and health, and try again"),
)
# PostgreSQL's SQLSTATE codes by their starts (postgresql.org/docs/15/errcodes-appendix.html).
_POSTGRESQL = (
    (("55P03", "40P01"), "is locked by another process: wait until that has finished, and try again"),
    (("53100",), "cannot grow, the server's disk is full: free some space and try again; what was stored is kept"),
    (("53",), "is short of resources: have its administrator look at the server, and try again"),
    (("25006", "42501"), "may not be written by this user: grant the right to create and write tables"),
    (("28",), "refuses this user: check the user name and password in the URL"),
    (("3D",), "does not exist: create the database, or correct its name in the URL"),
    (("57P", "08"), "is not reachable: check that the server runs and that host and port are right"),
)
_UNREACHABLE = "is not reachable: check that the server runs and that user, host, port and name in the URL are right"
_VANISHED = "was moved or deleted while it was in use: put it back, or run the command again to begin a new one"


class Database:
    """An open database. `place` names it in messages, without a password.

    A thread has one transaction at a time: whatever it does inside of `reading` or `writing` is part of that, and any
    other statement is a transaction of its own.
    """

    def __init__(self, engine: Engine, *, place: str, path: Path | None = None) -> None:
        self.place = place
        self._engine = engine
        self._writer = engine.execution_options(writes=True)
        self._path = path
        self._file = None if path is None else _identity(path)
        self._current = threading.local()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        if (current := self._connection) is not None:
            yield current
            return
        with faults(self.place):
            self._check_there()
            with self._engine.connect() as connection, self._made_current(connection):
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction, with SQLite's write lock from its start; when the outermost returns, it is stored."""
        if self.is_writing and (current := self._connection) is not None:
            yield current
            return
        with faults(self.place):
            self._check_there()
            with self._writer.begin() as connection, self._made_current(connection):
                yield connection
            self._check_there()

    @property
    def is_writing(self) -> bool:
        """Whether this thread is in a writing transaction."""
        current = self._connection
        return current is not None and bool(current.get_execution_options().get("writes", False))

    def rows(self, query: Executable) -> Sequence[Any]:
        with self.reading() as connection:
            return connection.execute(query).all()

    def first(self, query: Executable) -> Row[Any] | None:
        with self.reading() as connection:
            return connection.execute(query).first()

    def scalar(self, query: Executable) -> Any:
        """The first column of the first row; None where there is no row."""
        with self.reading() as connection:
            return connection.scalar(query)

    def write(self, statement: Executable, rows: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None) -> int:
        """Inserts the rows, or updates or deletes; how many rows that were."""
        with self.writing() as connection:
            return connection.execute(statement, rows).rowcount

    def add_missing(self, table: Table, rows: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> int:
        """Inserts the rows whose key is not there yet; how many those were."""
        with self.writing() as connection:
            return len(connection.execute(_adding(table, dialect=connection.dialect.name), rows).all())

    @property
    def _connection(self) -> Connection | None:
        found: Connection | None = getattr(self._current, "connection", None)
        return found

    @contextmanager
    def _made_current(self, connection: Connection) -> Iterator[None]:
        before, self._current.connection = self._connection, connection
        try:
            yield
        finally:
            self._current.connection = before

    @contextmanager
    def restructuring(self) -> Iterator[Connection]:
        """A writing transaction in which tables can be rebuilt: SQLite would empty those that refer to them."""
        with faults(self.place), self._writer.connect() as connection, self._made_current(connection):
            raw = connection.connection.dbapi_connection
            is_sqlite = connection.dialect.name == "sqlite"
            if is_sqlite:
                _pragma(raw, "foreign_keys = OFF")
            try:
                with connection.begin():
                    yield connection
            finally:
                if is_sqlite:
                    _pragma(raw, "foreign_keys = ON")

    def scrub(self) -> None:
        """Writes SQLite's file anew, without what was deleted or overwritten, and empties the file written ahead.

        `secure_delete` is not enough: where SQLite moves rows to another page, copies may stay behind in unused space.
        """
        if self._path is None:
            return
        with faults(self.place), self._engine.connect() as connection:
            cursor = connection.connection.cursor()
            cursor.execute("VACUUM")
            is_busy, *_ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            cursor.close()
        if is_busy:
            raise StoreError(
                f"the text is erased, but another process reads the store {self.place} as it was before, and its files "
                "may hold the text still: erase it again when that process has ended"
            )

    def close(self) -> None:
        self._engine.dispose()

    def _check_there(self) -> None:
        """SQLite writes on into a file that has been deleted, where nobody finds it again."""
        if self._path is not None and _identity(self._path) != self._file:
            raise vanished(self.place)


@cache
def _adding(table: Table, *, dialect: str) -> Executable:
    """Made once: a run adds its cases one at a time, and building a statement takes longer than the database does."""
    inserting: Any = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}[dialect]
    found: Executable = inserting(table).on_conflict_do_nothing().returning(*table.primary_key)
    return found


def open_database(place: str, *, creates: bool = True) -> Database:
    """The database at a path or URL. With `creates`, a SQLite file and its directories are made when missing."""
    url = _url(place)
    if url.get_backend_name() == "sqlite":
        return _open_sqlite(Path(url.database or ""), creates=creates)
    if url.get_backend_name() in ("postgresql", "postgres"):
        return _open_postgresql(url.set(drivername="postgresql+psycopg"))
    raise StoreError(f"the store {url.render_as_string()} is of a kind that is not known: allowed is {_FORMS}")


def _url(place: str) -> URL:
    if "://" not in place:
        return URL.create("sqlite", database=place)
    try:
        return make_url(place)
    except (ArgumentError, ValueError):
        # The text may hold a password.
        raise StoreError(f"the store's URL cannot be read: allowed is {_FORMS}") from None


def _open_sqlite(path: Path, *, creates: bool) -> Database:
    shown = str(path)
    if shown in ("", ".", ":memory:") or path.is_dir():
        raise StoreError(f"the store {shown} is not a file: give the path of a file")
    if not creates and not path.exists():
        raise StoreError(f"the store {shown} does not exist: touchstone eval begins one, or name another")
    try:
        make_directory(path.parent)
        make_file(path)
    except OSError as error:
        problem = error.strerror or type(error).__name__
        remedy = "give write permission for the file and its directory, or name another store"
        raise StoreError(f"the store {shown} cannot be written ({problem}): {remedy}") from error
    take_from_others(_ours(path))
    engine = _engine(URL.create("sqlite", database=str(path.absolute())), timeout=PATIENCE_SECONDS)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    with faults(shown):
        _write_ahead(engine)
    return Database(engine, place=shown, path=path.absolute())


def _ours(path: Path) -> list[Path]:
    """The store's files; SQLite makes those beside it with its mode. Of directories only the one that has our name."""
    directory = [path.parent] if path.absolute().parent.name == HOME else []
    beside = [path.with_name(f"{path.name}-{end}") for end in ("wal", "shm")]
    return [*directory, path, *beside, *sorted(path.parent.glob(f"{glob.escape(path.name)}{BEFORE_RESTORE}*"))]


def _open_postgresql(url: URL) -> Database:
    shown = url.set(query={}).render_as_string(hide_password=True)
    given = url.query.get("options", "")
    patience = f"-c lock_timeout={int(PATIENCE_SECONDS * 1000)}"
    options = " ".join([patience, *([given] if isinstance(given, str) else given)])
    try:
        engine = _engine(url.difference_update_query(["options"]), pool_pre_ping=True, options=options)
    except ImportError:
        raise StoreError(f"the store {shown} needs psycopg: pip install 'touchstone-eval[postgresql]'") from None
    return Database(engine, place=shown)


def _engine(url: URL, *, pool_pre_ping: bool = False, **connect: Any) -> Engine:
    """Parameters, which are customers' words, appear in no message and no log."""
    return create_engine(url, hide_parameters=True, echo=False, pool_pre_ping=pool_pre_ping, connect_args=connect)


def _prepare_sqlite(raw: DBAPIConnection, _: object) -> None:
    # Transactions begin where `_begin_sqlite` says, not where the driver guesses.
    raw.isolation_level = None
    _pragma(raw, "foreign_keys = ON")
    _pragma(raw, "synchronous = NORMAL")
    # What is deleted is gone from the file as well: it is customers' words.
    _pragma(raw, "secure_delete = ON")


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads before it writes could otherwise be refused in the middle.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _write_ahead(engine: Engine) -> None:
    """Switches the file to WAL, for good. SQLite does not wait for other openers here, so this does."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with engine.connect() as connection:
                _pragma(connection.connection.dbapi_connection, "journal_mode = WAL")
                return
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > until:
                raise
            time.sleep(0.02)


def _pragma(raw: Any, setting: str) -> None:
    cursor = raw.cursor()
    cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def faults(place: str) -> Iterator[None]:
    """Raises what the database refuses as StoreError that says what to do; `place` names the store.

    The database's own text is left out: it can quote the values of a row, which are customers' words.
    """
    try:
        yield
    except DBAPIError as error:
        raise StoreError(f"the store {place} {_remedy(error.orig)}") from None
    except sqlite3.Error as error:
        raise StoreError(f"the store {place} {_remedy(error)}") from None
    except PoolTimeoutError:
        raise StoreError(f"the store {place} has all its connections in use: try again") from None


def vanished(place: str) -> StoreError:
    return StoreError(f"the store {place} {_VANISHED}")


def _remedy(cause: BaseException | None) -> str:
    code = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
    for starts, remedy in (*_SQLITE, *_POSTGRESQL):
        if code and code.startswith(starts):
            return remedy
    if code is None and type(cause).__name__ == "OperationalError":
        # psycopg gives no SQLSTATE when it was the connection that failed.
        return _UNREACHABLE
    return f"refused a command ({code or type(cause).__name__}): restore it from a backup, or begin a new one"
