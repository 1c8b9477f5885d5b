"""A database's error -> one line that names the store, what is wrong and what to do.

The database's own text is left out: it can quote the values of a row, which are customers' words.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from touchstone.core.errors import StoreError

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


@contextmanager
def faults(place: str) -> Iterator[None]:
    """Raises what the database refuses as StoreError; `place` names the store."""
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
