"""ComparisonReport: two runs and what changed between them, with the sentences every form has in common."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from touchstone.report.figures import Scale, change, count, probability, sentence, words
from touchstone.report.plain import one_line
from touchstone.runs.comparison import Comparison, FigureChange, Flip
from touchstone.runs.run import Run

# A difference is called one only when chance would show it in fewer than one of twenty such comparisons.
SIGNIFICANT = 0.05
MOST_FLIPS = 1_000
Standing = Literal["better", "worse", "no clear change", "not comparable"]
# What of the receipts may explain a difference.
_RECEIPT = {
    "data": "gold set",
    "rubric_hash": "rubric",
    "plan": "plan",
    "policy": "policy",
    "judge": "judge",
    "code": "Touchstone's version",
    "parser": "parser",
    "verifier": "verifier",
    "repeat": "number of drafts",
}


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One figure before and after, with how it is counted and whether a rise is for the worse."""

    figure: FigureChange
    scale: Scale
    name: str
    rise_is_worse: bool = False

    @property
    def chance(self) -> str:
        """How likely chance alone would show such a change."""
        found = self.figure
        return probability(found.p) if found.q is None else probability(found.q, letter="q")

    @property
    def standing(self) -> Standing:
        found = self.figure
        decisive = found.p if found.q is None else found.q
        if found.difference is None or decisive is None:
            return "not comparable"
        if decisive >= SIGNIFICANT or found.difference == 0:
            return "no clear change"
        return "worse" if (found.difference > 0) is self.rise_is_worse else "better"

    @property
    def difference(self) -> str:
        return change(self.figure.difference, self.scale)

    @property
    def reach(self) -> float:
        """How far from no change the figure or its interval lies."""
        found = self.figure.interval
        ends = (abs(found.low), abs(found.high)) if found else ()
        return max(abs(self.figure.difference or 0.0), *ends, 0.0)


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Changes under one title; `head` says what a line is about."""

    id: str
    title: str
    head: str
    lines: tuple[ChangeLine, ...]

    def reach(self, scale: Scale) -> float:
        """The scale on which the lines that are counted alike are drawn."""
        return max(line.reach for line in self.lines if line.scale == scale) * 1.05 or 1.0


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """What `after` changed against `before`. Its properties are for people; `comparison_to_dict` is for programs."""

    before: Run
    after: Run
    comparison: Comparison

    @property
    def pass_rate(self) -> ChangeLine:
        return ChangeLine(self.comparison.pass_rate, "share", "pass rate")

    @property
    def standing(self) -> Standing:
        return self.pass_rate.standing

    @property
    def sentence(self) -> str:
        """The answer."""
        line = self.pass_rate
        if line.standing == "not comparable":
            return "The pass rates cannot be compared: no case has an outcome in both runs."
        if line.standing == "no clear change":
            return f"No clear change of the pass rate: {line.difference} may be chance ({line.chance})."
        return f"The pass rate is {line.standing}: {line.difference} ({line.chance})."

    @property
    def pairs(self) -> str:
        """What was compared, and what was left out."""
        comparison = self.comparison
        parts = [f"{count(comparison.pairs, 'case')} in both runs"]
        parts += [f"{comparison.unscored:,} of them without an outcome in both"] if comparison.unscored else []
        parts += [f"{len(comparison.only_before):,} only in the first"] if comparison.only_before else []
        parts += [f"{len(comparison.only_after):,} only in the second"] if comparison.only_after else []
        return sentence(", ".join(parts))

    @property
    def groups(self) -> list[ChangeGroup]:
        """The changes: headline figures, grades, and the pass rate of each category."""
        found = self.comparison
        total = [ChangeLine(found.total, "points", "total")] if found.total else []
        safety = ChangeLine(found.safety, "share", "safety failures", rise_is_worse=True)
        grades = (ChangeLine(each, "grade", words(each.name)) for each in found.grades)
        categories = (ChangeLine(each, "share", one_line(each.name)) for each in found.categories)
        groups = [
            ChangeGroup("headline", "What changed", "measure", (self.pass_rate, safety, *total)),
            ChangeGroup("grades", "Grades", "criterion", tuple(grades)),
            ChangeGroup("categories", "Pass rate by category", "category", tuple(categories)),
        ]
        return [group for group in groups if group.lines]

    @property
    def flips(self) -> list[Flip]:
        """The cases whose outcome changed, the regressed ones first."""
        return sorted(self.comparison.flips, key=lambda flip: (flip.direction != "regressed", flip.id))

    @property
    def regressed(self) -> int:
        return sum(flip.direction == "regressed" for flip in self.comparison.flips)

    @property
    def improved(self) -> int:
        return len(self.comparison.flips) - self.regressed

    @property
    def differing(self) -> list[str]:
        """What differs between the receipts: a difference of results may come from any of it."""
        return list(_differing(self.before, self.after))

    @property
    def remarks(self) -> list[str]:
        """What may explain the changes, and what the pairs cannot show."""
        return [*self.differing, *map(sentence, self.comparison.remarks)]


def run_title(run: Run) -> str:
    """What a run is called: its labels, else what it was made from."""
    return one_line(" ".join(f"{name}={value}" for name, value in run.labels.items()) or run.receipt.goldset)


def comparison_to_dict(report: ComparisonReport) -> dict[str, Any]:
    """Both runs' ids, every change with interval and p-value, and the flips."""
    return {
        "before": one_line(report.before.id),
        "after": one_line(report.after.id),
        "standing": report.standing,
        **asdict(report.comparison),
        "differing": report.differing,
    }


def _differing(before: Run, after: Run) -> Iterator[str]:
    for field, name in _RECEIPT.items():
        old, new = getattr(before.receipt, field), getattr(after.receipt, field)
        if old != new:
            yield f"The {name} differs ({one_line(str(old))}, then {one_line(str(new))})."
