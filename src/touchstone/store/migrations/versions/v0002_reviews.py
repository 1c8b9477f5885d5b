"""Queues, reviews and people; the kind of a run, and the tags of a result as rows of their own."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
_CHUNK = 5000


def upgrade() -> None:
    op.add_column("runs", sa.Column("kind", sa.String(16), nullable=False, server_default="goldset"))
    _index_case_ids()
    _create_result_tags()
    _fill_result_tags(op.get_bind())
    _create_queues()
    _create_reviews()
    _create_aids()
    _create_words_on_results()
    _create_actions()
    _create_users()
    _create_guards()


def _create_result_tags() -> None:
    op.create_table(
        "result_tags",
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("tag", sa.Text, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("run", "tag", "position", name="result_tags_key"),
        sa.ForeignKeyConstraint(
            ["run", "position"], ["results.run", "results.position"], name="result_tags_of_results", ondelete="CASCADE"
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("result_tags_by_reply", "result_tags", ["run", "position"])


def _index_case_ids() -> None:
    """The ids that begin alike lie together, in the order of their characters' numbers, as SQLite has it anyway."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute('ALTER TABLE results ALTER COLUMN case_id TYPE text COLLATE "C"')
    op.create_index("results_by_case_id", "results", ["run", "case_id", "position"])


def _fill_result_tags(connection: sa.Connection) -> None:
    results = sa.table("results", sa.column("run"), sa.column("position"), sa.column("tags"))
    target = sa.table("result_tags", sa.column("run"), sa.column("tag"), sa.column("position"))
    query = sa.select(results).where(results.c.tags != "[]").order_by(results.c.run, results.c.position)
    run, position = -1, -1
    while True:
        after = sa.or_(results.c.run > run, sa.and_(results.c.run == run, results.c.position > position))
        page = connection.execute(query.where(after).limit(_CHUNK)).all()
        if not page:
            return
        rows = [
            {"run": row.run, "tag": name, "position": row.position}
            for row in page
            for name in dict.fromkeys(tag[0] for tag in json.loads(row.tags))
        ]
        if rows:
            connection.execute(sa.insert(target), rows)
        run, position = page[-1].run, page[-1].position


