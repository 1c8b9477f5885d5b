"""Runs the migrations on the connection, and in the transaction, that `touchstone.store.upgrade` holds."""

from alembic import context

from touchstone.store.schema import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"], version_table=VERSION_TABLE, transactional_ddl=True
)
with context.begin_transaction():
    context.run_migrations()
