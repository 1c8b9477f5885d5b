"""The shape of touchstone.yaml: which keys it may hold, what they may be, and what is said of one that may not."""

import difflib
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from ipaddress import ip_network
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    create_model,
)

from touchstone.app.judge_settings import member_of
from touchstone.clients.llm.connection import PROVIDERS
from touchstone.core.case import CASE_FIELDS
from touchstone.core.errors import ConfigError
from touchstone.core.plan import Plan
from touchstone.core.policy import Allowance, Policy

SECTIONS = (
    *("thresholds", "columns", "rubric", "policy", "targets", "gate", "store", "runs", "calibration", "judge"),
    *("redact", "verifier", "trusted_proxies"),
)
_PLAN_TYPES = get_type_hints(Plan)
_SHARE = Annotated[float, Field(ge=0, le=1)]
_RANGES: Mapping[Any, Any] = {float: _SHARE, int: Annotated[int, Field(ge=1)]}
_LIST = "a list of texts, each in quotes where it is a number"
_TEXT = "text, in quotes where it is a number"
_PRICE = "a price per million tokens, at least 0"
# A settings file may come with a repository: it must not choose which of one's secrets goes to which server.
_PROVIDERS_KEYS = tuple(each.key_variable for each in PROVIDERS)
_KEY_PATTERN = rf"^(?:TOUCHSTONE_[A-Za-z0-9_]+|{'|'.join(_PROVIDERS_KEYS)})$"
_KEY_VARIABLE = "the name of an environment variable that starts with TOUCHSTONE_, or a provider's: " + ", ".join(
    _PROVIDERS_KEYS
)
_PROXIES = "10.0.0.7 or 10.0.0.0/8"
_ALLOWED: Mapping[str, str] = {
    **{
        f"thresholds.{name}": "a whole number of at least 1" if type is int else "a number from 0 to 1"
        for name, type in _PLAN_TYPES.items()
    },
    "thresholds.decide_by": "probability, outcome, verdict or both",
    "rubric": "the name of a packaged rubric or the path of a YAML file",
    "gate.least_scored": "a share from 0 to 1",
    "store": "the path of a SQLite file, or the URL of a database",
    "runs": "the path of a directory",
    "judge.kind": "offline, llm or panel",
    "judge.model": "a model's name",
    "judge.base_url": "the address of a server, such as http://localhost:8080/v1",
    **dict.fromkeys(("judge.key_variable", "judge.panel.key_variable"), _KEY_VARIABLE),
    "judge.prompt": "the path of a YAML file",
    "judge.scope": "case, criterion or checklist",
    "judge.panel": "a list of offline, models' names and {model, base_url, key_variable, prices, name}",
    **dict.fromkeys(("judge.panel.model", "judge.panel.name"), _TEXT),
    "judge.panel.base_url": "the address of a server, such as http://localhost:8080/v1",
    **dict.fromkeys(("judge.panel.prices.input", "judge.panel.prices.output"), _PRICE),
    "judge.panel.prices.currency": _TEXT,
    "judge.rule": "median or majority",
    "judge.votes": "a whole number from 1 to 25",
    "judge.cascade": "true or false",
    "judge.temperature": "a number from 0 to 2",
    "judge.seed": "a whole number of at least 0",
    "judge.max_tokens": "a whole number of at least 16",
    "judge.timeout": "a number of seconds above 0",
    "judge.concurrency": "a whole number from 1 to 64",
    "judge.budget.tokens": "a whole number of at least 1",
    "judge.budget.money": "a number above 0",
    **dict.fromkeys(("judge.prices.input", "judge.prices.output"), _PRICE),
    "judge.prices.currency": _TEXT,
    "judge.record": "the path of a directory",
    "verifier": "none or the path of a directory",
    "calibration": "the path of a file that touchstone review calibrate wrote",
    "redact": "true or false",
    "trusted_proxies": f"a list of addresses and networks such as {_PROXIES}",
    "policy.company": _TEXT,
    **dict.fromkeys(("policy.domains", "policy.contacts", "policy.competitors"), _LIST),
    "policy.promises": "a list of {what, up_to}",
    "policy.promises.what": _TEXT,
    "policy.promises.up_to": "an amount with its unit, such as '20 GBP'",
}
# What a mapping may hold, by the path to it; a list's items are passed over.
_KNOWN: Mapping[str, tuple[str, ...]] = {
    "": SECTIONS,
    "thresholds": tuple(_PLAN_TYPES),
    "policy": tuple(f.name for f in fields(Policy)),
    "policy.promises": tuple(f.name for f in fields(Allowance)),
    "gate": ("least_scored",),
    "judge": (
        *(
            "kind",
            "model",
            "base_url",
            "key_variable",
            "prompt",
            "scope",
            "panel",
            "rule",
            "votes",
            "cascade",
            "temperature",
            "seed",
        ),
        *("max_tokens", "timeout", "concurrency", "budget", "prices", "record"),
    ),
    "judge.panel": ("model", "name", "base_url", "key_variable", "prices"),
    "judge.panel.prices": ("input", "output", "currency"),
    "judge.budget": ("tokens", "money"),
    "judge.prices": ("input", "output", "currency"),
}

