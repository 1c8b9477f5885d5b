"""The tables of runs, as the newest migration leaves them; those of reviews and people have modules of their own.

A result is two rows: a narrow one in `results` that figures, filters and pages are made from, as it counts after
waivers, and its whole text in `bodies`, as the judge gave it, which is read one at a time. A case is kept once, under
the hash of its content, however many runs score it.
"""

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

from touchstone.store.columns import Words

# The newest migration; a store at another version is upgraded or refused when it is opened.
HEAD = "0006"
# Its own name, so that a PostgreSQL database can be shared with other programs that use Alembic.
VERSION_TABLE = "touchstone_version"

NAMES = {
    "ix": "%(table_name)s_by_%(column_0_N_name)s",
    "uq": "%(table_name)s_one_%(column_0_N_name)s",
    "fk": "%(table_name)s_of_%(referred_table_name)s",
    "pk": "%(table_name)s_key",
}
metadata = MetaData(naming_convention=NAMES)

runs = Table(
    "runs",
    metadata,
    # In place of the id in a million results and their indices; numbers are not given twice.
    Column("number", Integer, primary_key=True),
    Column("id", Words, nullable=False, unique=True),
    # A gold set's replies, or a batch of production replies that people sample.
    Column("kind", String(16), nullable=False, server_default="goldset"),
    Column("started", String(40), nullable=False, index=True),
    Column("finished", String(40)),
    Column("seconds", Double, nullable=False),
    Column("goldset", Words, nullable=False),
    Column("receipt", Text, nullable=False),
    Column("receipt_hash", String(32), nullable=False, index=True),
    # The rubric as it was, so that a report can be made from the run alone.
    Column("rubric", Words, nullable=False),
    # Goes up whenever waivers or an erasure change what is said of its replies, so that nothing older is shown.
    Column("revision", Integer, nullable=False, server_default="0"),
    # What the gate held it to, if it did.
    Column("terms", Text),
    sqlite_autoincrement=True,
)

run_labels = Table(
    "run_labels",
    metadata,
    Column("run", ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    Column("name", Words, primary_key=True),
    Column("value", Words, nullable=False),
)

cases = Table(
    "cases",
    metadata,
    Column("hash", String(32), primary_key=True),
    Column("body", Text, nullable=False),
)

results = Table(
    "results",
    metadata,
    Column("run", ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("case_id", Words, nullable=False),
    Column("draft", Integer, nullable=False),
    # None for a row that could not be read or drafted. Checked at the end of a transaction, so that a run can be
    # deleted after the cases that only it has.
    Column("case_hash", ForeignKey("cases.hash", deferrable=True, initially="DEFERRED"), index=True),
    Column("category", Words),
    Column("confidence", Double),
    Column("decision", String(16), nullable=False),
    Column("verdict", String(16)),
    Column("outcome", String(16)),
    Column("total", Double),
    Column("failed", Boolean, nullable=False),
    Column("grades", Text, nullable=False),
    Column("violations", Text, nullable=False),
    Column("tags", Text, nullable=False),
    Column("seconds", Double, nullable=False),
    # Of a failed reply, what was wrong; of any other, what keeps it from being sent, as JSON: it may quote the reply.
    Column("problem", Words),
    # Violations that people found to be none; the other columns are as they count without these.
    Column("waived", Text, nullable=False, server_default="[]"),
    # Kept in the order of the key, so that a page is read from neighbouring places.
    sqlite_with_rowid=False,
)
# A page of a filtered list starts where the last one ended, without reading what lies before it.
Index("results_by_outcome", results.c.run, results.c.outcome, results.c.position)
Index("results_by_category", results.c.run, results.c.category, results.c.position)
Index("results_by_decision", results.c.run, results.c.decision, results.c.position)
# PostgreSQL has the ids in the collation "C", so that those with one beginning are neighbours.
Index("results_by_case_id", results.c.run, results.c.case_id, results.c.position)
# Led by the case, so that it also finds a case's results in all runs.
Index(
    "results_one_case_run_draft",
    results.c.case_id,
    results.c.run,
    results.c.draft,
    unique=True,
    sqlite_where=results.c.case_hash.is_not(None),
    postgresql_where=results.c.case_hash.is_not(None),
)

# What the tags in `results` say, so that the replies with one tag are a page of their own.
result_tags = Table(
    "result_tags",
    metadata,
    Column("run", Integer, primary_key=True),
    Column("tag", Words, primary_key=True),
    Column("position", Integer, primary_key=True),
    ForeignKeyConstraint(["run", "position"], ["results.run", "results.position"], ondelete="CASCADE"),
    sqlite_with_rowid=False,
)
# A reply leaves with its tags: without this each would be looked for among all.
Index("result_tags_by_reply", result_tags.c.run, result_tags.c.position)

bodies = Table(
    "bodies",
    metadata,
    Column("run", Integer, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("body", Text, nullable=False),
    ForeignKeyConstraint(["run", "position"], ["results.run", "results.position"], ondelete="CASCADE"),
)

# Judges held against people's labels; only ever added to, and the newest of a judge on a gold set counts.
measurements = Table(
    "measurements",
    metadata,
    Column("number", Integer, primary_key=True),
    # As runs name it.
    Column("judge", Words, nullable=False),
    Column("goldset", Words, nullable=False),
    # What the gold set said and what it was graded by, as in the receipt of a run.
    Column("data", String(64), nullable=False),
    Column("rubric_hash", String(64), nullable=False),
    Column("made", String(40), nullable=False),
    Column("cases", Integer, nullable=False),
    Column("labelled", Integer, nullable=False),
    Column("figures", Text, nullable=False),
    sqlite_autoincrement=True,
)
Index("measurements_by_judge", measurements.c.judge, measurements.c.number)
