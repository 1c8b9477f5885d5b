"""What people note on a reply of a run, in no queue: violations they waive, and cases they take into a gold set."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, exists, insert, select

from touchstone.core.errors import ReviewError
from touchstone.runs.waivers import Waiver
from touchstone.store.database import Database
from touchstone.store.results import fetch_waivers, recount
from touchstone.store.review_rows import waiver_to_row
from touchstone.store.review_schema import promotions, waivers
from touchstone.store.rows import result_from_body
from touchstone.store.schema import bodies, results, runs


@dataclass(frozen=True, slots=True)
class Promotion:
    """A reply whose case is to become part of a gold set."""

    run: str
    result: int
    by: str
    made: str


class Marks:
    """Waivers and promotions, by run and position."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def waive(self, waiver: Waiver) -> bool:
        """Keeps a waiver beside its violation and counts the reply without it; whether it is new: twice is once."""
        if not waiver.withdrawn and not waiver.reason.strip():
            raise ReviewError("a violation is waived with a reason: say why it is none")
        with self._database.writing() as connection:
            number = _run(connection, waiver.run)
            if connection.scalar(select(exists().where(waivers.c.id == waiver.id))):
                return False
            found = _violations(connection, number, waiver.result)
            if (waiver.kind, waiver.start, waiver.end) not in found:
                raise ReviewError(
                    f"the judge found no {waiver.kind} at {waiver.start} to {waiver.end} of this reply", kind="unknown"
                )
            connection.execute(insert(waivers), waiver_to_row(waiver, run=number))
            recount(connection, number, waiver.result)
            return True

    def waivers(self, run: str, result: int) -> tuple[Waiver, ...]:
        """Every word on the reply's violations, in the order they were given."""
        with self._database.reading() as connection:
            found = fetch_waivers(connection, _run(connection, run), position=result)
        return tuple(found.get(result, ()))

    def promote(self, run: str, result: int, *, by: str, at: str) -> bool:
        """Marks a case for a gold set, and whether that is new; once is enough."""
        with self._database.writing() as connection:
            number = _run(connection, run)
            if connection.scalar(select(exists().where(*_here(number, result)))):
                return False
            if not connection.scalar(
                select(exists().where(results.c.run == number, results.c.position == result, _has_case()))
            ):
                raise ReviewError(f"run {run} has no case at position {result}", kind="unknown")
            connection.execute(insert(promotions), {"run": number, "result": result, "by": by, "made": at})
            return True

    def demote(self, run: str, result: int) -> bool:
        """Takes the mark away, and whether there was one."""
        with self._database.writing() as connection:
            return bool(connection.execute(delete(promotions).where(*_here(_run(connection, run), result))).rowcount)

    def is_promoted(self, run: str, result: int) -> bool:
        with self._database.reading() as connection:
            return bool(connection.scalar(select(exists().where(*_here(_run(connection, run), result)))))

    def promoted(self, *, run: str | None = None) -> tuple[Promotion, ...]:
        """In the order they were marked."""
        query = _PROMOTED if run is None else _PROMOTED.where(runs.c.id == run)
        with self._database.reading() as connection:
            return tuple(_promotion(row) for row in connection.execute(query))


_PROMOTED: Select[Any] = (
    select(runs.c.id, promotions.c.result, promotions.c.by, promotions.c.made)
    .where(runs.c.number == promotions.c.run)
    .order_by(promotions.c.made, promotions.c.run, promotions.c.result)
)


def _promotion(row: Row[Any]) -> Promotion:
    return Promotion(row.id, row.result, row.by, row.made)


def _here(run: int, result: int) -> tuple[Any, Any]:
    return promotions.c.run == run, promotions.c.result == result


def _has_case() -> Any:
    return results.c.case_hash.is_not(None)


def _run(connection: Connection, id: str) -> int:
    query = select(runs.c.number).where(runs.c.id == id)
    if connection.get_execution_options().get("writes", False):
        # Of two waivers on one reply the second has to count the first.
        query = query.with_for_update()
    number: int | None = connection.scalar(query)
    if number is None:
        raise ReviewError(f"there is no run '{id}': touchstone runs list shows them", kind="unknown")
    return number


def _violations(connection: Connection, run: int, position: int) -> set[tuple[str, int, int]]:
    body = connection.scalar(select(bodies.c.body).where(bodies.c.run == run, bodies.c.position == position))
    if body is None:
        raise ReviewError(f"the run has no reply at position {position}", kind="unknown")
    grading = result_from_body(body).rubric
    return {(each.kind, each.start, each.end) for each in grading.violations} if grading else set()
