"""What is to be done about a pattern: who does it, whether it is done, and what became of the pattern since."""

from dataclasses import dataclass
from typing import Literal

from touchstone.stats.interval import Interval, wilson

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
    """The change of the pattern's share; None when a run has no replies.

    Newcombe's interval (1998) of the difference of two independent shares, from Wilson's of each.
    """
    old, new = before.rate, after.rate
    if old is None or new is None:
        return None
    first, second = wilson(before.count, before.replies), wilson(after.count, after.replies)
    change = new - old
    below = ((new - second.low) ** 2 + (first.high - old) ** 2) ** 0.5
    above = ((second.high - new) ** 2 + (old - first.low) ** 2) ** 0.5
    return Effect(before, after, change, Interval(max(-1.0, change - below), min(1.0, change + above), "Newcombe"))
