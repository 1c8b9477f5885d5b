"""Rubric YAML -> Rubric; every error names the file, the line and the remedy."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Any, NoReturn

import yaml

from touchstone.core import resource
from touchstone.core.errors import RubricError
from touchstone.core.result import VIOLATION_KINDS
from touchstone.rubric.model import GENERAL, NO_CONVENTIONS, TOP, Conventions, Criterion, Gate, Rubric, Targets

FIELDS = ("name", "version", "reviewed", "pass_mark", "criteria", "violations", "conventions", "gates", "targets")
CRITERION_FIELDS = ("name", "weight", "summary", "question", "levels")
TARGET_FIELDS = ("pass_rate", "average", "safety_failures", "average_confidence")
WEIGHTS_SUM = 100


@cache
def packaged(name: str) -> Rubric:
    """A rubric that ships with Touchstone."""
    return parse_rubric(resource.text(f"rubrics/{name}.yaml"), name=f"{name}.yaml")


@lru_cache(maxsize=64)
def parse_rubric(text: str, *, name: str) -> Rubric:
    """The rubric a YAML text describes; `name` is what errors call the file. Kept: every look at a run asks for its."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except RecursionError:
        raise RubricError(f"{name}:1: nested too deeply: a rubric needs at most four levels") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise RubricError(
            f"{name}:{mark.line + 1 if mark else 1}: not YAML: {getattr(error, 'problem', error)}"
        ) from error
    if not isinstance(node, yaml.MappingNode):
        raise RubricError(f"{name}:1: a rubric is a mapping with the fields {', '.join(FIELDS)}")
    return _RubricReader(name).rubric(node)


def parse_targets(node: yaml.Node, *, rubric: Rubric, name: str) -> Targets:
    """The rubric's targets with those that a YAML node sets in their place; `name` is what errors call the file."""
    given = _RubricReader(name).targets(node, rubric.criteria)
    named = {name: value for name in TARGET_FIELDS if (value := getattr(given, name)) is not None}
    return replace(rubric.targets, **named | {"average": {**(rubric.targets.average or {}), **(given.average or {})}})


