"""The tables of queues and reviews, as the newest migration leaves them.

Reviews, rulings, waivers and actions are only ever added to; what is current follows from the rows. Only the erasure
of a customer's text changes them. Drafts, claims and skips are aids that come and go.
"""

from sqlalchemy import Boolean, Column, Double, ForeignKey, ForeignKeyConstraint, Index, Integer, String, Table, Text

from touchstone.store.columns import Words
from touchstone.store.schema import metadata


def _item_key(*, cascades: bool = False) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["queue", "position"],
        ["queue_items.queue", "queue_items.position"],
        ondelete="CASCADE" if cascades else None,
    )


def _result_key() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["run", "result"], ["results.run", "results.position"], ondelete="CASCADE")


queues = Table(
    "queues",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("name", Words, nullable=False),
    # Without a cascade: people's work is not deleted with a run.
    Column("run", ForeignKey("runs.number"), nullable=False, index=True),
    Column("made", String(40), nullable=False),
    Column("by", Words, nullable=False),
    Column("needed", Integer, nullable=False),
    Column("population", Integer, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("oversampling", Double, nullable=False),
    Column("reviewers", Text, nullable=False),
    Column("closed", String(40)),
    sqlite_autoincrement=True,
)

queue_items = Table(
    "queue_items",
    metadata,
    Column("queue", ForeignKey("queues.number", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("result", Integer, nullable=False),
    Column("case_id", Words, nullable=False),
    Column("draft", Integer, nullable=False),
    Column("category", Words),
    Column("inclusion", Double, nullable=False),
    Column("state", String(16), nullable=False),
    sqlite_with_rowid=False,
)
Index("queue_items_by_state", queue_items.c.queue, queue_items.c.state, queue_items.c.position)

reviews = Table(
    "reviews",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("queue", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("reviewer", Words, nullable=False),
    Column("made", String(40), nullable=False),
    Column("grades", Text, nullable=False),
    Column("violations", Text, nullable=False),
    Column("note", Words, nullable=False),
    # Unique: of two edits of one review made at once, the second is refused.
    Column("supersedes", String(64), unique=True),
    Column("withdrawn", Boolean, nullable=False),
    Column("seconds", Double),
    _item_key(),
    sqlite_autoincrement=True,
)
Index("reviews_by_item", reviews.c.queue, reviews.c.position, reviews.c.number)
Index("reviews_by_reviewer", reviews.c.queue, reviews.c.reviewer, reviews.c.number)

rulings = Table(
    "rulings",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("queue", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("by", Words, nullable=False),
    Column("made", String(40), nullable=False),
    Column("grades", Text, nullable=False),
    Column("violations", Text, nullable=False),
    Column("reason", Words, nullable=False),
    _item_key(),
    sqlite_autoincrement=True,
)
Index("rulings_by_item", rulings.c.queue, rulings.c.position, rulings.c.number)

drafts = Table(
    "drafts",
    metadata,
    Column("queue", Integer, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("reviewer", Words, primary_key=True),
    Column("body", Words, nullable=False),
    Column("saved", String(40), nullable=False),
    _item_key(cascades=True),
)

claims = Table(
    "claims",
    metadata,
    Column("queue", Integer, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("reviewer", Words, primary_key=True),
    Column("until", String(40), nullable=False),
    _item_key(cascades=True),
)
Index("claims_by_reviewer", claims.c.queue, claims.c.reviewer)

skips = Table(
    "skips",
    metadata,
    Column("queue", Integer, primary_key=True),
    Column("reviewer", Words, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("made", String(40), nullable=False),
    _item_key(cascades=True),
)

waivers = Table(
    "waivers",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("run", Integer, nullable=False),
    Column("result", Integer, nullable=False),
    Column("kind", String(40), nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("by", Words, nullable=False),
    Column("made", String(40), nullable=False),
    Column("reason", Words, nullable=False),
    Column("withdrawn", Boolean, nullable=False),
    _result_key(),
    sqlite_autoincrement=True,
)
Index("waivers_by_result", waivers.c.run, waivers.c.result)

promotions = Table(
    "promotions",
    metadata,
    Column("run", Integer, primary_key=True),
    Column("result", Integer, primary_key=True),
    Column("by", Words, nullable=False),
    Column("made", String(40), nullable=False),
    _result_key(),
)

actions = Table(
    "actions",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("pattern", Words, nullable=False),
    Column("owner", Words, nullable=False),
    Column("text", Words, nullable=False),
    Column("state", String(16), nullable=False),
    Column("by", Words, nullable=False),
    Column("made", String(40), nullable=False),
    # The run's id as it was: an action outlives the run.
    Column("run", Words, nullable=False),
)

rubric_versions = Table(
    "rubric_versions",
    metadata,
    Column("hash", Words, primary_key=True),
    Column("name", Words, nullable=False),
    Column("version", Words, nullable=False),
    Column("made", String(40), nullable=False, index=True),
    Column("by", Words, nullable=False),
    Column("text", Words, nullable=False),
)

TABLES = (
    queues,
    queue_items,
    reviews,
    rulings,
    drafts,
    claims,
    skips,
    waivers,
    promotions,
    actions,
    rubric_versions,
)
