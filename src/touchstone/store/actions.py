"""Actions on patterns, and versions of rubrics: both are added to, and their last revision counts."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Row, Select, func, insert, select
from sqlalchemy.exc import IntegrityError

from touchstone.core.errors import ReviewError
from touchstone.review.action import ACTION_STATES, Action, ActionState
from touchstone.store.database import Database
from touchstone.store.review_schema import actions, rubric_versions

_NEWER = "the action was changed meanwhile: reload it"


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
        with self._database.writing() as connection:
            last = connection.scalar(select(func.max(actions.c.revision)).where(actions.c.id == action.id)) or 0
            if action.revision != last + 1:
                raise ReviewError(_NEWER, kind="conflict")
            try:
                connection.execute(insert(actions), asdict(action))
            except IntegrityError:
                raise ReviewError(_NEWER, kind="conflict") from None
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
        found = self._fetch(select(actions).join(last, newest).order_by(actions.c.made, actions.c.id))
        return tuple(
            action
            for action in found
            if (state is None or action.state == state) and (pattern is None or action.pattern == pattern)
        )

    def _fetch(self, query: Select[Any]) -> tuple[Action, ...]:
        with self._database.reading() as connection:
            return tuple(Action(**row._mapping) for row in connection.execute(query))


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
        with self._database.writing() as connection:
            if connection.scalar(select(rubric_versions.c.hash).where(rubric_versions.c.hash == version.hash)):
                return False
            try:
                connection.execute(insert(rubric_versions), asdict(version))
            except IntegrityError:
                return False
        return True

    def list(self) -> tuple[RubricVersion, ...]:
        """The newest first."""
        query = select(rubric_versions).order_by(rubric_versions.c.made.desc(), rubric_versions.c.version.desc())
        with self._database.reading() as connection:
            return tuple(_version(row) for row in connection.execute(query))

    def get(self, hash: str) -> RubricVersion:
        with self._database.reading() as connection:
            row = connection.execute(select(rubric_versions).where(rubric_versions.c.hash == hash)).first()
        if row is None:
            raise ReviewError(f"there is no rubric version '{hash}'", kind="unknown")
        return _version(row)


def _version(row: Row[Any]) -> RubricVersion:
    return RubricVersion(**row._mapping)
