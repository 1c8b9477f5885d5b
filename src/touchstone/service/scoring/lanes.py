"""What requests want scored -> the case that a free process takes next, with an end to how much may wait.

Short single cases go first: somebody waits to send that one reply. All others share the rest in turn, case by case,
and the long ones among them never hold the last process, so that a short one soon finds a process free.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from touchstone.core.case import Case
from touchstone.io.cases import Entry
from touchstone.service.scoring.worker import EncodedResult

# Efforts, counted in characters of a reply. A long case takes up to a second and a half, on hostile text.
LONG = 20_000
# What counts as one case of those that may wait: a reply of this length is scored in some 50 ms.
_ONE = 2_000
# What is not the reply is read, but hardly searched (benchmarks/results/speed.json, growth).
_SOURCES_SHARE = 3

LaneName = Literal["prompt", "patient"]


class OverloadError(Exception):
    """More is waiting than is soon scored; whoever asked may come again."""


def effort(entry: Entry) -> int:
    """What an entry will cost to score, estimated from its texts' lengths."""
    case = entry.case
    if not isinstance(case, Case):
        return 0
    asked = len(case.input) if isinstance(case.input, str) else sum(len(turn.content) for turn in case.input)
    sources = asked + sum(len(passage.text) for passage in case.context or ()) + len(case.expected_output or "")
    return len(case.response) + sources // _SOURCES_SHARE


@dataclass(eq=False, slots=True)
class ScoringOrder:
    """The cases of one request, how many of them were begun, and what became of them."""

    entries: Sequence[Entry]
    future: "asyncio.Future[list[EncodedResult]]"
    efforts: Sequence[int]
    asked: float
    begun: int = 0
    hung: int = 0
    judgements: dict[int, EncodedResult] = field(default_factory=dict)

    @property
    def lane(self) -> LaneName:
        return "prompt" if len(self.entries) == 1 and self.efforts[0] <= LONG else "patient"

    @property
    def begins_long(self) -> bool:
        """Whether the next case to be begun is a long one that shares its lane."""
        return self.lane == "patient" and self.efforts[self.begun] > LONG

    def is_wanted(self) -> bool:
        """Whether somebody still waits for it."""
        return not self.future.cancelled()


@dataclass(frozen=True, slots=True)
class ScoringPiece:
    """One case of an order, handed to a process."""

    order: ScoringOrder
    at: int
    is_long: bool
    begun: float

    @property
    def entry(self) -> Entry:
        return self.order.entries[self.at]

    @property
    def effort(self) -> int:
        return self.order.efforts[self.at]


class Lanes:
    """Orders that wait, and the pieces that are being scored. Orders come from one thread, several take pieces."""

    def __init__(self, *, prompt: int, patient: int, workers: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = {"prompt": prompt, "patient": patient}
        self._room = dict(self._most)
        self._waiting: dict[LaneName, list[ScoringOrder]] = {"prompt": [], "patient": []}
        self._running: set[ScoringPiece] = set()
        self._workers = workers
        self._clock = clock
        self._is_closed = False
        self._changed = threading.Condition()

    def add(self, entries: Sequence[Entry], future: "asyncio.Future[list[EncodedResult]]") -> ScoringOrder:
        """Take an order on; OverloadError when too much waits already. `remove` gives its room back."""
        order = ScoringOrder(entries, future, [effort(entry) for entry in entries], self._clock())
        with self._changed:
            if self._is_closed or self._cost(order) > self._room[order.lane]:
                raise OverloadError
            self._room[order.lane] -= self._cost(order)
            self._waiting[order.lane].append(order)
            self._changed.notify_all()
        return order

    def remove(self, order: ScoringOrder) -> None:
        """Forget an order that is done, or that nobody waits for any more."""
        with self._changed:
            self._room[order.lane] += self._cost(order)
            if order in self._waiting[order.lane]:
                self._waiting[order.lane].remove(order)

    def take(self) -> ScoringPiece | None:
        """The next piece, as soon as there is one; None once the lanes are closed."""
        with self._changed:
            while (order := self._next()) is None and not self._is_closed:
                self._changed.wait()
            if order is None or self._is_closed:
                return None
            piece = ScoringPiece(order, order.begun, order.begins_long, self._clock())
            self._running.add(piece)
            self._waiting[order.lane].remove(order)
            order.begun += 1
            if order.begun < len(order.entries):
                # Behind the others of its lane: a small batch does not wait for a large one.
                self._waiting[order.lane].append(order)
            return piece

    def done(self, piece: ScoringPiece) -> None:
        """The piece's process is free."""
        with self._changed:
            self._running.discard(piece)
            self._changed.notify_all()

    def close(self) -> list[ScoringOrder]:
        """Hand out nothing more; the orders that still wait."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            return [order for lane in self._waiting.values() for order in lane]

    @property
    def cases(self) -> int:
        """How many cases wait or are being scored."""
        with self._changed:
            waiting = sum(len(order.entries) - order.begun for lane in self._waiting.values() for order in lane)
            return waiting + len(self._running)

    @property
    def lag(self) -> float:
        """For how many seconds a short single case has waited, or would have: all processes are at older cases."""
        with self._changed:
            now = self._clock()
            waited = max((now - order.asked for order in self._waiting["prompt"]), default=0.0)
            held = min((now - piece.begun for piece in self._running), default=0.0)
            return max(waited, held if len(self._running) >= self._workers else 0.0)

    def _next(self) -> ScoringOrder | None:
        # With one process there is none to be kept free.
        most_long = max(1, self._workers - 1)
        has_room = sum(piece.is_long for piece in self._running) < most_long
        orders = (order for lane in self._waiting.values() for order in lane)
        return next((order for order in orders if has_room or not order.begins_long), None)

    def _cost(self, order: ScoringOrder) -> int:
        """In cases; one that is long counts as several. An order that alone fills its lane is let into an empty one."""
        cost = sum(1 + each // _ONE for each in order.efforts)
        return max(len(order.entries), min(cost, self._most[order.lane]))
