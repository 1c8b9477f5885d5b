"""How far judges agree with people, kept each time it is measured."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "measurements",
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("judge", sa.Text, nullable=False),
        sa.Column("goldset", sa.Text, nullable=False),
        sa.Column("data", sa.String(64), nullable=False),
        sa.Column("rubric_hash", sa.String(64), nullable=False),
        sa.Column("made", sa.String(40), nullable=False),
        sa.Column("cases", sa.Integer, nullable=False),
        sa.Column("labelled", sa.Integer, nullable=False),
        sa.Column("figures", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="measurements_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("measurements_by_judge", "measurements", ["judge", "number"])
