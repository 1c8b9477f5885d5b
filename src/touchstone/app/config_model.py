"""The shape of touchstone.yaml, in one model: its keys, what each may be, and the words for it in a message."""

from collections.abc import Iterator, Sequence
from ipaddress import ip_network
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

from touchstone.clients.llm.connection import PROVIDERS
from touchstone.core.case import CASE_FIELDS
from touchstone.core.plan import DecideBy

OFFLINE = "offline"
CALLS = ".touchstone/calls"
# Votes at temperature 0 are one vote, on most servers; this is what varies them without making them random.
VOTING_TEMPERATURE = 0.7
PROXIES = "10.0.0.7 or 10.0.0.0/8"
# A settings file may come with a repository: it must not choose which of one's secrets goes to which server.
_PROVIDERS_KEYS = tuple(each.key_variable for each in PROVIDERS)
_KEY_PATTERN = rf"^(?:TOUCHSTONE_[A-Za-z0-9_]+|{'|'.join(_PROVIDERS_KEYS)})$"


def _our_field(name: str) -> str:
    if name not in CASE_FIELDS:
        raise ValueError
    return name


def _network(text: str) -> str:
    """The network as it is written in full; one address is a network too."""
    return str(ip_network(text.strip(), strict=False))


def _as_member(given: Any) -> Any:
    """`offline`, `gpt-4o-mini` or `qwen@http://localhost:8080/v1` as the mapping it is short for, with its name."""
    if isinstance(given, str) and given.strip():
        model, at, address = given.strip().partition("@http")
        given = {"model": model, "base_url": f"http{address}"} if at else {"model": model}
    return {"name": given["model"], **given} if isinstance(given, dict) and "model" in given else given


# The text beside a type is what a message says is allowed.
Share = Annotated[float, Field(ge=0, le=1), "a number from 0 to 1"]
Count = Annotated[int, Field(ge=1), "a whole number of at least 1"]
Flag = Annotated[bool, "true or false"]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), "text, in quotes where it is a number"]
Directory = Annotated[Text, "the path of a directory"]
Server = Annotated[Text, "the address of a server, such as http://localhost:8080/v1"]
Price = Annotated[float, Field(ge=0), "a price per million tokens, at least 0"]
KeyVariable = Annotated[
    str,
    StringConstraints(pattern=_KEY_PATTERN),
    "the name of an environment variable that starts with TOUCHSTONE_, or a provider's: " + ", ".join(_PROVIDERS_KEYS),
]
# YAML has lists, settings are frozen.
_LISTED = BeforeValidator(lambda given: tuple(given) if isinstance(given, list) else given)
Texts = Annotated[tuple[Text, ...], _LISTED, "a list of texts, each in quotes where it is a number"]


class Section(BaseModel):
    """A mapping of touchstone.yaml; read from there, which the context says, a key without a value is a slip."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _has_value(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None and info.context:
            raise ValueError
        return value


def _note(text: str) -> Any:
    """A threshold that Plan has the default of, and what it does."""
    return Field(None, description=text)


class Thresholds(Section):
    """The fields of Plan."""

    relevance_fail: Share = _note("FAIL below: the reply does not speak of what was asked")
    completeness_warn: Share = _note("WARN below: the reply leaves out what was asked about")
    hallucination_fail: Share = _note("FAIL above: share of the reply's facts that the context does not back")
    hallucination_flag: Share = _note("the hallucination metric's own flag is raised above")
    drift_overlap: Share = _note("a reply that shares less of its words with the context has drifted off topic")
    drift_penalty: Share = _note("the least hallucination score of a reply that has drifted")
    drift_ngram: Count = _note("1 compares single words, 2 pairs of words …")
    proximity: Count = _note("words within which a claim's subject and object must stand in a source")
    max_reply_chars: Count = _note("a longer reply is a failed row")
    violation_at: Share = _note("a finding of the offline judge with at least this confidence is a violation")
    suspicion_at: Share = _note("one with at least this confidence asks for a person; below it is not shown")
    send_at: Share = _note("send from this pass probability on, if nothing speaks against it")
    block_at: Share = _note("block up to this pass probability")
    decide_by: DecideBy = _note("probability, or the word that is final: outcome, verdict or both")


class PromiseSection(Section):
    """The fields of Allowance."""

    what: Text
    up_to: Annotated[Text | None, "an amount with its unit, such as '20 GBP'"] = None


class PolicySection(Section):
    """The fields of Policy."""

    company: Text | None = None
    domains: Texts = ()
    contacts: Texts = ()
    competitors: Texts = ()
    promises: Annotated[tuple[PromiseSection, ...], _LISTED, "a list of {what, up_to}"] = ()


class GateSettings(Section):
    """What a run has to reach beside the rubric's targets."""

    least_scored: Annotated[Share | None, "a share from 0 to 1"] = None


