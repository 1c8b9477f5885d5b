"""The section `judge` of touchstone.yaml and its flags -> JudgeSettings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from touchstone.core.errors import ConfigError

Kind = Literal["offline", "llm", "panel"]
OFFLINE = "offline"
CALLS = ".touchstone/calls"
# Votes at temperature 0 are one vote, on most servers; this is what varies them without making them random.
VOTING_TEMPERATURE = 0.7


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """The most that may be spent, in tokens and in the prices' currency."""

    tokens: int | None = None
    money: float | None = None


@dataclass(frozen=True, slots=True)
class PriceSettings:
    """What a million tokens cost."""

    input: float
    output: float
    currency: str = "USD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A judge of a panel: `offline`, or a model, on a server of its own if it names one.

    `name` is what it is called, by default its model: two servers may have a model of one name.
    """

    model: str
    name: str
    base_url: str | None = None
    key_variable: str | None = None
    prices: PriceSettings | None = None

    @property
    def is_offline(self) -> bool:
        return self.name == OFFLINE


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """Who grades, and how. `panel` lists the judges of a panel.

    `key_variable` names the environment variable with the key of `base_url`, where it is not the usual one.
    `record` is where calls are kept; `replay` asks that directory alone; `asks_anew` passes over what is kept.
    """

    kind: Kind = "offline"
    model: str | None = None
    base_url: str | None = None
    key_variable: str | None = None
    prompt: str = "judge"
    scope: Literal["case", "criterion", "checklist"] = "case"
    panel: tuple[Member, ...] = ()
    rule: Literal["median", "majority"] = "median"
    votes: int = 1
    cascade: bool = False
    temperature: float | None = None
    seed: int = 7
    max_tokens: int = 1600
    timeout: float = 60.0
    concurrency: int = 4
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    prices: PriceSettings | None = None
    record: str = CALLS
    replay: str | None = None
    asks_anew: bool = False

    @property
    def models(self) -> tuple[Member, ...]:
        """The members of a panel that are models."""
        return tuple(member for member in self.panel if not member.is_offline)

    @property
    def sampling_temperature(self) -> float:
        """As set, or what one vote or several need."""
        if self.temperature is not None:
            return self.temperature
        return VOTING_TEMPERATURE if self.votes > 1 else 0.0


def judge_settings(
    in_file: Mapping[str, Any], by_flag: Mapping[str, Any], *, beside: Path, flags: Mapping[str, Any] | None = None
) -> JudgeSettings:
    """The settings of the file, overridden by flags; `flags` are those a file does not have."""
    values = {**in_file, **by_flag}
    for section in ("budget", "prices"):
        values[section] = {**in_file.get(section, {}), **by_flag.get(section, {})}
    prompt = in_file.get("prompt")
    if prompt and "prompt" not in by_flag and prompt.endswith((".yaml", ".yml")):
        # A prompt stands beside the file that names it, as a rubric does.
        values["prompt"] = str(beside / prompt)
    values["budget"] = BudgetSettings(**values["budget"])
    values["prices"] = PriceSettings(**values["prices"]) if values["prices"] else None
    values["panel"] = tuple(_member(row, shared=values["prices"]) for row in values.get("panel", ()))
    settings = JudgeSettings(**values, **(flags or {}))
    _check(settings)
    return settings


def member_of(text: str) -> dict[str, str]:
    """`offline`, `gpt-4o-mini` or `qwen@http://localhost:8080/v1` as the mapping a file would have."""
    model, at, address = text.partition("@http")
    return {"model": model, "base_url": f"http{address}"} if at else {"model": text}


def _member(row: Mapping[str, Any], *, shared: PriceSettings | None) -> Member:
    """A member with prices of its own, or with those of all if it is on the server of all."""
    prices = PriceSettings(**row["prices"]) if row.get("prices") else None if row.get("base_url") else shared
    return Member(**{"name": row["model"], **row, "prices": prices})


def _check(settings: JudgeSettings) -> None:
    if settings.kind == "panel":
        _check_panel(settings)
    elif settings.budget.money is not None and settings.prices is None:
        raise ConfigError("a budget in money needs prices: give judge.prices.input and .output, per million tokens")
    if settings.replay and settings.asks_anew:
        raise ConfigError("--replay takes what is kept and --no-cache passes over it: choose one")


def _check_panel(settings: JudgeSettings) -> None:
    if len(settings.panel) < 2:
        raise ConfigError("a panel needs two judges or more: give --panel offline,gpt-4o-mini, or judge.panel")
    if not settings.models:
        raise ConfigError("a panel of offline judges alone is the offline judge: name a model in judge.panel")
    names = [member.name for member in settings.panel]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(
            f"two judges of the panel are called '{twice}': leave one out, or give one a 'name' in judge.panel"
        )
    unpriced = [member.name for member in settings.models if member.prices is None]
    if settings.budget.money is not None and unpriced:
        raise ConfigError(
            f"a budget in money needs prices for every model, and {unpriced[0]} has none: give judge.prices, or prices "
            "beside it in judge.panel (0 for a server of your own)"
        )
    currencies = sorted({member.prices.currency for member in settings.models if member.prices})
    if len(currencies) > 1:
        raise ConfigError(f"the panel's prices are in {' and '.join(currencies)}: give them in one currency")
