"""Runs, their labels, the cases they scored and the results.

A migration describes the tables as they were then: it never changes, and takes nothing from `schema`.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_runs()
    _create_results()


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("started", sa.String(40), nullable=False),
        sa.Column("finished", sa.String(40)),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("goldset", sa.Text, nullable=False),
        sa.Column("receipt", sa.Text, nullable=False),
        sa.Column("receipt_hash", sa.String(32), nullable=False),
        sa.Column("rubric", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="runs_key"),
        sa.UniqueConstraint("id", name="runs_one_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("runs_by_started", "runs", ["started"])
    op.create_index("runs_by_receipt_hash", "runs", ["receipt_hash"])
    op.create_table(
        "run_labels",
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run", "name", name="run_labels_key"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="run_labels_of_runs", ondelete="CASCADE"),
    )


def _create_results() -> None:
    op.create_table(
        "cases",
        sa.Column("hash", sa.String(32), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="cases_key"),
    )
    op.create_table(
        "results",
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("case_id", sa.Text, nullable=False),
        sa.Column("draft", sa.Integer, nullable=False),
        sa.Column("case_hash", sa.String(32)),
        sa.Column("category", sa.Text),
        sa.Column("confidence", sa.Double),
        sa.Column("decision", sa.String(16), nullable=False),
        sa.Column("verdict", sa.String(16)),
        sa.Column("outcome", sa.String(16)),
        sa.Column("total", sa.Double),
        sa.Column("failed", sa.Boolean, nullable=False),
        sa.Column("grades", sa.Text, nullable=False),
        sa.Column("violations", sa.Text, nullable=False),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("run", "position", name="results_key"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="results_of_runs", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["case_hash"], ["cases.hash"], name="results_of_cases", deferrable=True, initially="DEFERRED"
        ),
        sqlite_with_rowid=False,
    )
    for column in ("outcome", "category", "decision"):
        op.create_index(f"results_by_{column}", "results", ["run", column, "position"])
    op.create_index("results_by_case_hash", "results", ["case_hash"])
    op.create_index(
        "results_one_case_run_draft",
        "results",
        ["case_id", "run", "draft"],
        unique=True,
        sqlite_where=sa.text("case_hash IS NOT NULL"),
        postgresql_where=sa.text("case_hash IS NOT NULL"),
    )
    op.create_table(
        "bodies",
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run", "position", name="bodies_key"),
        sa.ForeignKeyConstraint(
            ["run", "position"], ["results.run", "results.position"], name="bodies_of_results", ondelete="CASCADE"
        ),
    )
