"""What is noted beside runs and queues: waivers, cases for a gold set, actions, rubrics, and how far judges agree.

Rows are only ever added to, but for the mark on a case; of several on one thing, the last counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import delete, exists, func, insert, select

from touchstone.core.errors import ReviewError
from touchstone.review.weekly import ACTION_STATES, Action, ActionState
from touchstone.runs.waivers import Waiver
from touchstone.store.database import Database
from touchstone.store.results import (
    SCORED_COLUMNS,
    WITH_TEXTS,
    Scored,
    bodies,
    cases,
    fetch_waivers,
    recount,
    result_of,
    results,
    scored_from_row,
    stream,
    waivers,
)
from touchstone.store.tables import Json, Words, find_run_number, from_row, keys, metadata, needed, runs, to_row
from touchstone.trust.measurement import Measurement
from touchstone.trust.pairs import AgreementFigures, figures_from_dict, figures_to_dict

promotions = sa.Table(
    "promotions",
    metadata,
    *keys(sa.Integer, "run", "result"),
    sa.Column("by", Words, nullable=False),
    sa.Column("made", sa.String(40), nullable=False),
    sa.ForeignKeyConstraint(["run", "result"], ["results.run", "results.position"], ondelete="CASCADE"),
)

actions = sa.Table(
    "actions",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("revision", sa.Integer, primary_key=True),
    *needed(Words, "pattern", "owner", "text"),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("by", Words, nullable=False),
    sa.Column("made", sa.String(40), nullable=False),
    # The run's id as it was: an action outlives the run.
    sa.Column("run", Words, nullable=False),
)

rubric_versions = sa.Table(
    "rubric_versions",
    metadata,
    sa.Column("hash", Words, primary_key=True),
    *needed(Words, "name", "version"),
    sa.Column("made", sa.String(40), nullable=False, index=True),
    *needed(Words, "by", "text"),
)

measurements = sa.Table(
    "measurements",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    # As runs name it.
    *needed(Words, "judge", "goldset"),
    # What the gold set said and what it was graded by, as in the receipt of a run.
    *needed(sa.String(64), "data", "rubric_hash"),
    sa.Column("made", sa.String(40), nullable=False),
    *needed(sa.Integer, "cases", "labelled"),
    sa.Column("figures", Json(AgreementFigures, write=figures_to_dict, read=figures_from_dict), nullable=False),
    sqlite_autoincrement=True,
)
sa.Index("measurements_by_judge", measurements.c.judge, measurements.c.number)

# A case with labels holds this; in a customer's words the quotation marks would be escaped.
_LABELLED = '"labels":['
_NEWER = "the action was changed meanwhile: reload it"


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
        with self._database.writing():
            # Of two waivers on one reply the second has to count the first: the run is locked.
            number = self._number(waiver.run)
            if self._database.scalar(select(exists().where(waivers.c.id == waiver.id))):
                return False
            here = (bodies.c.run == number, bodies.c.position == waiver.result)
            body = self._database.scalar(select(bodies.c.body).where(*here))
            if body is None:
                raise ReviewError(f"the run has no reply at position {waiver.result}", kind="unknown")
            grading = result_of(body).rubric
            found = {(each.kind, each.start, each.end) for each in grading.violations} if grading else set()
            if (waiver.kind, waiver.start, waiver.end) not in found:
                raise ReviewError(
                    f"the judge found no {waiver.kind} at {waiver.start} to {waiver.end} of this reply", kind="unknown"
                )
            self._database.write(insert(waivers), to_row(waivers, waiver, run=number))
            recount(self._database, number, waiver.result)
            return True

    def waivers(self, run: str, result: int) -> tuple[Waiver, ...]:
        """Every word on the reply's violations, in the order they were given."""
        with self._database.reading():
            found = fetch_waivers(self._database, self._number(run), position=result)
        return tuple(found.get(result, ()))

    def promote(self, run: str, result: int, *, by: str, at: str) -> bool:
        """Marks a case for a gold set, and whether that is new; once is enough."""
        with self._database.writing():
            number = self._number(run)
            here = (results.c.run == number, results.c.position == result, results.c.case_hash.is_not(None))
            if not self._database.scalar(select(exists().where(*here))):
                raise ReviewError(f"run {run} has no case at position {result}", kind="unknown")
            row = {"run": number, "result": result, "by": by, "made": at}
            return self._database.add_missing(promotions, row) > 0

    def demote(self, run: str, result: int) -> bool:
        """Takes the mark away, and whether there was one."""
        with self._database.writing():
            here = (promotions.c.run == self._number(run), promotions.c.result == result)
            return self._database.write(delete(promotions).where(*here)) > 0

    def is_promoted(self, run: str, result: int) -> bool:
        with self._database.reading():
            here = (promotions.c.run == self._number(run), promotions.c.result == result)
            return bool(self._database.scalar(select(exists().where(*here))))

    def promoted(self, *, run: str | None = None) -> tuple[Promotion, ...]:
        """In the order they were marked."""
        joined = promotions.join(runs, runs.c.number == promotions.c.run)
        query = select(runs.c.id, promotions.c.result, promotions.c.by, promotions.c.made).select_from(joined)
        query = query.order_by(promotions.c.made, promotions.c.run, promotions.c.result)
        rows = self._database.rows(query if run is None else query.where(runs.c.id == run))
        return tuple(Promotion(*row) for row in rows)

    def _number(self, run: str) -> int:
        number = find_run_number(self._database, run)
        if number is None:
            raise ReviewError(f"there is no run '{run}': touchstone runs list shows them", kind="unknown")
        return number


