"""Tokens used -> what was spent, and whether another call still fits the budget, over all models of a judge."""

from dataclasses import dataclass, field
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


@dataclass(slots=True)
class Meter:
    """One budget for all models: an account for each, as each has prices of its own. All prices are in one currency."""

    budget: Budget
    accounts: "list[Account]" = field(default_factory=list)
    lock: Lock = field(default_factory=Lock, repr=False)

    def open_account(self, name: str, prices: Prices | None = None) -> "Account":
        """An account for one model; without prices, only its tokens are counted."""
        account = Account(name, prices, self)
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
        spent = [account.prices.cost(account.used) for account in self.accounts if account.prices]
        return sum(spent) if spent else None

    @property
    def currency(self) -> str | None:
        return next((account.prices.currency for account in self.accounts if account.prices), None)

    def has_room(self) -> bool:
        """Whether what is used or reserved keeps to the budget; asked under the lock."""
        held = [(account.used + account.reserved, account.prices) for account in self.accounts]
        tokens = sum(usage.total for usage, _ in held)
        money = sum(prices.cost(usage) for usage, prices in held if prices)
        within_tokens = self.budget.tokens is None or tokens <= self.budget.tokens
        return within_tokens and (self.budget.money is None or money <= self.budget.money)


@dataclass(slots=True)
class Account:
    """What one model uses. A call is let through only if the longest answer to it would still fit the budget."""

    name: str
    prices: Prices | None
    meter: Meter = field(repr=False)
    used: Usage = field(default_factory=Usage)
    reserved: Usage = field(default_factory=Usage)
    calls: int = 0
    recorded: int = 0
    _recorded: Usage = field(default_factory=Usage)
    _tokens_per_character: float = FIRST_GUESS

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
        with self.meter.lock:
            self.recorded += 1
            self._recorded += used

    def estimate(self, call: Call) -> Usage:
        """What the call may use at most, by the most tokens that a character has cost so far."""
        return Usage(round(call.length * self._tokens_per_character) + 1, call.max_tokens)

    def reserve(self, call: Call) -> Usage | None:
        """Room for the call, to be settled afterwards; None when the budget has none left."""
        with self.meter.lock:
            wanted = self.estimate(call)
            self.reserved += wanted
            if self.meter.has_room():
                return wanted
            self.reserved -= wanted
            return None

    def settle(self, reserved: Usage, used: Usage | None, *, call: Call) -> None:
        """Give back the room and count what was used; None for a call that got no answer."""
        with self.meter.lock:
            self.reserved -= reserved
            if used is None:
                return
            self.used += used
            self.calls += 1
            if call.length:
                self._tokens_per_character = max(self._tokens_per_character, used.input / call.length)
