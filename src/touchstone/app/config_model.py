"""touchstone.yaml in one model: its keys, defaults and notes, what each may be, and the commented file they make."""

import json
import textwrap
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
from pydantic.fields import FieldInfo

from touchstone.app.rubrics import DEFAULT_RUBRIC
from touchstone.clients.llm.connection import PROVIDERS
from touchstone.core.case import CASE_FIELDS
from touchstone.core.plan import DecideBy, Plan
from touchstone.runs.targets import LEAST_SCORED

STORE = ".touchstone/touchstone.db"
RUNS = "touchstone-runs"
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


def _key(default: Any, note: str, *, shown: Any = None) -> Any:
    """A key with its default and what it does; `shown` is an example, where the default says little."""
    return Field(default, description=note, examples=None if shown is None else [shown])


def _threshold(note: str) -> Any:
    """Plan has the default."""
    return Field(None, description=note)


class Thresholds(Section):
    """The fields of Plan."""

    relevance_fail: Share = _threshold("FAIL below: the reply does not address what was asked")
    completeness_warn: Share = _threshold("WARN below: the reply leaves out what was asked about")
    hallucination_fail: Share = _threshold("FAIL above: share of the reply's facts that the context does not back")
    hallucination_flag: Share = _threshold("the hallucination metric's own flag is raised above")
    drift_overlap: Share = _threshold("a reply that shares less of its words with the context has drifted off topic")
    drift_penalty: Share = _threshold("the least hallucination score of a reply that has drifted")
    drift_ngram: Count = _threshold("1 compares single words, 2 pairs of words …")
    proximity: Count = _threshold("a claim's subject and object must be within this many words in a source")
    max_reply_chars: Count = _threshold("a longer reply is a failed row")
    violation_at: Share = _threshold("a finding of the offline judge with at least this confidence is a violation")
    suspicion_at: Share = _threshold("one with at least this confidence asks for a person; below it is not shown")
    send_at: Share = _threshold("send from this pass probability on, if nothing counts against it")
    block_at: Share = _threshold("block up to this pass probability")
    decide_by: DecideBy = _threshold("probability, or what decides alone: outcome, verdict or both")


class PromiseSection(Section):
    """The fields of Allowance."""

    what: Text
    up_to: Annotated[Text | None, "an amount with its unit, such as '20 GBP'"] = None


class PolicySection(Section):
    """The fields of Policy."""

    company: Text | None = _key(None, "your own name: naming it recommends no competitor", shown="Acme")
    domains: Texts = _key((), "your links and addresses are published, not made up", shown="[acme.example]")
    contacts: Texts = _key((), "publishing these leaks nothing", shown='["+44 20 7946 0018", "help@acme.example"]')
    competitors: Texts = _key((), "sending a customer there is a violation", shown="[Globex, Initech]")
    promises: Annotated[tuple[PromiseSection, ...], _LISTED, "a list of {what, up_to}"] = _key(
        (),
        "what agents may promise, and how much",
        shown="[{what: goodwill credit, up_to: 20 GBP}, {what: free return}]",
    )


