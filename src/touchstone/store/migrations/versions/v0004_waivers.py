"""Waived violations beside the figures they change, and a revision of each run that tells when they did.

`touchstone.store.upgrade` then counts the waivers that were given before.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("runs", sa.Column("revision", sa.Integer, nullable=False, server_default="0"))
    op.add_column("results", sa.Column("waived", sa.Text, nullable=False, server_default="[]"))
