"""Every version of the tables, as steps from one to the next. They are added to and never changed.

A step describes the tables as they were then, and takes nothing from the modules that declare them now.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from alembic.operations import Operations

NAMES: Mapping[str, str] = {
    "ix": "%(table_name)s_by_%(column_0_N_name)s",
    "uq": "%(table_name)s_one_%(column_0_N_name)s",
    "fk": "%(table_name)s_of_%(referred_table_name)s",
    "pk": "%(table_name)s_key",
}
_CHUNK = 5000
# As the store keeps what a database refuses: NUL, and halves of surrogate pairs, after a mark.
_REFUSED = re.compile("[\x00\x1a\ud800-\udfff]")


def _runs(op: Operations) -> None:
    """Runs, their labels, the cases they scored and the results."""
    op.create_table(
        "runs",
        _key("number", sa.Integer),
        _column("id", sa.Text, unique=True),
        _column("started", sa.String(40), index=True),
        sa.Column("finished", sa.String(40)),
        _column("seconds", sa.Double),
        *_columns(sa.Text, "goldset", "receipt"),
        _column("receipt_hash", sa.String(32), index=True),
        _column("rubric", sa.Text),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "run_labels",
        _key("run", sa.Integer),
        _key("name", sa.Text),
        _column("value", sa.Text),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], ondelete="CASCADE"),
    )
    op.create_table("cases", _key("hash", sa.String(32)), _column("body", sa.Text))
    op.create_table(
        "results",
        *_keys(sa.Integer, "run", "position"),
        _column("case_id", sa.Text),
        _column("draft", sa.Integer),
        sa.Column("case_hash", sa.String(32), index=True),
        sa.Column("category", sa.Text),
        sa.Column("confidence", sa.Double),
        _column("decision", sa.String(16)),
        sa.Column("verdict", sa.String(16)),
        sa.Column("outcome", sa.String(16)),
        sa.Column("total", sa.Double),
        _column("failed", sa.Boolean),
        *_columns(sa.Text, "grades", "violations", "tags"),
        _column("seconds", sa.Double),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["case_hash"], ["cases.hash"], deferrable=True, initially="DEFERRED"),
        sqlite_with_rowid=False,
    )
    for column in ("outcome", "category", "decision"):
        op.create_index(f"results_by_{column}", "results", ["run", column, "position"])
    scored = sa.text("case_hash IS NOT NULL")
    op.create_index(
        "results_one_case_run_draft",
        "results",
        ["case_id", "run", "draft"],
        unique=True,
        sqlite_where=scored,
        postgresql_where=scored,
    )
    op.create_table("bodies", _key("run", sa.Integer), _key("position", sa.Integer), _column("body", sa.Text), _reply())


def _reviews(op: Operations) -> None:
    """Queues, reviews and people; the kind of a run, and the tags of a result as rows of their own."""
    op.add_column("runs", sa.Column("kind", sa.String(16), nullable=False, server_default="goldset"))
    # The ids that begin alike lie together, in the order of their characters' numbers, as SQLite has it anyway.
    if op.get_bind().dialect.name == "postgresql":
        op.execute('ALTER TABLE results ALTER COLUMN case_id TYPE text COLLATE "C"')
    op.create_index("results_by_case_id", "results", ["run", "case_id", "position"])
    _create_tags(op)
    _create_queues(op)
    _create_reviews(op)
    _create_marks(op)
    _create_users(op)
    _create_guards(op)


def _create_tags(op: Operations) -> None:
    op.create_table(
        "result_tags",
        _key("run", sa.Integer),
        _key("tag", sa.Text),
        _key("position", sa.Integer),
        _reply(),
        sqlite_with_rowid=False,
    )
    op.create_index("result_tags_by_reply", "result_tags", ["run", "position"])
    connection = op.get_bind()
    results = sa.table("results", *map(sa.column, ("run", "position", "tags")))
    target = sa.table("result_tags", *map(sa.column, ("run", "tag", "position")))
    for page in _pages(connection, sa.select(results).where(results.c.tags != "[]"), results):
        rows = [
            {"run": row.run, "tag": name, "position": row.position}
            for row in page
            for name in dict.fromkeys(tag[0] for tag in json.loads(row.tags))
        ]
        if rows:
            connection.execute(sa.insert(target), rows)


def _create_queues(op: Operations) -> None:
    op.create_table(
        "queues",
        *_numbered(),
        _column("name", sa.Text),
        _column("run", sa.Integer, index=True),
        _column("made", sa.String(40)),
        _column("by", sa.Text),
        *_columns(sa.Integer, "needed", "population", "seed"),
        _column("oversampling", sa.Double),
        _column("reviewers", sa.Text),
        sa.Column("closed", sa.String(40)),
        sa.ForeignKeyConstraint(["run"], ["runs.number"]),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "queue_items",
        *_keys(sa.Integer, "queue", "position"),
        _column("result", sa.Integer),
        _column("case_id", sa.Text),
        _column("draft", sa.Integer),
        sa.Column("category", sa.Text),
        _column("inclusion", sa.Double),
        _column("state", sa.String(16)),
        sa.ForeignKeyConstraint(["queue"], ["queues.number"], ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_index("queue_items_by_state", "queue_items", ["queue", "state", "position"])


def _create_reviews(op: Operations) -> None:
    op.create_table(
        "reviews",
        *_numbered(),
        *_columns(sa.Integer, "queue", "position"),
        _column("reviewer", sa.Text),
        _column("made", sa.String(40)),
        *_columns(sa.Text, "grades", "violations", "note"),
        sa.Column("supersedes", sa.String(64)),
        sa.UniqueConstraint("supersedes"),
        _column("withdrawn", sa.Boolean),
        sa.Column("seconds", sa.Double),
        _item(),
        sqlite_autoincrement=True,
    )
    op.create_index("reviews_by_item", "reviews", ["queue", "position", "number"])
    op.create_index("reviews_by_reviewer", "reviews", ["queue", "reviewer", "number"])
    op.create_table(
        "rulings",
        *_numbered(),
        *_columns(sa.Integer, "queue", "position"),
        _column("by", sa.Text),
        _column("made", sa.String(40)),
        *_columns(sa.Text, "grades", "violations", "reason"),
        _item(),
        sqlite_autoincrement=True,
    )
    op.create_index("rulings_by_item", "rulings", ["queue", "position", "number"])
    keys = {"queue": sa.Integer, "position": sa.Integer, "reviewer": sa.Text}
    op.create_table(
        "drafts",
        *map(_key, keys, keys.values()),
        _column("body", sa.Text),
        _column("saved", sa.String(40)),
        _item(ondelete="CASCADE"),
    )
    op.create_table(
        "claims",
        *map(_key, keys, keys.values()),
        _column("until", sa.String(40)),
        _item(ondelete="CASCADE"),
    )
    op.create_index("claims_by_reviewer", "claims", ["queue", "reviewer"])
    op.create_table(
        "skips",
        _key("queue", sa.Integer),
        _key("reviewer", sa.Text),
        _key("position", sa.Integer),
        _column("made", sa.String(40)),
        _item(ondelete="CASCADE"),
    )


def _create_marks(op: Operations) -> None:
    op.create_table(
        "waivers",
        *_numbered(),
        *_columns(sa.Integer, "run", "result"),
        _column("kind", sa.String(40)),
        *_columns(sa.Integer, "start", "end"),
        _column("by", sa.Text),
        _column("made", sa.String(40)),
        _column("reason", sa.Text),
        _column("withdrawn", sa.Boolean),
        _reply("result"),
        sqlite_autoincrement=True,
    )
    op.create_index("waivers_by_result", "waivers", ["run", "result"])
    op.create_table(
        "promotions",
        *_keys(sa.Integer, "run", "result"),
        _column("by", sa.Text),
        _column("made", sa.String(40)),
        _reply("result"),
    )
    op.create_table(
        "actions",
        _key("id", sa.String(64)),
        _key("revision", sa.Integer),
        *_columns(sa.Text, "pattern", "owner", "text"),
        _column("state", sa.String(16)),
        _column("by", sa.Text),
        _column("made", sa.String(40)),
        _column("run", sa.Text),
    )
    op.create_table(
        "rubric_versions",
        _key("hash", sa.Text),
        *_columns(sa.Text, "name", "version"),
        _column("made", sa.String(40), index=True),
        *_columns(sa.Text, "by", "text"),
    )


def _create_users(op: Operations) -> None:
    op.create_table(
        "users",
        _key("name", sa.Text),
        _column("role", sa.String(16)),
        sa.Column("password", sa.String(255)),
        _column("made", sa.String(40)),
        _column("disabled", sa.Boolean),
    )
    op.create_table(
        "tokens",
        _key("id", sa.String(64)),
        _column("hash", sa.String(128)),
        sa.UniqueConstraint("hash"),
        _column("user_name", sa.Text, index=True),
        _column("label", sa.Text),
        _column("made", sa.String(40)),
        sa.Column("expires", sa.String(40)),
        sa.Column("revoked", sa.String(40)),
        sa.ForeignKeyConstraint(["user_name"], ["users.name"], ondelete="CASCADE"),
    )
    op.create_table(
        "sessions",
        _key("hash", sa.String(128)),
        _column("user_name", sa.Text, index=True),
        _column("csrf", sa.String(128)),
        _column("made", sa.String(40)),
        _column("expires", sa.String(40), index=True),
        sa.ForeignKeyConstraint(["user_name"], ["users.name"], ondelete="CASCADE"),
    )


def _create_guards(op: Operations) -> None:
    op.create_table(
        "login_attempts",
        _key("number", sa.Integer),
        _column("name", sa.Text),
        _column("address", sa.String(64)),
        _column("at", sa.String(40), index=True),
        _column("ok", sa.Boolean),
    )
    for column in ("name", "address"):
        op.create_index(f"login_attempts_by_{column}", "login_attempts", [column, "at"])
    op.create_table(
        "audit",
        _key("number", sa.Integer),
        _column("at", sa.String(40)),
        _column("who", sa.Text),
        _column("act", sa.String(64)),
        *_columns(sa.Text, "subject", "detail"),
        sqlite_autoincrement=True,
    )
    op.create_index("audit_by_who", "audit", ["who", "number"])
    op.create_table(
        "idempotency",
        _key("key", sa.String(255)),
        _key("who", sa.Text),
        _key("route", sa.String(255)),
        _column("request_hash", sa.String(128)),
        sa.Column("status", sa.Integer),
        sa.Column("body", sa.Text),
        _column("made", sa.String(40), index=True),
    )


def _problems(op: Operations) -> None:
    """Why a reply could not be scored, beside its figures: reports say it without reading every result's text."""
    op.add_column("results", sa.Column("problem", sa.Text))
    connection = op.get_bind()
    results = sa.table("results", *map(sa.column, ("run", "position", "failed", "problem")))
    bodies = sa.table("bodies", *map(sa.column, ("run", "position", "body")))
    joined = results.join(bodies, sa.and_(results.c.run == bodies.c.run, results.c.position == bodies.c.position))
    query = sa.select(results.c.run, results.c.position, bodies.c.body).select_from(joined).where(results.c.failed)
    for page in _pages(connection, query, results):
        for row in page:
            messages = [failure["message"] for failure in json.loads(row.body)["failures"]]
            problem = _REFUSED.sub(lambda match: f"\x1a{ord(match[0]):04x}", "; ".join(dict.fromkeys(messages)))
            here = (results.c.run == row.run, results.c.position == row.position)
            connection.execute(sa.update(results).where(*here).values(problem=problem or None))