Where = tuple[str, ...]


def validated(content: Mapping[Any, Any], *, place: Callable[[Where], str], flags: bool = False) -> dict[str, Any]:
    """What `content` sets, section by section; `place` names where a wrong key was written, in a file or by a flag."""
    try:
        given = _CONFIG.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = tuple(str(part) for part in first["loc"] if part != "[key]")
        raise ConfigError(f"{place(where)}: {_problem(where, first['type'], first['input'], flags=flags)}") from None
    mappings = ("thresholds", "columns", "policy", "targets", "gate", "judge")
    unset: dict[str, Any] = dict.fromkeys(SECTIONS) | {section: {} for section in mappings}
    return unset | given.model_dump(exclude_unset=True)


def _problem(where: Where, type: str, value: Any, *, flags: bool) -> str:
    name = where[-1] if flags else _dotted(where)
    path = [part for part in where if not part.isdecimal()]
    if type in ("extra_forbidden", "invalid_key"):
        return f"unknown key '{name}'; {_nearest(where[-1], _KNOWN['.'.join(_parents(where))])}"
    if type == "missing" and where[-1] == "model":
        return f"'{_dotted(where[:-1])}' has no 'model': name it, or write offline"
    if type == "missing" and path[0] == "judge":
        return f"'{_dotted(where[:-1])}' has no '{where[-1]}': give both prices, per million tokens"
    if type == "missing":
        return f"'{_dotted(where[:-1])}' has no '{where[-1]}': say {where[-1]} agents may promise"
    if path[0] == "columns" and type == "string_type":
        return f"'{name}' is not text: put it in quotes"
    # Who takes the variable for the key itself must not find it in a log.
    shown = "no such name" if where[-1] == "key_variable" else reprlib.repr(value)
    if path[0] == "columns" and len(where) > 1:
        return f"'{name}' is {shown}, which is no field of a case; {_nearest(str(value), CASE_FIELDS)}"
    if path[0] == "trusted_proxies" and len(where) > 1:
        return f"'{path[0]}' has {shown}, which is no address or network such as {_PROXIES}"
    return f"'{name}' is {shown}, allowed is {_ALLOWED.get('.'.join(path), 'a mapping of names to values')}"


def _parents(where: Where) -> list[str]:
    """The keys on the way to the last one, without the numbers of items."""
    return [part for part in where[:-1] if not part.isdecimal()]


def _dotted(where: Where) -> str:
    """`policy.promises[0].what`; only below a policy and a judge are there items to number."""
    items = where[0] in ("policy", "judge")
    return "".join(f"[{part}]" if items and part.isdecimal() else f".{part}" for part in where).removeprefix(".")


