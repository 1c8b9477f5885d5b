"""touchstone.yaml and flags -> Settings; what cannot be used is an error that names the place and the remedy."""

import difflib
import json
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from touchstone.app.config_model import (
    PROXIES,
    RUNS,
    STORE,
    Config,
    JudgeSettings,
    allowed_at,
    keys_at,
)
from touchstone.app.rubrics import DEFAULT_RUBRIC, load_rubric
from touchstone.core.case import CASE_FIELDS
from touchstone.core.errors import ConfigError, RubricError
from touchstone.core.plan import Plan
from touchstone.core.policy import Allowance, Policy
from touchstone.judges.llm.fits import MODEL_JUDGE, ModelFit, packaged_fit, parse_fit
from touchstone.judges.model import Fitted, parse_models
from touchstone.rubric.model import Rubric
from touchstone.rubric.parse import parse_targets
from touchstone.runs.targets import LEAST_SCORED

CONFIG_NAME = "touchstone.yaml"
Where = tuple[str, ...]
# The file, a section, a list in it, an item's keys, the keys of one of those.
DEEPEST = 5
_FLAGS = {
    "thresholds": "--set",
    "columns": "--map",
    "gate": "--least-scored",
    "verifier": "--verifier",
    "trusted_proxies": "--trusted-proxy",
    "judge": "--judge-set",
    "judge.kind": "--judge",
    **{f"judge.{key}": f"--{key.replace('_', '-')}" for key in ("model", "base_url", "panel", "votes", "budget")},
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a command works with: the plan, their column names -> ours, the rubric and the company's policy;
    where runs are kept and written, how much of one must be scored for the gate to open, who grades, the offline
    judge's own models and what is fitted for a language model where the team has calibrated them, whether personal
    data is taken out of what is kept, the directory of the model that reads sentences, which of the columns a flag
    maps: these have to be there, while touchstone.yaml speaks of many files; and whose word on where a request comes
    from the service believes."""

    plan: Plan = field(default_factory=Plan)
    columns: Mapping[str, str] = field(default_factory=dict)
    rubric: Rubric = field(default_factory=lambda: load_rubric(DEFAULT_RUBRIC))
    policy: Policy = field(default_factory=Policy)
    store: str = STORE
    runs: str = RUNS
    least_scored: float = LEAST_SCORED
    judge: JudgeSettings = field(default_factory=JudgeSettings)
    fitted: Fitted | None = None
    model_fit: ModelFit | None = None
    redacts: bool = False
    verifier: str | None = None
    mapped: Mapping[str, str] = field(default_factory=dict)
    trusted_proxies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeFlags:
    """What flags set of the judge: `section` by the keys of touchstone.yaml, `budget.tokens` for one further down."""

    section: Mapping[str, str] = field(default_factory=dict)
    replay: str | None = None
    asks_anew: bool = False

    def nested(self) -> dict[str, Any]:
        """The section as a file would have it."""
        content: dict[str, Any] = {}
        for key, text in self.section.items():
            head, _, rest = key.partition(".")
            if rest:
                content[head] = {**content.get(head, {}), rest: _number(text)}
            else:
                content[head] = _plain(head, text)
        return content


def load_settings(
    config: str | None = None,
    *,
    thresholds: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    rubric: str | None = None,
    targets: Mapping[str, str] | None = None,
    store: str | None = None,
    runs: str | None = None,
    least_scored: str | None = None,
    judge: JudgeFlags | None = None,
    verifier: str | None = None,
    redacts: bool = False,
    trusted_proxies: Sequence[str] | None = None,
) -> Settings:
    """The file named, or touchstone.yaml here if there is one, overridden by flags."""
    path, judge = Path(config or CONFIG_NAME), judge or JudgeFlags()
    in_file = _read(path, takes_rubric=rubric is None) if config or path.is_file() else {}
    flags: dict[str, Any] = {
        "thresholds": {key: _number(text) for key, text in (thresholds or {}).items()},
        "columns": columns or {},
        "gate": {} if least_scored is None else {"least_scored": _number(least_scored)},
        "judge": judge.nested(),
    }
    flags |= {} if verifier is None else {"verifier": verifier}
    flags |= {"trusted_proxies": list(trusted_proxies)} if trusted_proxies else {}
    by_flag = validated(flags, place=lambda where: _FLAGS.get(".".join(where[:2]), _FLAGS[where[0]]), flags=True)
    if verifier is not None:
        by_flag["verifier"] = _verifier(by_flag["verifier"], place="--verifier")
    values = _merged(in_file, by_flag)
    chosen = values.get("rubric") or load_rubric(DEFAULT_RUBRIC if rubric is None else rubric)
    fitted, model_fit = values.get("calibration", (None, None))
    return Settings(
        plan=Plan(**values["thresholds"]),
        columns=values["columns"],
        rubric=_aimed(chosen, targets) if targets else chosen,
        policy=_policy(values.get("policy", {})),
        store=store or values.get("store", STORE),
        runs=runs or values.get("runs", RUNS),
        least_scored=values["gate"].get("least_scored", LEAST_SCORED),
        judge=_judge(values["judge"], judge),
        fitted=fitted,
        model_fit=model_fit,
        redacts=redacts or values.get("redact", False),
        verifier=values.get("verifier"),
        mapped=by_flag["columns"],
        trusted_proxies=values.get("trusted_proxies", ()),
    )


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Both, section by section; where both have a value, that of `over`."""
    both = {key: _merged(under[key], over[key]) for key in under if isinstance(over.get(key), dict)}
    return {**under, **over, **both}


def _read(path: Path, *, takes_rubric: bool) -> dict[str, Any]:
    """What the file sets, with what it names; that stands beside it, wherever a command is run."""
    node, content = read_mapping(path)

    def place(*where: str) -> str:
        return f"{path}:{line_of(node, where)}"

    given = {name: section for name, section in content.items() if section is not None}
    values = validated(given, place=lambda where: place(*where))
    # Targets name the criteria of the rubric chosen here, which a rubric given by flag need not have.
    named, targets = values.pop("rubric", None), node_at(node, "targets")
    if takes_rubric:
        try:
            rubric = load_rubric(named, beside=path.parent) if named else load_rubric(DEFAULT_RUBRIC)
        except RubricError as error:
            raise ConfigError(f"{place('rubric')}: {error}") from error
        aimed = parse_targets(targets, rubric=rubric, name=str(path)) if targets else rubric.targets
        values["rubric"] = replace(rubric, targets=aimed)
    if "calibration" in values:
        values["calibration"] = _calibration(path.parent / values["calibration"])
    prompt = values.get("judge", {}).get("prompt", "")
    if prompt.endswith((".yaml", ".yml")):
        values["judge"]["prompt"] = str(path.parent / prompt)
    if "verifier" in values:
        values["verifier"] = _verifier(values["verifier"], place=place("verifier"), beside=path.parent)
    return values


def _verifier(given: str, *, place: str, beside: Path = Path()) -> str | None:
    """The directory of a verifier, which stands beside the file that names it; whether it can be used is seen later."""
    if given == "deep":
        raise ConfigError(
            f"{place}: 'verifier' is 'deep', a model that is no longer shipped: name the directory of a model of your "
            "own (docs/verifier.md), or none"
        )
    # Whole, since a worker may be started elsewhere.
    return None if given == "none" else str((beside / given).resolve())


def _calibration(path: Path) -> tuple[Fitted, ModelFit | None]:
    """The models of a calibration, which stands beside the file that names it, and what it says of a language model."""
    try:
        text = path.read_text(encoding="utf-8")
        rows = json.loads(text).get(MODEL_JUDGE)
        return parse_models(text), parse_fit(rows, shipped=packaged_fit()) if rows else None
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise ConfigError(f"the calibration {path} cannot be read ({problem}): correct its path") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path} is not a calibration: name a file that touchstone review calibrate wrote") from error


