"""The section `judge` of touchstone.yaml and its flags -> JudgeSettings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from touchstone.core.errors import ConfigError

Kind = Literal["offline", "llm", "panel"]
KINDS: tuple[Kind, ...] = ("offline", "llm", "panel")
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
class JudgeSettings:
    """Who grades, and how. `panel` lists the judges of a panel: `offline` or names of models.

    `record` is where calls are kept; `replay` asks that directory alone; `asks_anew` passes over what is kept.
    """

    kind: Kind = "offline"
    model: str | None = None
    base_url: str | None = None
    prompt: str = "judge"
    scope: Literal["case", "criterion"] = "case"
    panel: tuple[str, ...] = ()
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
    values["panel"] = tuple(values.get("panel", ()))
    values["budget"] = BudgetSettings(**values["budget"])
    values["prices"] = PriceSettings(**values["prices"]) if values["prices"] else None
    settings = JudgeSettings(**values, **(flags or {}))
    _check(settings)
    return settings


def _check(settings: JudgeSettings) -> None:
    if settings.budget.money is not None and settings.prices is None:
        raise ConfigError("a budget in money needs prices: give judge.prices.input and .output, per million tokens")
    if settings.kind == "panel" and len(settings.panel) < 2:
        raise ConfigError("a panel needs two judges or more: give judge.panel, such as [offline, gpt-4o-mini]")
    if settings.kind == "panel" and set(settings.panel) == {OFFLINE}:
        raise ConfigError("a panel of offline judges alone is the offline judge: name a model in judge.panel")
    if settings.replay and settings.asks_anew:
        raise ConfigError("--replay takes what is kept and --no-cache passes over it: choose one")