def _nearest(name: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"nearest is '{close[0]}'" if close else f"known are {', '.join(known)}"


def _as_member(given: Any) -> Any:
    """A judge's name as the mapping it is short for."""
    return member_of(given.strip()) if isinstance(given, str) and given.strip() else given


def _our_field(name: str) -> str:
    if name not in CASE_FIELDS:
        raise ValueError
    return name


def _network(text: str) -> str:
    """The network as it is written in full; one address is a network too."""
    return str(ip_network(text.strip(), strict=False))


def _models() -> type[BaseModel]:
    """The thresholds are Plan's fields, each in the range of its type; the policy is Policy's."""
    strict = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    ranged: dict[str, Any] = {
        f.name: (_RANGES.get(_PLAN_TYPES[f.name], f.type), f.default) for f in fields(Plan) if f.name in _PLAN_TYPES
    }
    thresholds = create_model("Thresholds", __config__=strict, **ranged)
    ours = Annotated[str, AfterValidator(_our_field)]
    text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    promise = create_model("Promise", __config__=strict, what=(text, ...), up_to=(text, None))
    facts: dict[str, Any] = {
        "company": (text, None),
        **dict.fromkeys(("domains", "contacts", "competitors"), (list[text], None)),
        "promises": (list[promise], None),  # type: ignore[valid-type]
    }
    policy = create_model("Policy", __config__=strict, **facts)
    gate = create_model("Gate", __config__=strict, least_scored=(_RANGES[float], None))
    judge = _judge_model(strict, text)
    shape: dict[str, Any] = {
        "thresholds": (thresholds, Field(default_factory=thresholds)),
        "columns": (dict[str, ours], Field(default_factory=dict)),
        "rubric": (text, None),
        "policy": (policy, Field(default_factory=policy)),
        # What targets there may be is the rubric's matter: it knows the criteria.
        "targets": (dict[str, Any], Field(default_factory=dict)),
        "gate": (gate, Field(default_factory=gate)),
        "store": (text, None),
        "runs": (text, None),
        "judge": (judge, Field(default_factory=judge)),
        "calibration": (text, None),
        "verifier": (text, None),
        "redact": (bool, None),
        "trusted_proxies": (list[Annotated[str, AfterValidator(_network)]], None),
    }
    return create_model("Config", __config__=strict, **shape)


def _judge_model(strict: ConfigDict, text: Any) -> type[BaseModel]:
    """Who grades: JudgeSettings' fields, but for those that only flags set."""
    amounts: dict[str, Any] = {
        "tokens": (Annotated[int, Field(ge=1)], None),
        "money": (Annotated[float, Field(gt=0)], None),
    }
    budget = create_model("Budget", __config__=strict, **amounts)
    per_million: dict[str, Any] = dict.fromkeys(("input", "output"), (Annotated[float, Field(ge=0)], ...))
    prices = create_model("Prices", __config__=strict, currency=(text, "USD"), **per_million)
    key_variable = Annotated[str, StringConstraints(pattern=_KEY_PATTERN)]
    places: dict[str, Any] = dict.fromkeys(("name", "base_url"), (text, None))
    member = create_model(
        "Member",
        __config__=strict,
        model=(text, ...),
        key_variable=(key_variable, None),
        prices=(prices, None),
        **places,
    )
    given: dict[str, Any] = {
        "kind": (Literal["offline", "llm", "panel"], None),
        **dict.fromkeys(("model", "base_url", "prompt", "record"), (text, None)),
        "scope": (Literal["case", "criterion", "checklist"], None),
        "key_variable": (key_variable, None),
        "panel": (list[Annotated[member, BeforeValidator(_as_member)]], None),  # type: ignore[valid-type]
        "rule": (Literal["median", "majority"], None),
        "votes": (Annotated[int, Field(ge=1, le=25)], None),
        "cascade": (bool, None),
        "temperature": (Annotated[float, Field(ge=0, le=2)], None),
        "seed": (Annotated[int, Field(ge=0)], None),
        "max_tokens": (Annotated[int, Field(ge=16)], None),
        "timeout": (Annotated[float, Field(gt=0)], None),
        "concurrency": (Annotated[int, Field(ge=1, le=64)], None),
        "budget": (budget, None),
        "prices": (prices, None),
    }
    return create_model("Judge", __config__=strict, **given)


_CONFIG = _models()
