"""Tokens used -> what was spent, and whether another call still fits the budget, over all models of a judge."""

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
    """One budget for all models: an account for each, as each has prices of its own. All prices are in one currency."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.accounts: list[Account] = []
        self.lock = Lock()

    def open_account(self, name: str, prices: Prices | None = None) -> "Account":
        """An account for one model; without prices, only its tokens are counted."""
        account = Account(name, prices, meter=self)
        self.accounts.append(account)
        return account

    @property
    def used(self) -> Usage:
        return sum((account.used for account in self.accounts), Usage())

    @property
    def calls(self) -> int:
        return sum(account.calls for account in self.accounts)

    @property
    def recorded(self) -> int:
        """How many answers came from records."""
        return sum(account.recorded for account in self.accounts)

    @property
    def money(self) -> float | None:
        """What was spent with the models that have prices; None when none has."""
        spent = [account.money for account in self.accounts if account.money is not None]
        return sum(spent) if spent else None

    @property
    def currency(self) -> str | None:
        return next((account.prices.currency for account in self.accounts if account.prices), None)

    def has_room(self, wanted: "Account", usage: Usage) -> bool:
        """Whether the usage fits what is neither used nor reserved; asked under the lock."""
        tokens = usage.total + sum(account.held.total for account in self.accounts)
        money = sum(account.prices.cost(account.held) for account in self.accounts if account.prices)
        money += wanted.prices.cost(usage) if wanted.prices else 0.0
        too_many = self.budget.tokens is not None and tokens > self.budget.tokens
        too_dear = self.budget.money is not None and money > self.budget.money
        return not too_many and not too_dear


class Account:
    """What one model uses. A call is let through only if the longest answer to it would still fit the budget."""

    def __init__(self, name: str, prices: Prices | None, *, meter: Meter) -> None:
        self.name = name
        self.prices = prices
        self.used = Usage()
        self.calls = 0
        self.recorded = 0
        self._meter = meter
        self._reserved = Usage()
        self._recorded = Usage()
        self._tokens_per_character = FIRST_GUESS

    @property
    def money(self) -> float | None:
        return None if self.prices is None else self.prices.cost(self.used)

    @property
    def held(self) -> Usage:
        """What is used or reserved."""
        return self.used + self._reserved

    @property
    def used_by_all(self) -> Usage:
        """What all models of the judge used."""
        return self._meter.used

    @property
    def answers(self) -> int:
        """How many there were, from the server or from records."""
        return self.calls + self.recorded

    @property
    def mean(self) -> Usage:
        """What one answer used, those from records when they were made; nothing as long as there is none."""
        return (self.used + self._recorded).times(1 / self.answers) if self.answers else Usage()

    def note_recorded(self, used: Usage) -> None:
        """One answer that came from records, and what it used when it was made."""
        with self._meter.lock:
            self.recorded += 1
            self._recorded = self._recorded + used

    def estimate(self, call: Call) -> Usage:
        """What the call may use at most, by the most tokens that a character has cost so far."""
        return Usage(round(call.length * self._tokens_per_character) + 1, call.max_tokens)

    def reserve(self, call: Call) -> Usage | None:
        """Room for the call, to be settled afterwards; None when the budget has none left."""
        with self._meter.lock:
            wanted = self.estimate(call)
            if not self._meter.has_room(self, wanted):
                return None
            self._reserved = self._reserved + wanted
            return wanted

    def settle(self, reserved: Usage, used: Usage | None, *, call: Call) -> None:
        """Give back the room and count what was used; None for a call that got no answer."""
        with self._meter.lock:
            self._reserved = Usage(self._reserved.input - reserved.input, self._reserved.output - reserved.output)
            if used is None:
                return
            self.used = self.used + used
            self.calls += 1
            if call.length:
                self._tokens_per_character = max(self._tokens_per_character, used.input / call.length)