class Actions:
    """What is to be done about patterns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, action: Action) -> Action:
        """A new action (revision 1) or the next revision of one; ReviewError when another was faster."""
        if action.state not in ACTION_STATES:
            raise ReviewError(f"state '{action.state}' is not known: allowed are {', '.join(ACTION_STATES)}")
        if not action.text.strip() or not action.pattern.strip():
            raise ReviewError("an action names its pattern and says what is to be done")
        with self._database.writing():
            last = self._database.scalar(select(func.max(actions.c.revision)).where(actions.c.id == action.id)) or 0
            is_next = action.revision == last + 1
            if not is_next or not self._database.add_missing(actions, to_row(actions, action)):
                raise ReviewError(_NEWER, kind="conflict")
        return action

    def get(self, id: str) -> Action:
        found = self.revisions(id)
        if not found:
            raise ReviewError(f"there is no action '{id}'", kind="unknown")
        return found[-1]

    def revisions(self, id: str) -> tuple[Action, ...]:
        """The action as it was and is."""
        return self._fetch(select(actions).where(actions.c.id == id).order_by(actions.c.revision))

    def list(self, *, state: ActionState | None = None, pattern: str | None = None) -> tuple[Action, ...]:
        """The last revision of each, the oldest change first."""
        last = select(actions.c.id, func.max(actions.c.revision).label("revision")).group_by(actions.c.id).subquery()
        newest = (actions.c.id == last.c.id) & (actions.c.revision == last.c.revision)
        query = select(actions).join(last, newest).order_by(actions.c.made, actions.c.id)
        for column, wanted in ((actions.c.state, state), (actions.c.pattern, pattern)):
            query = query if wanted is None else query.where(column == wanted)
        return self._fetch(query)

    def _fetch(self, query: sa.Select[Any]) -> tuple[Action, ...]:
        return tuple(from_row(Action, row) for row in self._database.rows(query))


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricVersion:
    """A rubric's text as it was at some time; `hash` names its content."""

    hash: str
    name: str
    version: str
    made: str
    by: str
    text: str


class Rubrics:
    """Every version of a rubric that graded something or that a lead kept."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, version: RubricVersion) -> bool:
        """Whether it is new; one that is there stays as it was."""
        return self._database.add_missing(rubric_versions, to_row(rubric_versions, version)) > 0

    def list(self) -> tuple[RubricVersion, ...]:
        """The newest first."""
        query = select(rubric_versions).order_by(rubric_versions.c.made.desc(), rubric_versions.c.version.desc())
        return tuple(from_row(RubricVersion, row) for row in self._database.rows(query))

    def get(self, hash: str) -> RubricVersion:
        row = self._database.first(select(rubric_versions).where(rubric_versions.c.hash == hash))
        if row is None:
            raise ReviewError(f"there is no rubric version '{hash}'", kind="unknown")
        return from_row(RubricVersion, row)


class Measurements:
    """How far judges agree with people, as it was measured."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, measurement: Measurement) -> None:
        """Adds it; of one judge on one gold set it is the newest from now on."""
        row = to_row(measurements, measurement, labelled=measurement.figures.labelled)
        self._database.write(insert(measurements), row)

    def of_judge(self, judge: str) -> tuple[Measurement, ...]:
        """The newest of exactly this judge on each gold set, the newest first."""
        newest = select(func.max(measurements.c.number)).where(measurements.c.judge == judge)
        of_sets = newest.group_by(measurements.c.goldset)
        query = select(measurements).where(measurements.c.number.in_(of_sets)).order_by(measurements.c.number.desc())
        return tuple(from_row(Measurement, row) for row in self._database.rows(query))

    def revision(self, judge: str) -> int:
        """Goes up whenever the judge is measured."""
        query = select(func.max(measurements.c.number)).where(measurements.c.judge == judge)
        return self._database.scalar(query) or 0

    def labelled_replies(self, run: str) -> Iterator[Scored]:
        """The replies of a run whose cases carry labels, with what the judge said before anything was waived."""
        source = WITH_TEXTS.join(runs, runs.c.number == results.c.run)
        labelled = cases.c.body.contains(_LABELLED, autoescape=True)
        for row in stream(self._database, SCORED_COLUMNS, source, runs.c.id == run, labelled):
            scored = scored_from_row(row, count=lambda position, result: result)
            if scored.case is not None and scored.case.labels:
                yield scored