def _create_queues() -> None:
    op.create_table(
        "queues",
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("made", sa.String(40), nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("needed", sa.Integer, nullable=False),
        sa.Column("population", sa.Integer, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("oversampling", sa.Double, nullable=False),
        sa.Column("reviewers", sa.Text, nullable=False),
        sa.Column("closed", sa.String(40)),
        sa.PrimaryKeyConstraint("number", name="queues_key"),
        sa.UniqueConstraint("id", name="queues_one_id"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="queues_of_runs"),
        sqlite_autoincrement=True,
    )
    op.create_index("queues_by_run", "queues", ["run"])
    op.create_table(
        "queue_items",
        sa.Column("queue", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("result", sa.Integer, nullable=False),
        sa.Column("case_id", sa.Text, nullable=False),
        sa.Column("draft", sa.Integer, nullable=False),
        sa.Column("category", sa.Text),
        sa.Column("inclusion", sa.Double, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("queue", "position", name="queue_items_key"),
        sa.ForeignKeyConstraint(["queue"], ["queues.number"], name="queue_items_of_queues", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_index("queue_items_by_state", "queue_items", ["queue", "state", "position"])


def _create_reviews() -> None:
    op.create_table(
        "reviews",
        *_numbered(),
        sa.Column("queue", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("made", sa.String(40), nullable=False),
        sa.Column("grades", sa.Text, nullable=False),
        sa.Column("violations", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("supersedes", sa.String(64)),
        sa.Column("withdrawn", sa.Boolean, nullable=False),
        sa.Column("seconds", sa.Double),
        sa.PrimaryKeyConstraint("number", name="reviews_key"),
        sa.UniqueConstraint("id", name="reviews_one_id"),
        sa.UniqueConstraint("supersedes", name="reviews_one_supersedes"),
        _of_item("reviews"),
        sqlite_autoincrement=True,
    )
    op.create_index("reviews_by_item", "reviews", ["queue", "position", "number"])
    op.create_index("reviews_by_reviewer", "reviews", ["queue", "reviewer", "number"])
    op.create_table(
        "rulings",
        *_numbered(),
        sa.Column("queue", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("made", sa.String(40), nullable=False),
        sa.Column("grades", sa.Text, nullable=False),
        sa.Column("violations", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="rulings_key"),
        sa.UniqueConstraint("id", name="rulings_one_id"),
        _of_item("rulings"),
        sqlite_autoincrement=True,
    )
    op.create_index("rulings_by_item", "rulings", ["queue", "position", "number"])


def _create_aids() -> None:
    op.create_table(
        "drafts",
        sa.Column("queue", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("saved", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("queue", "position", "reviewer", name="drafts_key"),
        _of_item("drafts", ondelete="CASCADE"),
    )
    op.create_table(
        "claims",
        sa.Column("queue", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("until", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("queue", "position", "reviewer", name="claims_key"),
        _of_item("claims", ondelete="CASCADE"),
    )
    op.create_index("claims_by_reviewer", "claims", ["queue", "reviewer"])
    op.create_table(
        "skips",
        sa.Column("queue", sa.Integer, nullable=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("made", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("queue", "reviewer", "position", name="skips_key"),
        _of_item("skips", ondelete="CASCADE"),
    )


def _create_words_on_results() -> None:
    op.create_table(
        "waivers",
        *_numbered(),
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("result", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("start", sa.Integer, nullable=False),
        sa.Column("end", sa.Integer, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("made", sa.String(40), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("withdrawn", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("number", name="waivers_key"),
        sa.UniqueConstraint("id", name="waivers_one_id"),
        _of_result("waivers"),
        sqlite_autoincrement=True,
    )
    op.create_index("waivers_by_result", "waivers", ["run", "result"])
    op.create_table(
        "promotions",
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("result", sa.Integer, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("made", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("run", "result", name="promotions_key"),
        _of_result("promotions"),
    )


def _create_actions() -> None:
    op.create_table(
        "actions",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("pattern", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("made", sa.String(40), nullable=False),
        sa.Column("run", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "revision", name="actions_key"),
    )
    op.create_table(
        "rubric_versions",
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("made", sa.String(40), nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="rubric_versions_key"),
    )
    op.create_index("rubric_versions_by_made", "rubric_versions", ["made"])


def _create_users() -> None:
    op.create_table(
        "users",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("password", sa.String(255)),
        sa.Column("made", sa.String(40), nullable=False),
        sa.Column("disabled", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("name", name="users_key"),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(128), nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("made", sa.String(40), nullable=False),
        sa.Column("expires", sa.String(40)),
        sa.Column("revoked", sa.String(40)),
        sa.PrimaryKeyConstraint("id", name="tokens_key"),
        sa.UniqueConstraint("hash", name="tokens_one_hash"),
        sa.ForeignKeyConstraint(["user_name"], ["users.name"], name="tokens_of_users", ondelete="CASCADE"),
    )
    op.create_index("tokens_by_user_name", "tokens", ["user_name"])
    op.create_table(
        "sessions",
        sa.Column("hash", sa.String(128), nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("csrf", sa.String(128), nullable=False),
        sa.Column("made", sa.String(40), nullable=False),
        sa.Column("expires", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="sessions_key"),
        sa.ForeignKeyConstraint(["user_name"], ["users.name"], name="sessions_of_users", ondelete="CASCADE"),
    )
    op.create_index("sessions_by_user_name", "sessions", ["user_name"])
    op.create_index("sessions_by_expires", "sessions", ["expires"])


def _create_guards() -> None:
    op.create_table(
        "login_attempts",
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("at", sa.String(40), nullable=False),
        sa.Column("ok", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("number", name="login_attempts_key"),
    )
    op.create_index("login_attempts_by_at", "login_attempts", ["at"])
    op.create_index("login_attempts_by_name", "login_attempts", ["name", "at"])
    op.create_index("login_attempts_by_address", "login_attempts", ["address", "at"])
    op.create_table(
        "audit",
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("at", sa.String(40), nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("act", sa.String(64), nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="audit_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("audit_by_who", "audit", ["who", "number"])
    op.create_table(
        "idempotency",
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("route", sa.String(255), nullable=False),
        sa.Column("request_hash", sa.String(128), nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("body", sa.Text),
        sa.Column("made", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("key", "who", "route", name="idempotency_key"),
    )
    op.create_index("idempotency_by_made", "idempotency", ["made"])


def _numbered() -> tuple[sa.Column[int], sa.Column[str]]:
    return sa.Column("number", sa.Integer, nullable=False), sa.Column("id", sa.String(64), nullable=False)


def _of_item(table: str, *, ondelete: str | None = None) -> sa.ForeignKeyConstraint:
    refers = ["queue_items.queue", "queue_items.position"]
    return sa.ForeignKeyConstraint(["queue", "position"], refers, name=f"{table}_of_queue_items", ondelete=ondelete)


def _of_result(table: str) -> sa.ForeignKeyConstraint:
    refers = ["results.run", "results.position"]
    return sa.ForeignKeyConstraint(["run", "result"], refers, name=f"{table}_of_results", ondelete="CASCADE")
