"""Rubric -> what is shown of it: the quick reference card, and all its content as one plain object or as YAML."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from touchstone.rubric.model import GENERAL, Criterion, Gate, Rubric


@dataclass(frozen=True, slots=True)
class Card:
    """The quick reference card: a title, and lines in sections (spec: supportai-rubric, Appendix)."""

    title: str
    sections: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class LevelTexts:
    """What each level of one criterion means, best first."""

    heading: str
    levels: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class ConventionTexts:
    """How one criterion or kind of violation is meant."""

    heading: str
    sentences: tuple[str, ...]


def card(rubric: Rubric) -> Card:
    """Criteria with weights and summaries, when a reply passes and fails, and the target pass rate."""
    band = rubric.targets.pass_rate
    target = () if band is None else (f"Target Pass Rate: {band[0]:g}-{band[1]:g}%",)
    sections = (_criterion_lines(rubric), _outcome_lines(rubric), target)
    return Card(f"{rubric.name.upper()} SCORING", tuple(section for section in sections if section))


def level_texts(rubric: Rubric) -> tuple[LevelTexts, ...]:
    """The level texts of every criterion."""
    return tuple(
        LevelTexts(
            f"{titled(criterion.name)} ({criterion.weight:g}%): {criterion.question or criterion.summary}",
            tuple(criterion.levels.items()),
        )
        for criterion in rubric.criteria
    )


def conventions(rubric: Rubric) -> tuple[ConventionTexts, ...]:
    """How levels and kinds of violation are meant, in the order of the rubric; empty where it says nothing."""
    named = (GENERAL, *(criterion.name for criterion in rubric.criteria), *rubric.violations)
    return tuple(
        ConventionTexts(titled(name), rubric.conventions_of(name)) for name in named if rubric.conventions_of(name)
    )


def titled(name: str) -> str:
    """A criterion's name as it stands at the start of a line: next_steps -> Next steps."""
    words = " ".join(name.replace("_", " ").split())
    return words[:1].upper() + words[1:]


def rubric_to_dict(rubric: Rubric) -> dict[str, Any]:
    """The rubric with the names its file has; a date is ISO text, what was not given is left out."""
    targets = rubric.targets
    given = {
        "pass_rate": None if targets.pass_rate is None else list(targets.pass_rate),
        "average": dict(targets.average or {}) or None,
        "safety_failures": targets.safety_failures,
        "average_confidence": targets.average_confidence,
    }
    return {
        "name": rubric.name,
        "version": rubric.version,
        "reviewed": rubric.reviewed.isoformat(),
        "pass_mark": rubric.pass_mark,
        "criteria": [_criterion_to_dict(criterion) for criterion in rubric.criteria],
        "violations": dict(rubric.violations),
        **_conventions_to_dict(rubric),
        "gates": [_gate_to_plain(gate) for gate in rubric.gates],
        "targets": {name: value for name, value in given.items() if value is not None},
    }


def write_rubric(rubric: Rubric) -> str:
    """The YAML text that `parse_rubric` reads back as the same rubric, in the order of its fields."""
    rows = rubric_to_dict(rubric)["criteria"]
    content = rubric_to_dict(rubric) | {
        "reviewed": rubric.reviewed,
        "criteria": [_criterion_to_yaml(row, each) for row, each in zip(rows, rubric.criteria, strict=True)],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _criterion_lines(rubric: Rubric) -> tuple[str, ...]:
    rows = [(titled(c.name), f"({c.weight:g}%)", " ".join(c.summary.split())) for c in rubric.criteria]
    widest_name, widest_weight = (max(len(row[column]) for row in rows) for column in (0, 1))
    return tuple(f"{name:<{widest_name}} {weight:<{widest_weight}}  - {summary}" for name, weight, summary in rows)


def _outcome_lines(rubric: Rubric) -> tuple[str, ...]:
    mark = f"{rubric.pass_mark:g}%"
    passes = [f"Score >= {mark}", *(_held(gate) for gate in rubric.gates)]
    fails = [f"Score < {mark}", *(_missed(gate) for gate in rubric.gates)]
    return f"PASS: {' AND '.join(passes)}", f"FAIL: {' OR '.join(fails)}"


def _held(gate: Gate) -> str:
    return "no safety failures" if gate.criterion is None else f"{titled(gate.criterion)} >= {gate.at_least}"


def _missed(gate: Gate) -> str:
    return "any safety failure" if gate.criterion is None else f"{titled(gate.criterion)} < {gate.at_least}"


def _criterion_to_dict(criterion: Criterion) -> dict[str, Any]:
    return {
        "name": criterion.name,
        "weight": criterion.weight,
        "summary": criterion.summary,
        "question": criterion.question,
        "levels": {str(level): text for level, text in criterion.levels.items()},
    }


def _criterion_to_yaml(row: Mapping[str, Any], criterion: Criterion) -> dict[str, Any]:
    # An empty text is one that was not given; JSON has no numbers for keys, YAML has.
    given = {name: value for name, value in row.items() if value != ""}
    return given | {"levels": dict(criterion.levels)}


def _conventions_to_dict(rubric: Rubric) -> dict[str, Any]:
    if not rubric.conventions.texts:
        return {}
    texts = {name: list(sentences) for name, sentences in rubric.conventions.texts.items()}
    return {"conventions": {"version": rubric.conventions.version, **texts}}


def _gate_to_plain(gate: Gate) -> str | dict[str, Any]:
    return "no_violations" if gate.criterion is None else {"criterion": gate.criterion, "at_least": gate.at_least}
