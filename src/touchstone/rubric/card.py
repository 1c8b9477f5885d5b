"""Rubric -> what is shown of it: the quick reference card, its content as a plain object or as YAML, and what changed
between two."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import yaml

from touchstone.rubric.model import GENERAL, Gate, Rubric

Value = str | float


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
    """A criterion's name as it appears at the start of a line: next_steps -> Next steps."""
    words = " ".join(name.replace("_", " ").split())
    return words[:1].upper() + words[1:]


def rubric_to_dict(rubric: Rubric) -> dict[str, Any]:
    """The rubric with the names its file has; a date is ISO text, what was not given is left out."""
    levels = [{str(level): text for level, text in criterion.levels.items()} for criterion in rubric.criteria]
    return _content(rubric) | {
        "reviewed": rubric.reviewed.isoformat(),
        "criteria": [asdict(each) | {"levels": texts} for each, texts in zip(rubric.criteria, levels, strict=True)],
    }


def write_rubric(rubric: Rubric) -> str:
    """The YAML text that `parse_rubric` reads back as the same rubric, in the order of its fields."""
    # An empty text is one that was not given.
    given = [{name: part for name, part in asdict(each).items() if part != ""} for each in rubric.criteria]
    return yaml.safe_dump(_content(rubric) | {"criteria": given}, sort_keys=False, allow_unicode=True)


def _content(rubric: Rubric) -> dict[str, Any]:
    meant = {name: list(sentences) for name, sentences in rubric.conventions.texts.items()}
    targets = asdict(rubric.targets) | {"average": dict(rubric.targets.average or {}) or None}
    if rubric.targets.pass_rate is not None:
        targets["pass_rate"] = list(rubric.targets.pass_rate)
    return {
        "name": rubric.name,
        "version": rubric.version,
        "reviewed": rubric.reviewed,
        "pass_mark": rubric.pass_mark,
        "criteria": [],
        "violations": dict(rubric.violations),
        **({"conventions": {"version": rubric.conventions.version, **meant}} if meant else {}),
        "gates": ["no_violations" if gate.criterion is None else asdict(gate) for gate in rubric.gates],
        "targets": {name: value for name, value in targets.items() if value is not None},
    }


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


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that changed: where it is, what it was (None: it was not there) and what it is (None: gone)."""

    where: str
    before: Value | None
    after: Value | None


def differences(before: Rubric, after: Rubric) -> tuple[Change, ...]:
    """Everything that differs, in the order of a rubric's file; empty when both grade alike and are called alike."""
    names = list(dict.fromkeys(criterion.name for rubric in (before, after) for criterion in rubric.criteria))
    return tuple(
        Change(where, old.get(where), new.get(where))
        for old, new in zip(_facts(before, after, names), _facts(after, before, names), strict=True)
        for where in dict.fromkeys([*old, *new])
        if old.get(where) != new.get(where)
    )


def difference_to_dict(before: Rubric, after: Rubric) -> dict[str, Any]:
    """The difference as one JSON object."""
    return {
        "before": {"name": before.name, "version": before.version},
        "after": {"name": after.name, "version": after.version},
        "changes": [asdict(change) for change in differences(before, after)],
    }


def _facts(rubric: Rubric, other: Rubric, names: Sequence[str]) -> Iterator[Mapping[str, Value | None]]:
    """What a rubric says, part by part; of the criteria that the other has too, all of it."""
    yield {
        "name": rubric.name,
        "version": rubric.version,
        "reviewed": rubric.reviewed.isoformat(),
        "pass_mark": rubric.pass_mark,
    }
    for name in names:
        criterion, where = rubric.criterion(name), f"criteria.{name}"
        if criterion is None:
            yield {}
        elif other.criterion(name) is None:
            yield {where: f"{criterion.weight:g}%, {criterion.summary}"}
        else:
            facts = {part: getattr(criterion, part) for part in ("weight", "summary", "question")}
            facts |= {f"levels.{level}": text for level, text in criterion.levels.items()}
            yield {f"{where}.{part}": fact for part, fact in facts.items()}
    yield {"criteria": ", ".join(each.name for each in rubric.criteria if other.criterion(each.name))}
    yield {f"violations.{kind}": text for kind, text in rubric.violations.items()}
    meant = {name: " ".join(texts) for name, texts in rubric.conventions.texts.items()}
    yield {
        f"conventions.{name}": text for name, text in {"version": rubric.conventions.version or None, **meant}.items()
    }
    yield {
        f"gates.{gate.criterion or 'no_violations'}": f"at least {gate.at_least}"
        if gate.criterion
        else "any violation fails"
        for gate in rubric.gates
    }
    targets, band = rubric.targets, rubric.targets.pass_rate
    yield {
        "targets.pass_rate": None if band is None else f"{band[0]:g}-{band[1]:g}",
        **{f"targets.average.{name}": value for name, value in (targets.average or {}).items()},
        "targets.safety_failures": targets.safety_failures,
        "targets.average_confidence": targets.average_confidence,
    }
