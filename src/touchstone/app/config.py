"""touchstone.yaml and flags -> Settings; what cannot be used is an error that names the place and the remedy."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from touchstone.app.config_file import line_of, node_at, read_mapping
from touchstone.app.config_shape import validated
from touchstone.app.judge_settings import JudgeSettings, judge_settings
from touchstone.app.rubrics import DEFAULT_RUBRIC, load_rubric
from touchstone.core.errors import ConfigError, RubricError
from touchstone.core.plan import Plan
from touchstone.core.policy import Allowance, Policy
from touchstone.judges.llm.fits import MODEL_JUDGE, ModelFit, packaged_fit, parse_fit
from touchstone.judges.model import Fitted, parse_models
from touchstone.rubric.model import Rubric
from touchstone.rubric.parse import parse_targets

CONFIG_NAME = "touchstone.yaml"
STORE = ".touchstone/touchstone.db"
RUNS = "touchstone-runs"
# A gate is not opened by a run that left more than one reply in twenty unscored.
LEAST_SCORED = 0.95
_FLAGS = {
    "thresholds": "--set",
    "columns": "--map",
    "gate": "--least-scored",
    "verifier": "--verifier",
    "trusted_proxies": "--trusted-proxy",
}
_JUDGE_FLAGS = {
    "kind": "--judge",
    **{key: f"--{key.replace('_', '-')}" for key in ("model", "base_url", "panel", "votes", "budget")},
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
    path = Path(config or CONFIG_NAME)
    judge = judge or JudgeFlags()
    is_there = bool(config) or path.is_file()
    in_file = _read(path, takes_rubric=rubric is None, judge=judge) if is_there else Settings(judge=_judge({}, judge))
    flags: dict[str, Any] = {
        "thresholds": {key: _number(text) for key, text in (thresholds or {}).items()},
        "columns": columns or {},
    }
    if least_scored is not None:
        flags["gate"] = {"least_scored": _number(least_scored)}
    if verifier is not None:
        flags["verifier"] = verifier
    if trusted_proxies:
        flags["trusted_proxies"] = list(trusted_proxies)
    by_flag = validated(flags, place=lambda where: _FLAGS[where[0]], flags=True)
    chosen = in_file.rubric if rubric is None else load_rubric(rubric)
    return Settings(
        plan=replace(in_file.plan, **by_flag["thresholds"]),
        columns={**in_file.columns, **by_flag["columns"]},
        rubric=_aimed(chosen, targets) if targets else chosen,
        policy=in_file.policy,
        store=store or in_file.store,
        runs=runs or in_file.runs,
        least_scored=by_flag["gate"].get("least_scored", in_file.least_scored),
        judge=in_file.judge,
        fitted=in_file.fitted,
        model_fit=in_file.model_fit,
        redacts=redacts or in_file.redacts,
        verifier=in_file.verifier if verifier is None else _verifier(by_flag["verifier"], place="--verifier"),
        mapped=by_flag["columns"],
        trusted_proxies=tuple(by_flag["trusted_proxies"] or in_file.trusted_proxies),
    )


def _verifier(given: str | None, *, place: str, beside: Path = Path()) -> str | None:
    """The directory of a verifier, which stands beside the file that names it; whether it can be used is seen later."""
    if given == "deep":
        raise ConfigError(
            f"{place}: 'verifier' is 'deep', a model that is no longer shipped: name the directory of a model of your "
            "own (docs/verifier.md), or none"
        )
    # Whole, since a worker may be started elsewhere.
    return None if given is None or given == "none" else str((beside / given).resolve())


def _judge(in_file: Mapping[str, Any], flags: JudgeFlags, *, beside: Path = Path()) -> JudgeSettings:
    """The judge of a file's section, overridden by flags."""

    def place(where: tuple[str, ...]) -> str:
        return _JUDGE_FLAGS.get(where[1] if len(where) > 1 else "", "--judge-set")

    by_flag = validated({"judge": flags.nested()}, place=place, flags=True)["judge"]
    only_flags = {"replay": flags.replay, "asks_anew": flags.asks_anew}
    return judge_settings(in_file, by_flag, beside=beside, flags=only_flags)


def _read(path: Path, *, takes_rubric: bool, judge: JudgeFlags) -> Settings:
    node, content = read_mapping(path)
    given = {name: section for name, section in content.items() if section is not None}
    values = validated(given, place=lambda where: f"{path}:{line_of(node, where)}")
    rubric = load_rubric(DEFAULT_RUBRIC)
    if values["rubric"] is not None and takes_rubric:
        try:
            # A rubric stands beside the file that names it, wherever the command is run.
            rubric = load_rubric(values["rubric"], beside=path.parent)
        except RubricError as error:
            raise ConfigError(f"{path}:{line_of(node, ('rubric',))}: {error}") from error
    targets = node_at(node, "targets")
    # They name the criteria of the rubric chosen here, which a rubric given by flag need not have.
    if targets is not None and takes_rubric:
        rubric = replace(rubric, targets=parse_targets(targets, rubric=rubric, name=str(path)))
    fitted, model_fit = _calibration(path.parent / values["calibration"]) if values["calibration"] else (None, None)
    return Settings(
        plan=Plan(**values["thresholds"]),
        columns=values["columns"],
        rubric=rubric,
        policy=_policy(values["policy"]),
        store=values["store"] or STORE,
        runs=values["runs"] or RUNS,
        least_scored=values["gate"].get("least_scored", LEAST_SCORED),
        judge=_judge(values["judge"], judge, beside=path.parent),
        fitted=fitted,
        model_fit=model_fit,
        redacts=bool(values["redact"]),
        verifier=_verifier(values["verifier"], place=f"{path}:{line_of(node, ('verifier',))}", beside=path.parent),
        trusted_proxies=tuple(values["trusted_proxies"] or ()),
    )


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
        raise ConfigError(f"{path} is no calibration: name a file that touchstone review calibrate wrote") from error


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
    lists = {name: tuple(values.get(name, ())) for name in ("domains", "contacts", "competitors")}
    promises = tuple(Allowance(**promise) for promise in values.get("promises", ()))
    return Policy(company=values.get("company"), promises=promises, **lists)


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
