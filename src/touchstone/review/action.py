"""What is to be done about a pattern: who does it, whether it is done, and what became of the pattern since."""

from dataclasses import dataclass, replace
from typing import Literal

from touchstone.stats.interval import Interval, difference_of_independent, wilson

ActionState = Literal["open", "done"]
ACTION_STATES: tuple[ActionState, ...] = ("open", "done")


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing to do about a pattern. A change is a new revision of the same `id`; the last one counts.

    `run` is the run in which the pattern was seen.
    """

    id: str
    revision: int
    pattern: str
    owner: str
    text: str
    state: ActionState
    by: str
    made: str
    run: str


@dataclass(frozen=True, slots=True)
class Share:
    """How often a pattern was seen among how many replies of a run."""

    run: str
    count: int
    replies: int

    @property
    def rate(self) -> float | None:
        return self.count / self.replies if self.replies else None


@dataclass(frozen=True, slots=True)
class Effect:
    """A pattern's share in the run an action was taken on and in the next one, and the change with its interval."""

    before: Share
    after: Share
    change: float
    interval: Interval


def effect_of(before: Share, after: Share) -> Effect | None:
    """The change of the pattern's share, by Newcombe's interval of two independent shares; None without replies."""
    old, new = before.rate, after.rate
    if old is None or new is None:
        return None
    first, second = wilson(before.count, before.replies), wilson(after.count, after.replies)
    interval = difference_of_independent(old, first, new, second)
    return Effect(before, after, new - old, replace(interval, method="Newcombe"))
