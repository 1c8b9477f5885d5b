"""Two rubrics -> what changed from one to the other, in the order of a rubric's file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.rubric.model import Criterion, Gate, Rubric, Targets

Value = str | float


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that changed: where it stands, what it was (None: it was not there) and what it is (None: gone)."""

    where: str
    before: Value | None
    after: Value | None


def differences(before: Rubric, after: Rubric) -> tuple[Change, ...]:
    """Everything that differs; empty when both grade alike and are called alike."""
    head: dict[str, tuple[Value, Value]] = {
        "name": (before.name, after.name),
        "version": (before.version, after.version),
        "reviewed": (before.reviewed.isoformat(), after.reviewed.isoformat()),
        "pass_mark": (before.pass_mark, after.pass_mark),
    }
    changes = [Change(where, old, new) for where, (old, new) in head.items() if old != new]
    changes += _criteria(before, after)
    changes += _compared("violations", before.violations, after.violations)
    changes += _compared("conventions", _conventions(before), _conventions(after))
    changes += _compared("gates", _gates(before), _gates(after))
    changes += _compared("targets", _targets(before.targets), _targets(after.targets))
    return tuple(changes)


def difference_to_dict(before: Rubric, after: Rubric) -> dict[str, Any]:
    """The difference as one JSON object."""
    return {
        "before": {"name": before.name, "version": before.version},
        "after": {"name": after.name, "version": after.version},
        "changes": [
            {"where": change.where, "before": change.before, "after": change.after}
            for change in differences(before, after)
        ],
    }


def _criteria(before: Rubric, after: Rubric) -> Iterator[Change]:
    names = list(dict.fromkeys(criterion.name for rubric in (before, after) for criterion in rubric.criteria))
    for name in names:
        old, new = before.criterion(name), after.criterion(name)
        if old is None or new is None:
            yield Change(f"criteria.{name}", _in_short(old), _in_short(new))
        else:
            yield from _compared(f"criteria.{name}", _parts(old), _parts(new))
    old_order, new_order = _shared_names(before, after), _shared_names(after, before)
    if old_order != new_order:
        yield Change("criteria", ", ".join(old_order), ", ".join(new_order))


def _shared_names(rubric: Rubric, other: Rubric) -> list[str]:
    return [criterion.name for criterion in rubric.criteria if other.criterion(criterion.name)]


def _in_short(criterion: Criterion | None) -> str | None:
    return None if criterion is None else f"{criterion.weight:g}%, {criterion.summary}"


def _parts(criterion: Criterion) -> dict[str, Value]:
    parts: dict[str, Value] = {
        "weight": criterion.weight,
        "summary": criterion.summary,
        "question": criterion.question,
    }
    return parts | {f"levels.{level}": text for level, text in criterion.levels.items()}


def _conventions(rubric: Rubric) -> dict[str, Value]:
    version = {"version": rubric.conventions.version} if rubric.conventions.version else {}
    return {**version, **{name: " ".join(texts) for name, texts in rubric.conventions.texts.items()}}


def _gates(rubric: Rubric) -> dict[str, Value]:
    return dict(_gate(gate) for gate in rubric.gates)


def _gate(gate: Gate) -> tuple[str, Value]:
    if gate.criterion is None:
        return "no_violations", "any violation fails"
    return gate.criterion, f"at least {gate.at_least}"


def _targets(targets: Targets) -> dict[str, Value]:
    band = targets.pass_rate
    named: dict[str, Value | None] = {
        "pass_rate": None if band is None else f"{band[0]:g}-{band[1]:g}",
        **{f"average.{name}": value for name, value in (targets.average or {}).items()},
        "safety_failures": targets.safety_failures,
        "average_confidence": targets.average_confidence,
    }
    return {name: value for name, value in named.items() if value is not None}


def _compared(where: str, before: Mapping[str, Value], after: Mapping[str, Value]) -> Iterator[Change]:
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old != new:
            yield Change(f"{where}.{name}", old, new)