class BudgetSettings(Section):
    """The most that may be spent, in tokens and in the prices' currency."""

    tokens: Count | None = None
    money: Annotated[float | None, Field(gt=0), "a number above 0"] = None


class PriceSettings(Section):
    """What a million tokens cost."""

    input: Price
    output: Price
    currency: Text = "USD"


class Member(Section):
    """A judge of a panel: `offline`, or a model, on a server of its own if it names one.

    `name` is what it is called, by default its model: two servers may have a model of one name.
    """

    model: Text
    name: Text
    base_url: Server | None = None
    key_variable: KeyVariable | None = None
    prices: PriceSettings | None = None

    @property
    def is_offline(self) -> bool:
        return self.name == OFFLINE


class JudgeSection(Section):
    """Who grades, and how. `panel` lists the judges of a panel.

    `key_variable` names the environment variable with the key of `base_url`, where it is not the usual one.
    `record` is where calls are kept.
    """

    kind: Literal["offline", "llm", "panel"] = "offline"
    model: Annotated[Text | None, "a model's name"] = None
    base_url: Server | None = None
    key_variable: KeyVariable | None = None
    prompt: Annotated[Text, "the path of a YAML file"] = "judge"
    scope: Literal["case", "criterion", "checklist"] = "case"
    panel: Annotated[
        tuple[Annotated[Member, BeforeValidator(_as_member)], ...],
        _LISTED,
        "a list of offline, models' names and {model, base_url, key_variable, prices, name}",
    ] = ()
    rule: Literal["median", "majority"] = "median"
    votes: Annotated[int, Field(ge=1, le=25), "a whole number from 1 to 25"] = 1
    cascade: Flag = False
    temperature: Annotated[float | None, Field(ge=0, le=2), "a number from 0 to 2"] = None
    seed: Annotated[int, Field(ge=0), "a whole number of at least 0"] = 7
    max_tokens: Annotated[int, Field(ge=16), "a whole number of at least 16"] = 1600
    timeout: Annotated[float, Field(gt=0), "a number of seconds above 0"] = 60.0
    concurrency: Annotated[int, Field(ge=1, le=64), "a whole number from 1 to 64"] = 4
    budget: BudgetSettings = BudgetSettings()
    prices: PriceSettings | None = None
    record: Directory = CALLS

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


class JudgeSettings(JudgeSection):
    """With what only flags set: `replay` asks that directory alone; `asks_anew` passes over what is kept."""

    replay: str | None = None
    asks_anew: bool = False


class Config(Section):
    """The whole file; what a target may be is the rubric's matter: it knows the criteria."""

    thresholds: Thresholds = Thresholds()
    columns: dict[str, Annotated[str, AfterValidator(_our_field)]] = {}
    rubric: Annotated[Text | None, "the name of a packaged rubric or the path of a YAML file"] = None
    policy: PolicySection = PolicySection()
    targets: dict[str, Any] = {}
    gate: GateSettings = GateSettings()
    store: Annotated[Text | None, "the path of a SQLite file, or the URL of a database"] = None
    runs: Directory | None = None
    calibration: Annotated[Text | None, "the path of a file that touchstone review calibrate wrote"] = None
    judge: JudgeSection = JudgeSection()
    redact: Flag = False
    verifier: Annotated[Text | None, "none or the path of a directory"] = None
    trusted_proxies: Annotated[
        tuple[Annotated[str, AfterValidator(_network)], ...],
        _LISTED,
        f"a list of addresses and networks such as {PROXIES}",
    ] = ()


def keys_at(path: Sequence[str]) -> tuple[str, ...]:
    """What the section at `path` may hold; a list's items are passed over."""
    section = _section(_types_at(path))
    return tuple(section.model_fields) if section else ()


def allowed_at(path: Sequence[str]) -> str:
    """What the value at `path` may be, in words."""
    for part in _types_at(path):
        if isinstance(part, str):
            return part
        if get_origin(part) is Literal:
            *others, last = get_args(part)
            return f"{', '.join(others)} or {last}"
    return "a mapping of names to values"


def _types_at(path: Sequence[str]) -> list[Any]:
    """The type of the value at `path` with all it is made of and noted with, outermost first."""
    types: list[Any] = [Config]
    for name in path:
        section = _section(types)
        types = list(_unfolded(section.__annotations__.get(name))) if section else []
    return types


def _section(types: Sequence[Any]) -> type[Section] | None:
    return next((each for each in types if isinstance(each, type) and issubclass(each, Section)), None)


def _unfolded(type: Any) -> Iterator[Any]:
    yield type
    if get_origin(type) is not Literal:
        for part in reversed(get_args(type)):
            yield from _unfolded(part)