class _RubricReader:
    """Reads nodes and knows the file's name for its errors."""

    def __init__(self, name: str) -> None:
        self.name = name

    def fail(self, node: yaml.Node, message: str) -> NoReturn:
        raise RubricError(f"{self.name}:{node.start_mark.line + 1}: {message}")

    def rubric(self, node: yaml.MappingNode) -> Rubric:
        fields = self.fields(node, FIELDS, required=("name", "version", "reviewed", "pass_mark", "criteria"))
        criteria = self.criteria(fields["criteria"])
        return Rubric(
            name=str(self.plain(fields["name"])),
            version=self.version(fields["version"]),
            reviewed=self.day(fields["reviewed"]),
            pass_mark=self.number(fields["pass_mark"], low=0, high=100),
            criteria=criteria,
            violations=self.violations(fields["violations"]) if "violations" in fields else {},
            gates=self.gates(fields["gates"], criteria) if "gates" in fields else (),
            targets=self.targets(fields["targets"], criteria) if "targets" in fields else Targets(),
            conventions=self.conventions(fields["conventions"], criteria)
            if "conventions" in fields
            else NO_CONVENTIONS,
        )

    def version(self, node: yaml.Node) -> str:
        value = self.plain(node)
        if isinstance(value, float):
            self.fail(node, f"version {node.value} is read as a number: put it in quotes")
        return str(value)

    def criteria(self, node: yaml.Node) -> tuple[Criterion, ...]:
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            self.fail(node, "'criteria' is a list with at least one criterion")
        criteria = tuple(self.criterion(item) for item in node.value)
        names = [criterion.name for criterion in criteria]
        for item, name in zip(node.value, names, strict=True):
            if names.count(name) > 1:
                self.fail(item, f"criterion '{name}' is given twice: rename or remove one")
        total = sum(criterion.weight for criterion in criteria)
        if abs(total - WEIGHTS_SUM) > 1e-9:
            self.fail(node, f"the weights sum to {total:g}, they must sum to {WEIGHTS_SUM}: {_listed(criteria)}")
        return criteria

    def criterion(self, node: yaml.Node) -> Criterion:
        fields = self.fields(node, CRITERION_FIELDS, required=("name", "weight", "levels"))
        name = str(self.plain(fields["name"]))
        return Criterion(
            name=name,
            weight=self.number(fields["weight"], low=0, high=WEIGHTS_SUM),
            summary=str(self.plain(fields["summary"])) if "summary" in fields else name,
            question=str(self.plain(fields["question"])) if "question" in fields else "",
            levels=self.levels(fields["levels"], name),
        )

    def levels(self, node: yaml.Node, criterion: str) -> Mapping[int, str]:
        if not isinstance(node, yaml.MappingNode) or not node.value:
            self.fail(node, f"the levels of '{criterion}' are a mapping from grade to text")
        levels: dict[int, str] = {}
        for key, value in node.value:
            grade = self.plain(key)
            if isinstance(grade, bool) or not isinstance(grade, int) or not 0 <= grade <= TOP:
                self.fail(key, f"level {grade!r} of '{criterion}' is not a whole grade from 0 to {TOP}")
            if grade in levels:
                self.fail(key, f"level {grade} of '{criterion}' is given twice: remove one")
            levels[grade] = str(self.plain(value))
        if not {0, TOP} <= levels.keys():
            self.fail(node, f"'{criterion}' needs at least the levels 0 and {TOP}")
        return dict(sorted(levels.items(), reverse=True))

    def violations(self, node: yaml.Node) -> Mapping[str, str]:
        fields = self.fields(node, VIOLATION_KINDS, required=(), what="violation kind")
        return {kind: str(self.plain(text)) for kind, text in fields.items()}

    def conventions(self, node: yaml.Node, criteria: tuple[Criterion, ...]) -> Conventions:
        named = (GENERAL, *(criterion.name for criterion in criteria), *VIOLATION_KINDS)
        fields = self.fields(node, ("version", *named), required=("version",), what="convention")
        texts = {name: self.texts(fields[name], name) for name in named if name in fields}
        return Conventions(self.version(fields["version"]), texts)

    def texts(self, node: yaml.Node, name: str) -> tuple[str, ...]:
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            self.fail(node, f"the conventions of '{name}' are a list of sentences")
        return tuple(str(self.plain(item)) for item in node.value)

    def gates(self, node: yaml.Node, criteria: tuple[Criterion, ...]) -> tuple[Gate, ...]:
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, "'gates' is a list, e.g. [no_violations]")
        gates = tuple(self.gate(item, criteria) for item in node.value)
        for item, gate in zip(node.value, gates, strict=True):
            if gates.count(gate) > 1:
                self.fail(item, "this gate is given twice: remove one")
        return gates

    def gate(self, node: yaml.Node, criteria: tuple[Criterion, ...]) -> Gate:
        if isinstance(node, yaml.ScalarNode):
            if node.value != "no_violations":
                self.fail(
                    node, f"gate '{node.value}' is unknown; allowed are no_violations and {{criterion, at_least}}"
                )
            return Gate()
        fields = self.fields(node, ("criterion", "at_least"), required=("criterion", "at_least"), what="gate field")
        name = str(self.plain(fields["criterion"]))
        self.known(fields["criterion"], name, criteria)
        least = self.number(fields["at_least"], low=0, high=TOP)
        if least % 1:
            self.fail(fields["at_least"], f"at_least is {least:g}, grades are whole numbers")
        return Gate(name, int(least))

    def targets(self, node: yaml.Node, criteria: tuple[Criterion, ...]) -> Targets:
        fields = self.fields(node, TARGET_FIELDS, required=(), what="target")
        average = {}
        if "average" in fields:
            for key, value in self.pairs(fields["average"]):
                self.known(key, str(self.plain(key)), criteria)
                average[str(self.plain(key))] = self.number(value, low=0, high=TOP)
        highest = {"safety_failures": 100, "average_confidence": 1}
        numbers = {name: self.number(fields[name], low=0, high=top) for name, top in highest.items() if name in fields}
        band = self.band(fields["pass_rate"]) if "pass_rate" in fields else None
        return Targets(pass_rate=band, average=average, **numbers)

    def band(self, node: yaml.Node) -> tuple[float, float]:
        if isinstance(node, yaml.ScalarNode):
            return self.number(node, low=0, high=100), 100.0
        if not isinstance(node, yaml.SequenceNode) or len(node.value) != 2:
            self.fail(node, "'pass_rate' is a percentage or a band of two, e.g. [70, 80]")
        low, high = (self.number(item, low=0, high=100) for item in node.value)
        if low > high:
            self.fail(node, f"the band [{low:g}, {high:g}] is upside down")
        return low, high

    def known(self, node: yaml.Node, name: str, criteria: tuple[Criterion, ...]) -> None:
        names = [criterion.name for criterion in criteria]
        if name not in names:
            self.fail(node, f"'{name}' is no criterion of this rubric{_nearest(name, names)}")

    def day(self, node: yaml.Node) -> date:
        value = self.plain(node)
        if type(value) is not date:
            self.fail(node, f"'reviewed' is {value!r}, it must be a date such as 2025-01-31")
        return value

    def number(self, node: yaml.Node, *, low: float, high: float) -> float:
        value = self.plain(node)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            self.fail(node, f"{value!r} is not a number from {low:g} to {high:g}")
        return float(value)

    def fields(
        self, node: yaml.Node, allowed: tuple[str, ...], *, required: tuple[str, ...], what: str = "field"
    ) -> dict[str, yaml.Node]:
        fields: dict[str, yaml.Node] = {}
        for key, value in self.pairs(node):
            name = str(self.plain(key))
            if name not in allowed:
                self.fail(key, f"{what} '{name}' is unknown{_nearest(name, allowed)}; allowed are {', '.join(allowed)}")
            if name in fields:
                self.fail(key, f"{what} '{name}' is given twice: remove one")
            fields[name] = value
        for name in required:
            if name not in fields:
                self.fail(node, f"{what} '{name}' is missing")
        return fields

    def pairs(self, node: yaml.Node) -> list[tuple[yaml.Node, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode):
            self.fail(node, "a mapping is needed here")
        return list(node.value)

    def plain(self, node: yaml.Node) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            self.fail(node, "a single value is needed here")
        try:
            value = yaml.SafeLoader("").construct_object(node)
        except (ValueError, yaml.YAMLError):
            self.fail(node, f"{node.value!r} cannot be read: write a plain text, number or date")
        if value is None or value == "":
            self.fail(node, "a value is missing here")
        return value


def _nearest(name: str, allowed: tuple[str, ...] | list[str]) -> str:
    near = get_close_matches(name, allowed, n=1)
    return f"; nearest is '{near[0]}'" if near else ""


def _listed(criteria: tuple[Criterion, ...]) -> str:
    return ", ".join(f"{criterion.name} {criterion.weight:g}" for criterion in criteria)
