"""Replies of a run -> a queue of items that wait for reviews, and how far it has come."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

# `waiting` no review, `partly` one of two, `differs` a ruling is needed, `done` people agree, `settled` by a ruling.
State = Literal["waiting", "partly", "differs", "done", "settled"]
STATES: tuple[State, ...] = ("waiting", "partly", "differs", "done", "settled")
FINISHED: frozenset[State] = frozenset({"done", "settled"})
SINGLE, DOUBLE = 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Replies of one run that people are to grade. `needed` is how many people grade each; times are ISO 8601 in UTC.

    `population` is how many replies the items were drawn from. An empty `reviewers` lets every reviewer work.
    """

    id: str
    name: str
    run: str
    made: str
    by: str
    needed: int
    population: int
    seed: int
    oversampling: float
    reviewers: tuple[str, ...] = ()
    closed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One reply of a queue: its place there, the reply it is (`result` is its position in the run), and its state.

    `inclusion` is the probability at which it was drawn.
    """

    queue: str
    position: int
    result: int
    case: str
    draft: int
    category: str | None
    inclusion: float
    state: State = "waiting"


@dataclass(frozen=True, slots=True)
class Progress:
    """How many items of a queue are in each state."""

    waiting: int = 0
    partly: int = 0
    differs: int = 0
    done: int = 0
    settled: int = 0

    @property
    def items(self) -> int:
        return self.waiting + self.partly + self.differs + self.done + self.settled

    @property
    def finished(self) -> int:
        return self.done + self.settled

    @property
    def reviewed(self) -> int:
        """Items with all the reviews they need, whether people agree or not."""
        return self.differs + self.done + self.settled


def progress(states: Iterable[State]) -> Progress:
    """The count of each state."""
    counted = Counter(states)
    return Progress(**{str(state): counted[state] for state in STATES})
