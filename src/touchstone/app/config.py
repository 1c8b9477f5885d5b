"""touchstone.yaml and flags -> Settings; what cannot be used is an error that names the place and the remedy."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from touchstone.app.config_file import line_of, read_mapping
from touchstone.app.config_shape import validated
from touchstone.app.rubrics import DEFAULT_RUBRIC, load_rubric
from touchstone.core.errors import ConfigError, RubricError
from touchstone.core.plan import Plan
from touchstone.core.policy import Allowance, Policy
from touchstone.rubric.model import Rubric

CONFIG_NAME = "touchstone.yaml"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a command works with: the plan, their column names -> ours, the rubric and the company's policy."""

    plan: Plan = field(default_factory=Plan)
    columns: Mapping[str, str] = field(default_factory=dict)
    rubric: Rubric = field(default_factory=lambda: load_rubric(DEFAULT_RUBRIC))
    policy: Policy = field(default_factory=Policy)


def load_settings(
    config: str | None = None,
    *,
    thresholds: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    rubric: str | None = None,
) -> Settings:
    """The file named, or touchstone.yaml here if there is one, overridden by the flags --set, --map and --rubric."""
    path = Path(config or CONFIG_NAME)
    in_file = _read(path, takes_rubric=rubric is None) if config or path.is_file() else Settings()
    flags = {"thresholds": {key: _number(text) for key, text in (thresholds or {}).items()}, "columns": columns or {}}
    by_flag = validated(flags, place=lambda where: "--set" if where[0] == "thresholds" else "--map", flags=True)
    return Settings(
        plan=Plan(**{**asdict(in_file.plan), **by_flag["thresholds"]}),
        columns={**in_file.columns, **by_flag["columns"]},
        rubric=in_file.rubric if rubric is None else load_rubric(rubric),
        policy=in_file.policy,
    )


def _read(path: Path, *, takes_rubric: bool) -> Settings:
    node, content = read_mapping(path)
    given = {name: section for name, section in content.items() if section is not None}
    values = validated(given, place=lambda where: f"{path}:{line_of(node, where)}")
    settings = Settings(plan=Plan(**values["thresholds"]), columns=values["columns"], policy=_policy(values["policy"]))
    if values["rubric"] is None or not takes_rubric:
        return settings
    try:
        # A rubric stands beside the file that names it, wherever the command is run.
        chosen = load_rubric(values["rubric"], beside=path.parent)
    except RubricError as error:
        raise ConfigError(f"{path}:{line_of(node, ('rubric',))}: {error}") from error
    return Settings(settings.plan, settings.columns, chosen, settings.policy)


def _policy(values: Mapping[str, Any]) -> Policy:
    lists = {name: tuple(values.get(name, ())) for name in ("domains", "contacts", "competitors")}
    promises = tuple(Allowance(**promise) for promise in values.get("promises", ()))
    return Policy(company=values.get("company"), promises=promises, **lists)


def _number(text: str) -> int | float | str:
    """The number that a flag's text is, or the text, to be refused where it stands."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
