"""Tokens used -> what was spent, and whether another call still fits the budget."""

from dataclasses import dataclass
from threading import Lock

from touchstone.clients.llm.call import Call, Usage

_MILLION = 1_000_000
# Tokens for each character sent, before any server has said: English has about one in four.
FIRST_GUESS = 1 / 3


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in the currency named; the user says so, as prices change."""

    input: float
    output: float
    currency: str = "USD"

    def cost(self, usage: Usage) -> float:
        return (usage.input * self.input + usage.output * self.output) / _MILLION


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent; None is no limit."""

    tokens: int | None = None
    money: float | None = None


class Meter:
    """Counts what is used. A call is let through only if the longest answer to it would still fit."""

    def __init__(self, budget: Budget, prices: Prices | None) -> None:
        self.budget = budget
        self.prices = prices
        self.used = Usage()
        self.calls = 0
        self.recorded = 0
        self._reserved = Usage()
        self._tokens_per_character = FIRST_GUESS
        self._lock = Lock()

    def note_recorded(self) -> None:
        """One answer that came from records; those are found by several threads, all else happens on one."""
        with self._lock:
            self.recorded += 1

    @property
    def money(self) -> float | None:
        """What was spent; None without prices."""
        return None if self.prices is None else self.prices.cost(self.used)

    def estimate(self, call: Call) -> Usage:
        """What the call may use at most, by the most tokens that a character has cost so far."""
        return Usage(round(call.length * self._tokens_per_character) + 1, call.max_tokens)

    def reserve(self, call: Call) -> Usage | None:
        """Room for the call, to be settled afterwards; None when the budget has none left."""
        wanted = self.estimate(call)
        whole = self.used + self._reserved + wanted
        if self.budget.tokens is not None and whole.total > self.budget.tokens:
            return None
        if self.budget.money is not None and self.prices and self.prices.cost(whole) > self.budget.money:
            return None
        self._reserved = self._reserved + wanted
        return wanted

    def settle(self, reserved: Usage, used: Usage | None, *, call: Call) -> None:
        """Give back the room and count what was used; None for a call that got no answer."""
        self._reserved = Usage(self._reserved.input - reserved.input, self._reserved.output - reserved.output)
        if used is None:
            return
        self.used = self.used + used
        self.calls += 1
        if call.length:
            self._tokens_per_character = max(self._tokens_per_character, used.input / call.length)
