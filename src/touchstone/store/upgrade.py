"""A database of any earlier version, or an empty one -> the newest version, in one transaction.

The transaction holds the database's own write lock, so of two processes that start at once the second waits and finds
the work done.
"""

from collections.abc import Collection

import sqlalchemy as sa

from touchstone.core.errors import StoreError
from touchstone.store.database import Database
from touchstone.store.results import recount_waived
from touchstone.store.tables import HEAD, VERSION_TABLE, metadata

# Waivers given in a store of an earlier version were kept, and counted for nothing.
COUNTED_SINCE = "0004"
# Any number does, as long as every version of Touchstone uses the same.
_ADVISORY_LOCK = 7_823_650_114
_VERSION = sa.Table(
    VERSION_TABLE,
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)


def upgrade(database: Database, *, to: str = HEAD) -> None:
    """Brings the tables to the newest version, or the one given; StoreError when that is not possible."""
    if _version(database) == to:
        return
    with database.restructuring() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
        version = _version(database)
        if version == to:
            return
        if version is None:
            _refuse_foreign(connection, place=database.place)
        _migrate(connection, version=version, to=to, place=database.place)
        if version is not None and version < COUNTED_SINCE:
            recount_waived(database)


def _version(database: Database) -> str | None:
    with database.reading() as connection:
        found: str | None = None
        if sa.inspect(connection).has_table(VERSION_TABLE):
            found = connection.scalar(sa.select(_VERSION.c.version_num))
        return found


def _refuse_foreign(connection: sa.Connection, *, place: str) -> None:
    """A file that holds tables is another program's; a PostgreSQL database may be shared, but not our tables' names."""
    found = set(sa.inspect(connection).get_table_names())
    strange: Collection[str] = found if connection.dialect.name == "sqlite" else found & metadata.tables.keys()
    if strange:
        raise StoreError(
            f"the store {place} is another program's database, it has a table '{min(strange)}': name another store"
        )


def _migrate(connection: sa.Connection, *, version: str | None, to: str, place: str) -> None:
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext

    from touchstone.store.migrations import MIGRATIONS, NAMES

    if version is not None and version not in MIGRATIONS:
        raise StoreError(
            f"the store {place} was made by a newer version of Touchstone (its tables are at {version}, this version "
            f"knows up to {HEAD}): update with pip install --upgrade touchstone-eval, or name another store"
        )
    # Constraints without a name are given one as all are named.
    named = {"target_metadata": sa.MetaData(naming_convention=NAMES)}
    operations = Operations(MigrationContext.configure(connection, opts=named))
    for each, migrate in MIGRATIONS.items():
        if (version or "") < each <= to:
            migrate(operations)
    _VERSION.create(connection, checkfirst=True)
    connection.execute(sa.delete(_VERSION))
    connection.execute(sa.insert(_VERSION), {"version_num": to})
    if connection.dialect.name == "sqlite" and connection.exec_driver_sql("PRAGMA foreign_key_check").first():
        raise StoreError(
            f"the store {place} could not be upgraded, rows would lose what they refer to: it is unchanged"
        )
