"""The records of two runs by case -> pairs, and the cases whose outcome flipped with what changed in them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from touchstone.core.result import ViolationKind
from touchstone.runs.record import Record


@dataclass(frozen=True, slots=True)
class Flip:
    """A case whose outcome changed, and what changed in it."""

    id: str
    category: str | None
    direction: Literal["improved", "regressed"]
    total_before: float | None
    total_after: float | None
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One case in one run, as the mean of its drafts; None is what no draft has.

    `passed` and `unsafe` are shares of drafts: 0 or 1 when there is one.
    """

    category: str | None
    drafts: int
    passed: float | None
    unsafe: float | None
    total: float | None
    grades: Mapping[str, float | None]
    records: tuple[Record, ...]

    @property
    def violations(self) -> tuple[ViolationKind, ...]:
        return tuple(dict.fromkeys(kind for record in self.records for kind in record.violations))

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tag.name for record in self.records for tag in record.tags))


@dataclass(frozen=True, slots=True)
class Pair:
    """One case in both runs."""

    id: str
    before: Side
    after: Side

    @property
    def is_scored(self) -> bool:
        return self.before.passed is not None and self.after.passed is not None

    @property
    def category(self) -> str | None:
        return self.after.category if self.after.category is not None else self.before.category


def sides(records: Sequence[Record]) -> dict[str, Side]:
    """Each case of a run, in the order the cases first stand."""
    drafts: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        drafts[record.id].append(record)
    return {case: _side(group) for case, group in drafts.items()}


def find_flips(pairs: Sequence[Pair]) -> tuple[Flip, ...]:
    """The cases that passed and fail now, then those that failed and pass now; the largest change first.

    Of several drafts the majority counts; a tie is neither.
    """
    flips = [flip for pair in pairs if (flip := _flip(pair))]
    return tuple(sorted(flips, key=lambda flip: (flip.direction == "improved", -_moved(flip), flip.id)))


def _side(group: Sequence[Record]) -> Side:
    first = group[0]
    if len(group) == 1:
        return Side(
            category=first.category,
            drafts=1,
            passed=None if first.outcome is None else float(first.outcome == "PASS"),
            unsafe=float(bool(first.violations)) if _is_inspected(first) else None,
            total=first.total,
            grades=first.grades,
            records=(first,),
        )
    names = dict.fromkeys(name for record in group for name in record.grades)
    graded = {name: [g for record in group if (g := record.grades.get(name)) is not None] for name in names}
    return Side(
        category=first.category,
        drafts=len(group),
        passed=_mean([float(record.outcome == "PASS") for record in group if record.outcome is not None]),
        unsafe=_mean([float(bool(record.violations)) for record in group if _is_inspected(record)]),
        total=_mean([record.total for record in group if record.total is not None]),
        grades={name: _mean(grades) for name, grades in graded.items()},
        records=tuple(group),
    )


def _is_inspected(record: Record) -> bool:
    return not record.failed or bool(record.violations)


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _flip(pair: Pair) -> Flip | None:
    old, new = pair.before.passed, pair.after.passed
    if old is None or new is None or (old - 0.5) * (new - 0.5) >= 0:
        return None
    return Flip(
        id=pair.id,
        category=pair.category,
        direction="improved" if new > old else "regressed",
        total_before=pair.before.total,
        total_after=pair.after.total,
        changes=tuple(_changes(pair.before, pair.after)),
    )


def _moved(flip: Flip) -> float:
    if flip.total_before is None or flip.total_after is None:
        return 0.0
    return abs(flip.total_after - flip.total_before)


def _changes(before: Side, after: Side) -> Iterator[str]:
    """What changed, the gravest first: violations, grades, the total, then tags."""
    yield from (f"new violation: {kind}" for kind in after.violations if kind not in before.violations)
    yield from (f"violation gone: {kind}" for kind in before.violations if kind not in after.violations)
    for name, old in before.grades.items():
        new = after.grades.get(name)
        if old is not None and new is not None and new != old:
            yield f"{name} {old:.3g}→{new:.3g}"
    if before.total is not None and after.total is not None and before.total != after.total:
        yield f"total {before.total:.3g}→{after.total:.3g}"
    yield from (f"new: {tag}" for tag in after.tags if tag not in before.tags)
    yield from (f"gone: {tag}" for tag in before.tags if tag not in after.tags)
