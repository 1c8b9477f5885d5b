"""Why a reply could not be scored, beside its figures: reports say it without reading every result's text."""

import json
import re

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
_CHUNK = 1000
# As the store keeps what a database refuses: NUL, and halves of surrogate pairs, after a mark.
_REFUSED = re.compile("[\x00\x1a\ud800-\udfff]")


def upgrade() -> None:
    op.add_column("results", sa.Column("problem", sa.Text))
    _fill(op.get_bind())


def _fill(connection: sa.Connection) -> None:
    results = sa.table("results", *map(sa.column, ("run", "position", "failed", "problem")))
    bodies = sa.table("bodies", *map(sa.column, ("run", "position", "body")))
    joined = results.join(bodies, sa.and_(results.c.run == bodies.c.run, results.c.position == bodies.c.position))
    query = sa.select(results.c.run, results.c.position, bodies.c.body).select_from(joined).where(results.c.failed)
    run, position = -1, -1
    while True:
        after = sa.or_(results.c.run > run, sa.and_(results.c.run == run, results.c.position > position))
        ordered = query.where(after).order_by(results.c.run, results.c.position).limit(_CHUNK)
        page = connection.execute(ordered).all()
        for row in page:
            here = (results.c.run == row.run, results.c.position == row.position)
            connection.execute(sa.update(results).where(*here).values(problem=_problem(row.body)))
        if len(page) < _CHUNK:
            return
        run, position = page[-1].run, page[-1].position


def _problem(body: str) -> str | None:
    messages = [failure["message"] for failure in json.loads(body)["failures"]]
    text = "; ".join(dict.fromkeys(messages))
    return _REFUSED.sub(lambda match: f"\x1a{ord(match[0]):04x}", text) or None
