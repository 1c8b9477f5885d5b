"""Replies of a run -> the few that people review, a queue of items that wait for reviews, and how far it has come.

Every category has its share, and risky replies are drawn more often, at known probability: at most three times as
often by default, for in simulation (`stats.corrected`) a wider span of weights makes the corrected pass rate's interval
wider, as the few plain replies then speak for very many. The weight grows with the square root of the chance to fail,
as the judge's error does (Neyman's allocation): on the shipped labelled sets the interval is narrower than with weights
in proportion to that chance, or with only two weights.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from touchstone.runs.record import Record
from touchstone.stats.sampling import unequal_sample

# `waiting` no review, `partly` one of two, `differs` a ruling is needed, `done` people agree, `settled` by a ruling.
State = Literal["waiting", "partly", "differs", "done", "settled"]
STATES: tuple[State, ...] = ("waiting", "partly", "differs", "done", "settled")
FINISHED: frozenset[State] = frozenset({"done", "settled"})
SINGLE, DOUBLE = 1, 2
SIZE = 25
OVERSAMPLING = 3.0
MAX_OVERSAMPLING = 100
LOW_CONFIDENCE = 0.5


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

    @property
    def design(self) -> str:
        """How its replies were drawn, in words."""
        if self.oversampling == 1:
            return "all replies equally likely"
        return f"risky replies more often: up to {self.oversampling:g} times as likely as safe ones"


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


@dataclass(frozen=True, slots=True)
class Chosen:
    """A reply that was drawn, and the probability at which it was to be drawn."""

    place: int
    inclusion: float


def risk_of(record: Record) -> float:
    """The chance that the reply is bad, 0..1: 1 with a violation, else what the judge's pass probability leaves.

    Without a pass probability a reply is a risk or none. It is one where the judge or the bot is unsure of it: what
    nobody could judge is assumed to pass as often as the rest, and no other assumption errs as much.
    """
    if record.violations:
        return 1.0
    if record.pass_probability is not None:
        return 1 - record.pass_probability
    is_doubted = record.outcome == "FAIL" or record.decision != "send"
    return float(is_doubted or (record.confidence is not None and record.confidence < LOW_CONFIDENCE))


def choose(
    candidates: Mapping[int, Record], n: int = SIZE, *, seed: int, oversampling: float = OVERSAMPLING
) -> tuple[Chosen, ...]:
    """n of the replies by place, in the order they are to be reviewed; all of them when there are fewer.

    Each category gets its expected number, give or take one. The order says nothing of risk or place.
    """
    if oversampling < 1:
        raise ValueError(f"oversampling {oversampling:g}: allowed is 1, all alike, or more")
    places, records = list(candidates), candidates.values()
    weights = [1 + (oversampling - 1) * sqrt(risk_of(record)) for record in records]
    sample = unequal_sample(weights, n, seed=seed, strata=[record.category for record in records])
    drawn = zip(sample.indices, sample.inclusion, strict=True)
    chosen = [Chosen(places[index], inclusion) for index, inclusion in drawn]
    return tuple(sorted(chosen, key=lambda each: _order(seed, each.place)))


def _order(seed: int, place: int) -> bytes:
    return hashlib.sha256(f"order:{seed}:{place}".encode()).digest()