def _aimed(rubric: Rubric, targets: Mapping[str, str]) -> Rubric:
    """The rubric with the targets that flags set: `pass_rate=75`, `average.accuracy=3.4`."""
    content: dict[str, Any] = {}
    for key, text in targets.items():
        head, _, criterion = key.partition(".")
        value = _number(text)
        content = content | {head: {**content.get(head, {}), criterion: value} if criterion else value}
    node = yaml.compose(json.dumps(content), Loader=yaml.SafeLoader)
    try:
        return replace(rubric, targets=parse_targets(node, rubric=rubric, name="--target"))
    except RubricError as error:
        raise ConfigError(str(error).replace("--target:1", "--target", 1)) from None


def _policy(values: Mapping[str, Any]) -> Policy:
    return Policy(**{**values, "promises": tuple(Allowance(**promise) for promise in values.get("promises", ()))})


def _judge(values: Mapping[str, Any], flags: JudgeFlags) -> JudgeSettings:
    """The judge of file and flags; a member of a panel that is on the server of all has the prices of all."""
    shared = {"prices": values["prices"]} if "prices" in values else {}
    panel = tuple(row if "base_url" in row else {**shared, **row} for row in values.get("panel", ()))
    only_flags = {"replay": flags.replay, "asks_anew": flags.asks_anew}
    settings = JudgeSettings.model_validate({**values, "panel": panel, **only_flags})
    if settings.kind == "panel":
        _check_panel(settings)
    elif settings.budget.money is not None and settings.prices is None:
        raise ConfigError("a budget in money needs prices: give judge.prices.input and .output, per million tokens")
    if settings.replay and settings.asks_anew:
        raise ConfigError("--replay takes what is kept and --no-cache passes over it: choose one")
    return settings


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