def _waivers(op: Operations) -> None:
    """Waived violations beside the figures they change, and a revision of each run that tells when they did.

    `touchstone.store.upgrade` then counts the waivers that were given before.
    """
    op.add_column("runs", sa.Column("revision", sa.Integer, nullable=False, server_default="0"))
    op.add_column("results", sa.Column("waived", sa.Text, nullable=False, server_default="[]"))


def _terms(op: Operations) -> None:
    """What the gate held a run to, so that its report can be written again with the gate."""
    op.add_column("runs", sa.Column("terms", sa.Text))


def _measurements(op: Operations) -> None:
    """How far judges agree with people, kept each time it is measured."""
    op.create_table(
        "measurements",
        _key("number", sa.Integer),
        *_columns(sa.Text, "judge", "goldset"),
        *_columns(sa.String(64), "data", "rubric_hash"),
        _column("made", sa.String(40)),
        *_columns(sa.Integer, "cases", "labelled"),
        _column("figures", sa.Text),
        sqlite_autoincrement=True,
    )
    op.create_index("measurements_by_judge", "measurements", ["judge", "number"])


def _chances(op: Operations) -> None:
    """The pass probability of a reply, by which replies are drawn for review; null for those stored before."""
    op.add_column("results", sa.Column("pass_probability", sa.Double))


