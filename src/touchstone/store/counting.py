"""A run's waivers -> how its stored results count. What the judge said stays in `bodies` as it was."""

from collections import defaultdict

from sqlalchemy import Connection, select

from touchstone.core.result import Result
from touchstone.runs.waivers import Waiver, count_waivers
from touchstone.store.review_rows import waiver_from_row
from touchstone.store.review_schema import waivers
from touchstone.store.rows import Count
from touchstone.store.schema import runs


def counting(connection: Connection, run: int, *, position: int | None = None) -> Count:
    """How the results of a run count, or that of one reply; every result that is read for judging goes through it."""
    given = fetch_waivers(connection, run, position=position)
    if not given:
        return lambda _, result: result
    from touchstone.rubric.parse import parse_rubric

    found = connection.execute(select(runs.c.id, runs.c.rubric).where(runs.c.number == run)).one()
    rubric = parse_rubric(found.rubric, name=f"the rubric of run {found.id}")

    def count(position: int, result: Result) -> Result:
        return count_waivers(result, given.get(position, ()), rubric=rubric)

    return count


def fetch_waivers(connection: Connection, run: int, *, position: int | None = None) -> dict[int, list[Waiver]]:
    """Every word on a run's violations, or on those of one reply, by position and in the order they were given."""
    here = [waivers.c.run == run, *([] if position is None else [waivers.c.result == position])]
    rows = connection.execute(select(waivers).where(*here).order_by(waivers.c.number)).all()
    id = connection.scalar(select(runs.c.id).where(runs.c.number == run)) if rows else None
    found: dict[int, list[Waiver]] = defaultdict(list)
    for row in rows:
        found[row.result].append(waiver_from_row(row, run=str(id)))
    return dict(found)