def _plain(key: str, text: str) -> Any:
    """A flag's text as the value it stands for; names stay text, also where they look like numbers."""
    if key in ("model", "base_url", "key_variable", "prompt", "record"):
        return text
    if key == "panel":
        return [name.strip() for name in text.split(",")]
    return {"true": True, "false": False}.get(text, _number(text))


def _number(text: str) -> int | float | str:
    """The number that a flag's text is, or the text, to be refused where it stands."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def read_mapping(path: Path) -> tuple[yaml.Node | None, Mapping[Any, Any]]:
    """The file's nodes, which know their lines, and its content as plain values."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise ConfigError(f"{path} cannot be read ({problem}): write one with touchstone init") from error
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        content = loader.construct_document(node) if node else {}
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}:{line}: not valid YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid YAML: {type(error).__name__}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path}:1: the file is not a mapping, allowed are the keys {', '.join(keys_at(()))}")
    _refuse_repeats(node, path=path)
    return node, content


def validated(content: Mapping[Any, Any], *, place: Callable[[Where], str], flags: bool = False) -> dict[str, Any]:
    """What `content` sets, and no more; `place` names where a wrong key was written, in a file or by a flag."""
    try:
        given = Config.model_validate(content, context={"reads": True})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = tuple(str(part) for part in first["loc"] if part != "[key]")
        raise ConfigError(f"{place(where)}: {_problem(where, first['type'], first['input'], flags=flags)}") from None
    return given.model_dump(exclude_unset=True)


def _problem(where: Where, type: str, value: Any, *, flags: bool) -> str:
    name = where[-1] if flags else _dotted(where)
    parents = [part for part in where[:-1] if not part.isdecimal()]
    if type in ("extra_forbidden", "invalid_key"):
        return f"unknown key '{name}'; {_nearest(where[-1], keys_at(parents))}"
    if type == "missing":
        remedy = f"say {where[-1]} agents may promise"
        if parents[0] == "judge":
            is_model = where[-1] == "model"
            remedy = "name it, or write offline" if is_model else "give both prices, per million tokens"
        return f"'{_dotted(where[:-1])}' has no '{where[-1]}': {remedy}"
    if where[0] == "columns" and type == "string_type":
        return f"'{name}' is not text: put it in quotes"
    # Who takes the variable for the key itself must not find it in a log.
    shown = "no such name" if where[-1] == "key_variable" else reprlib.repr(value)
    if where[0] == "columns" and len(where) > 1:
        return f"'{name}' is {shown}, which is not a field of a case; {_nearest(str(value), CASE_FIELDS)}"
    if where[0] == "trusted_proxies" and len(where) > 1:
        return f"'{where[0]}' has {shown}, which is not an address or network such as {PROXIES}"
    path = parents if where[-1].isdecimal() else [*parents, where[-1]]
    return f"'{name}' is {shown}, allowed is {allowed_at(path)}"


def _dotted(where: Where) -> str:
    """`policy.promises[0].what`; only below a policy and a judge are there items to number."""
    items = where[0] in ("policy", "judge")
    return "".join(f"[{part}]" if items and part.isdecimal() else f".{part}" for part in where).removeprefix(".")


def _nearest(name: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"nearest is '{close[0]}'" if close else f"known are {', '.join(known)}"


def line_of(node: yaml.Node | None, where: Where) -> int:
    """The line of the key or item at `where`, or of the innermost one on the way to it."""
    line = 1
    for name in where:
        found = _step(node, name)
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line


def node_at(node: yaml.Node | None, name: str) -> yaml.Node | None:
    """What the section `name` holds, if it is there and holds anything."""
    found = _step(node, name)
    return None if found is None or found[1].tag == "tag:yaml.org,2002:null" else found[1]


def _step(node: yaml.Node | None, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    """Where the key or item `name` is written, and what it holds."""
    if isinstance(node, yaml.SequenceNode) and name.isdecimal() and int(name) < len(node.value):
        item = node.value[int(name)]
        return item, item
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next(((key, value) for key, value in pairs if key.value == name), None)


def _refuse_repeats(node: yaml.Node | None, *, path: Path, depth: int = 1) -> None:
    """ConfigError for a key that is given twice; `depth` ends it where touchstone.yaml does."""
    if depth > DEEPEST:
        return
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeats(item, path=path, depth=depth + 1)
    if not isinstance(node, yaml.MappingNode):
        return
    seen: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if key.value in seen:
            raise ConfigError(f"{path}:{line}: key '{key.value}' repeats line {seen[key.value]}: keep one of them")
        seen[key.value] = line
        _refuse_repeats(value, path=path, depth=depth + 1)