def _invites(op: Operations) -> None:
    """One-time links with which people choose a password."""
    op.create_table(
        "invites",
        _key("hash", sa.String(128)),
        _column("user_name", sa.Text, index=True),
        *_columns(sa.String(40), "made", "expires"),
        sa.ForeignKeyConstraint(["user_name"], ["users.name"], ondelete="CASCADE"),
    )


MIGRATIONS: Mapping[str, Callable[[Operations], None]] = {
    "0001": _runs,
    "0002": _reviews,
    "0003": _problems,
    "0004": _waivers,
    "0005": _terms,
    "0006": _measurements,
    "0007": _chances,
    "0008": _invites,
}


def _key(name: str, type: Any) -> sa.Column[Any]:
    return sa.Column(name, type, primary_key=True)


def _column(name: str, type: Any, **options: bool) -> sa.Column[Any]:
    return sa.Column(name, type, nullable=False, **options)  # type: ignore[arg-type]


def _columns(type: Any, *names: str) -> list[sa.Column[Any]]:
    return [_column(name, type) for name in names]


def _keys(type: Any, *names: str) -> list[sa.Column[Any]]:
    return [_key(name, type) for name in names]


def _numbered() -> tuple[sa.Column[Any], sa.Column[Any], sa.UniqueConstraint]:
    return _key("number", sa.Integer), _column("id", sa.String(64)), sa.UniqueConstraint("id")


def _item(**options: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["queue", "position"], ["queue_items.queue", "queue_items.position"], **options)  # type: ignore[arg-type]


def _reply(position: str = "position") -> sa.ForeignKeyConstraint:
    refers = ["results.run", "results.position"]
    return sa.ForeignKeyConstraint(["run", position], refers, ondelete="CASCADE")


def _pages(connection: sa.Connection, query: sa.Select[Any], results: Any) -> Iterator[list[sa.Row[Any]]]:
    """Rows of results in the order of run and position, a page at a time."""
    ordered = query.order_by(results.c.run, results.c.position).limit(_CHUNK)
    run, position = -1, -1
    while True:
        beyond = sa.or_(results.c.run > run, sa.and_(results.c.run == run, results.c.position > position))
        page = list(connection.execute(ordered.where(beyond)))
        if not page:
            return
        yield page
        run, position = page[-1].run, page[-1].position
