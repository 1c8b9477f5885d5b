"""A database of any earlier version, or an empty one -> the newest version, in one transaction.

The transaction holds the database's own write lock, so of two processes that start at once the second waits and finds
the work done.
"""

from collections.abc import Collection
from pathlib import Path

from sqlalchemy import Connection, column, inspect, select, table, text

from touchstone.core.errors import StoreError
from touchstone.store import people_schema, review_schema
from touchstone.store.database import Database
from touchstone.store.results import recount_waived
from touchstone.store.schema import HEAD, VERSION_TABLE, metadata

# Named here so that `metadata` has every table, whoever opens the store.
TABLES = (*review_schema.TABLES, *people_schema.TABLES)

# Waivers given in a store of an earlier version were kept, and counted for nothing.
COUNTED_SINCE = "0004"
MIGRATIONS = Path(__file__).parent / "migrations"
# Any number does, as long as every version of Touchstone uses the same.
_ADVISORY_LOCK = 7_823_650_114


def upgrade(database: Database) -> None:
    """Brings the tables to the newest version; StoreError when that is not possible."""
    with database.reading() as connection:
        if _version(connection) == HEAD:
            return
    with database.restructuring() as connection:
        _lock(connection)
        version = _version(connection)
        if version == HEAD:
            return
        if version is None:
            _refuse_foreign(connection, place=database.place)
        _migrate(connection, version=version, place=database.place)
        if version is not None and version < COUNTED_SINCE:
            recount_waived(connection)


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found: str | None = connection.scalar(select(column("version_num")).select_from(table(VERSION_TABLE)))
    return found


def _lock(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})


def _refuse_foreign(connection: Connection, *, place: str) -> None:
    """A file that holds tables is another program's; a PostgreSQL database may be shared, but not our tables' names."""
    found = set(inspect(connection).get_table_names())
    strange: Collection[str] = found if connection.dialect.name == "sqlite" else found & metadata.tables.keys()
    if strange:
        raise StoreError(
            f"the store {place} is another program's database, it has a table '{min(strange)}': name another store"
        )


def _migrate(connection: Connection, *, version: str | None, place: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    # The option is read with %-interpolation.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if version is not None and version not in known:
        raise StoreError(
            f"the store {place} was made by a newer version of Touchstone (its tables are at {version}, this version "
            f"knows up to {HEAD}): update with pip install --upgrade touchstone-eval, or name another store"
        )
    command.upgrade(config, "head")
    if connection.dialect.name == "sqlite" and connection.exec_driver_sql("PRAGMA foreign_key_check").first():
        raise StoreError(
            f"the store {place} could not be upgraded, rows would lose what they refer to: it is unchanged"
        )