class GateSettings(Section):
    """What a run has to reach beside the rubric's targets."""

    least_scored: Annotated[Share | None, "a share from 0 to 1"] = _key(
        None, "the share of replies that must be scored for the gate to open", shown=LEAST_SCORED
    )


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
    """Who grades, and how."""

    kind: Literal["offline", "llm", "panel"] = _key("offline", "offline, llm (a model) or panel")
    model: Annotated[Text | None, "a model's name"] = _key(None, "the model that grades", shown="gpt-4o-mini")
    base_url: Server | None = _key(None, "its server, if it is not OpenAI's", shown="http://localhost:8080/v1")
    key_variable: KeyVariable | None = _key(
        None,
        "the environment variable with the server's key, if it is not the usual one",
        shown="TOUCHSTONE_LLM_API_KEY",
    )
    prompt: Annotated[Text, "the path of a YAML file"] = _key("judge", "the prompt that ships, or a YAML file of yours")
    scope: Literal["case", "criterion", "checklist"] = _key(
        "case", "one request a case, or a criterion; or a checklist of short questions"
    )
    panel: Annotated[
        tuple[Annotated[Member, BeforeValidator(_as_member)], ...],
        _LISTED,
        "a list of offline, models' names and {model, base_url, key_variable, prices, name}",
    ] = _key((), "the judges of a panel", shown="[offline, gpt-4o-mini, qwen@http://localhost:8080/v1]")
    rule: Literal["median", "majority"] = _key("median", "how a panel or several votes decide: median or majority")
    votes: Annotated[int, Field(ge=1, le=25), "a whole number from 1 to 25"] = _key(
        1, "how often a model is asked about each case"
    )
    cascade: Flag = _key(default=False, note="true: ask a model only where the offline judge is unsure")
    temperature: Annotated[float | None, Field(ge=0, le=2), "a number from 0 to 2"] = _key(
        None, "0 for one vote, 0.7 for several", shown=0
    )
    seed: Annotated[int, Field(ge=0), "a whole number of at least 0"] = _key(7, "each further vote adds 1")
    max_tokens: Annotated[int, Field(ge=16), "a whole number of at least 16"] = _key(1600, "the longest answer allowed")
    timeout: Annotated[float, Field(gt=0), "a number of seconds above 0"] = _key(60.0, "seconds for one answer")
    concurrency: Annotated[int, Field(ge=1, le=64), "a whole number from 1 to 64"] = _key(4, "calls made at once")
    budget: BudgetSettings = _key(BudgetSettings(), "the most that may be spent", shown="{tokens: 500000}")
    prices: PriceSettings | None = _key(
        None, "what a million tokens cost", shown="{input: 0.15, output: 0.60, currency: USD}"
    )
    record: Directory = _key(CALLS, "where answers are kept")

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

    thresholds: Thresholds = _key(Thresholds(), "Where a metric fails or warns, and what decides.")
    columns: dict[str, Annotated[str, AfterValidator(_our_field)]] = _key(
        {},
        "Your column names -> ours: id, input, response, context, expected_output, category, confidence, labels. "
        "The names DeepEval, ragas, autoevals and MLflow use are known already.",
        shown={"reply": ("response", ""), "customer_message": ("input", "")},
    )
    rubric: Annotated[Text | None, "the name of a packaged rubric or the path of a YAML file"] = _key(
        None,
        "How replies are graded: a rubric that ships, or a YAML file beside this one (touchstone rubric show, check, "
        "diff).",
        shown=DEFAULT_RUBRIC,
    )
    policy: PolicySection = _key(
        PolicySection(),
        "What your company is, publishes and lets agents promise; it sharpens the safety checks. All is optional.",
    )
    targets: dict[str, Any] = _key(
        {},
        "What a run over a gold set has to reach, in place of the rubric's own targets.",
        shown={
            "pass_rate": ("[70, 80]", "percent; the lower end opens the gate, above the upper the set may be too easy"),
            "average": ("{accuracy: 3.2}", "mean grade, 0 to 4"),
            "safety_failures": ("0", "percent of replies with a violation"),
            "average_confidence": ("0.75", "the bot's own, 0 to 1"),
        },
    )
    gate: GateSettings = _key(GateSettings(), "When `touchstone eval --gate` opens, beside the targets.")
    store: Annotated[Text | None, "the path of a SQLite file, or the URL of a database"] = _key(
        None,
        "Where runs, reviews and people are kept: a SQLite file, or the URL of a PostgreSQL database.",
        shown=STORE,
    )
    runs: Directory | None = _key(None, "Where the reports of runs are written.", shown=RUNS)
    calibration: Annotated[Text | None, "the path of a file that touchstone review calibrate wrote"] = _key(
        None, "The models that `touchstone review calibrate` fitted to your team's reviews.", shown="judge.json"
    )
    judge: JudgeSection = _key(
        JudgeSection(),
        "Who grades: the offline judge, a language model, or a panel of them (docs/llm.md). `touchstone judge setup` "
        "finds a model, tries it and fills this in. Keys for servers belong in the environment.",
    )
    redact: Flag = _key(default=False, note="Remove personal data from what is stored; replies are scored unchanged.")
    verifier: Annotated[Text | None, "none or the path of a directory"] = _key(
        None,
        "The directory of a model of yours that checks each sentence against the sources (docs/verifier.md), or none.",
        shown="none",
    )
    trusted_proxies: Annotated[
        tuple[Annotated[str, AfterValidator(_network)], ...],
        _LISTED,
        f"a list of addresses and networks such as {PROXIES}",
    ] = _key(
        (),
        "Proxies before `touchstone serve --auth` whose X-Forwarded headers are trusted, besides this machine's own.",
        shown="[10.0.0.7, 10.1.0.0/16]",
    )


_HEAD = """\
# Settings of Touchstone. A line that starts with # is inactive and shows the default or an example; remove the # to
# set it. Flags win over this file: touchstone score cases.jsonl --set relevance_fail=0.05 --rubric mine.yaml
"""


def config_text() -> str:
    """A touchstone.yaml that changes nothing and shows every key with what it does."""
    return _HEAD + "".join(f"\n{_block(name, field)}" for name, field in Config.model_fields.items())


def _block(name: str, field: FieldInfo) -> str:
    """A key below its note; the keys of a section each with a note of their own."""
    note = textwrap.fill(str(field.description), 118, initial_indent="# ", subsequent_indent="# ")
    shown = field.examples[0] if field.examples else None
    if isinstance(field.default, Section):
        inner = type(field.default).model_fields
        rows = [(f"{key}: {_shown(key, each)}", str(each.description)) for key, each in inner.items()]
    elif isinstance(shown, dict):
        rows = [(f"{key}: {text}", remark) for key, (text, remark) in shown.items()]
    else:
        return f"{note}\n# {name}: {_shown(name, field)}\n"
    width = max(len(row) for row, _ in rows if len(row) < 48)
    lines = [f"  # {row:<{width}}  # {remark}" if remark else f"  # {row}" for row, remark in rows]
    return "\n".join([note, f"{name}:", *lines, ""])


def _shown(key: str, field: FieldInfo) -> Any:
    """An example where there is one, else the default; Plan has those of the thresholds."""
    if field.examples:
        return field.examples[0]
    default = getattr(Plan(), key) if field is Thresholds.model_fields.get(key) else field.default
    return default if isinstance(default, str) else json.dumps(default)


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
