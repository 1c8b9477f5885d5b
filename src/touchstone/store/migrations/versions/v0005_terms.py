"""What the gate held a run to, so that its report can be written again with the gate."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("runs", sa.Column("terms", sa.Text))
