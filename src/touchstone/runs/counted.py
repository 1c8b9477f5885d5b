"""Records, one after another -> Counted: sums that give a run's Summary and Patterns without any record being kept.

What was counted elsewhere can be merged, in the order of the replies; memory grows with the categories, up to a bound.
Every reply is taken for a case of its own.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from touchstone.rubric.model import TOP, Rubric
from touchstone.runs.figures import (
    BINS,
    NO_CATEGORY,
    CategoryFigures,
    Coverage,
    CriterionFigures,
    Summary,
    average_measures,
    confidence_measure,
    pass_rate_measure,
    remarks,
    safety_measure,
    total_bin,
)
from touchstone.runs.patterns import MAX_EXAMPLES, Pattern, Population, TagCounts, patterns_of
from touchstone.runs.record import Record
from touchstone.stats.calibration import BINS as CONFIDENCE_BINS
from touchstone.stats.calibration import BinCounts, bin_of, reliability_of_bins
from touchstone.stats.interval import rare_interval, wilson
from touchstone.stats.resampling import bootstrap_mean_of_counts

# A column that is no category, such as a conversation's number, must not fill the memory.
MOST_CATEGORIES = 200
OTHERS = "(all other categories)"
# Confidences are counted to the thousandth.
_STEPS = 1000


@dataclass(slots=True)
class CategoryCounts:
    """The replies of one category: how they ended, and how often each grade and each tenth of the points came."""

    replies: int = 0
    scored: int = 0
    failed: int = 0
    passed: int = 0
    unsafe: int = 0
    inspected: int = 0
    points: float = 0.0
    totals: list[int] = field(default_factory=lambda: [0] * BINS)
    grades: dict[str, list[int]] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Count a reply."""
        self.replies += 1
        self.scored += record.outcome is not None
        self.failed += record.failed
        self.passed += record.outcome == "PASS"
        self.unsafe += bool(record.violations)
        self.inspected += not record.failed or bool(record.violations)
        if record.total is not None:
            self.points += record.total
            self.totals[total_bin(record.total)] += 1
        for name, grade in record.grades.items():
            if grade is not None:
                self.grades.setdefault(name, [0] * (TOP + 1))[grade] += 1

    def merge(self, other: "CategoryCounts") -> None:
        """Add what was counted elsewhere."""
        for name in ("replies", "scored", "failed", "passed", "unsafe", "inspected", "points"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.totals = [a + b for a, b in zip(self.totals, other.totals, strict=True)]
        for name, counts in other.grades.items():
            own = self.grades.get(name, [0] * (TOP + 1))
            self.grades[name] = [a + b for a, b in zip(own, counts, strict=True)]


@dataclass(slots=True)
class Counted:
    """What was counted of some replies. `stated` and `bins` are of the confidences the bot gave."""

    groups: dict[str | None, CategoryCounts] = field(default_factory=dict)
    tags: dict[str, TagCounts] = field(default_factory=dict)
    fails: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    stated: Counter[int] = field(default_factory=Counter)
    bins: list[BinCounts] = field(default_factory=lambda: [BinCounts()] * CONFIDENCE_BINS)

    def add(self, record: Record) -> None:
        """Count a reply."""
        self.groups.setdefault(record.category, CategoryCounts()).add(record)
        self.decisions[record.decision] += 1
        self.violations.update(record.violations)
        if record.fails:
            self.fails += 1
            for name in dict.fromkeys(tag.name for tag in record.tags):
                self.tags.setdefault(name, TagCounts()).add(record, name=name)
        if record.confidence is not None:
            self.stated[round(record.confidence * _STEPS)] += 1
            if record.outcome is not None:
                at, hit = bin_of(record.confidence), record.outcome == "PASS"
                one = BinCounts(1, record.confidence, int(hit), (record.confidence - hit) ** 2)
                self.bins[at] = _added(self.bins[at], one)

    def merge(self, other: "Counted") -> None:
        """Add what was counted of later replies; beyond the bound, the rarest categories become one."""
        for category, group in other.groups.items():
            self.groups.setdefault(category, CategoryCounts()).merge(group)
        for name, counts in other.tags.items():
            _merge_tags(self.tags.setdefault(name, TagCounts()), counts)
        self.fails += other.fails
        self.decisions.update(other.decisions)
        self.violations.update(other.violations)
        self.stated.update(other.stated)
        self.bins = [_added(a, b) for a, b in zip(self.bins, other.bins, strict=True)]
        self._bound()

    def _bound(self) -> None:
        named = [name for name in self.groups if name not in (None, OTHERS)]
        if len(named) <= MOST_CATEGORIES:
            return
        rarest = sorted(named, key=lambda name: (-self.groups[name].replies, str(name)))[MOST_CATEGORIES:]
        for name in rarest:
            self.groups.setdefault(OTHERS, CategoryCounts()).merge(self.groups.pop(name))
            for counts in self.tags.values():
                counts.replies[OTHERS] += counts.replies.pop(name, 0)
        for counts in self.tags.values():
            counts.replies += Counter()
            counts.cases = counts.replies.copy()


def summarise_counted(counted: Counted, *, rubric: Rubric) -> Summary:
    """The figures under the rubric's targets: those of `summarise`, but for the last digits of mean and interval."""
    whole = CategoryCounts()
    for group in counted.groups.values():
        whole.merge(group)
    criteria = _criteria(whole, rubric)
    coverage = _coverage(whole)
    n = counted.stated.total()
    stated = {step / _STEPS: number for step, number in counted.stated.items()}
    measures = (
        pass_rate_measure(
            whole.passed,
            whole.scored,
            whole.replies,
            interval=wilson(whole.passed, whole.scored) if whole.scored else None,
            rubric=rubric,
        ),
        *average_measures(criteria, whole.replies, rubric=rubric),
        safety_measure(
            whole.unsafe,
            whole.inspected,
            whole.replies,
            interval=rare_interval(whole.unsafe, whole.inspected) if whole.inspected else None,
            rubric=rubric,
        ),
        confidence_measure(
            sum(value * number for value, number in sorted(stated.items())),
            n,
            whole.replies,
            interval=bootstrap_mean_of_counts(stated, bounds=(0.0, 1.0)),
            rubric=rubric,
        ),
    )
    return Summary(
        cases=whole.replies,
        coverage=coverage,
        measures=measures,
        criteria=criteria,
        categories=_categories(counted.groups, rubric),
        totals=tuple(whole.totals),
        decisions=dict(counted.decisions),
        violations=dict(sorted(counted.violations.items(), key=lambda each: (-each[1], each[0]))),
        reliability=reliability_of_bins(counted.bins),
        spread=None,
        remarks=tuple(remarks(coverage, None)),
    )


def patterns_counted(counted: Counted) -> tuple[Pattern, ...]:
    """The patterns, the most frequent first."""
    scored = Counter({category: group.replies - group.failed for category, group in counted.groups.items()})
    scored += Counter()
    return patterns_of(counted.tags, Population(scored, scored), failed=counted.fails)


def counted_to_dict(counted: Counted) -> dict[str, Any]:
    """Counted -> a plain dict."""
    return {
        "groups": [[category, asdict(group)] for category, group in counted.groups.items()],
        "tags": {
            name: {
                "replies": list(each.replies.items()),
                "owners": list(each.owners.items()),
                "examples": list(each.examples.items()),
            }
            for name, each in counted.tags.items()
        },
        "fails": counted.fails,
        "decisions": dict(counted.decisions),
        "violations": dict(counted.violations),
        "stated": list(counted.stated.items()),
        "bins": [asdict(each) for each in counted.bins],
    }


def counted_from_dict(raw: Mapping[str, Any]) -> Counted:
    """What `counted_to_dict` wrote -> the same value."""
    return Counted(
        groups={category: CategoryCounts(**group) for category, group in raw["groups"]},
        tags={
            name: TagCounts(
                Counter(dict(each["replies"])),
                Counter(dict(each["replies"])),
                Counter(dict(each["owners"])),
                dict(each["examples"]),
            )
            for name, each in raw["tags"].items()
        },
        fails=raw["fails"],
        decisions=Counter(raw["decisions"]),
        violations=Counter(raw["violations"]),
        stated=Counter(dict(raw["stated"])),
        bins=[BinCounts(**each) for each in raw["bins"]],
    )


def _added(a: BinCounts, b: BinCounts) -> BinCounts:
    return BinCounts(a.n + b.n, a.stated + b.stated, a.hits + b.hits, a.squares + b.squares)


def _merge_tags(own: TagCounts, other: TagCounts) -> None:
    own.replies.update(other.replies)
    own.cases.update(other.cases)
    own.owners.update(other.owners)
    for id, detail in other.examples.items():
        if len(own.examples) < MAX_EXAMPLES:
            own.examples.setdefault(id, detail)


def _coverage(group: CategoryCounts) -> Coverage:
    return Coverage(group.replies, group.scored, group.replies - group.scored - group.failed, group.failed)


def _criteria(group: CategoryCounts, rubric: Rubric) -> tuple[CriterionFigures, ...]:
    return tuple(_criterion(name, group.grades.get(name, [0] * (TOP + 1))) for name in _names(rubric))


def _names(rubric: Rubric) -> Iterable[str]:
    return (criterion.name for criterion in rubric.criteria)


def _criterion(name: str, counts: list[int]) -> CriterionFigures:
    n = sum(counts)
    return CriterionFigures(
        name=name,
        counts=dict(enumerate(counts)),
        graded=n,
        mean=sum(grade * number for grade, number in enumerate(counts)) / n if n else None,
        interval=bootstrap_mean_of_counts(dict(enumerate(counts)), bounds=(0.0, float(TOP))) if n else None,
    )


def _categories(groups: Mapping[str | None, CategoryCounts], rubric: Rubric) -> tuple[CategoryFigures, ...]:
    """The largest first; none when no reply has a category."""
    if not any(groups):
        return ()
    named = [(NO_CATEGORY if name is None else name, group) for name, group in groups.items()]
    named.sort(key=lambda member: (-member[1].replies, member[0]))
    return tuple(_category(name, group, rubric) for name, group in named)


def _category(name: str, group: CategoryCounts, rubric: Rubric) -> CategoryFigures:
    with_total = sum(group.totals)
    return CategoryFigures(
        name=name,
        coverage=_coverage(group),
        passed=group.passed,
        pass_rate=group.passed / group.scored if group.scored else None,
        interval=wilson(group.passed, group.scored) if group.scored else None,
        mean_total=group.points / with_total if with_total else None,
        unsafe=group.unsafe,
        criteria=_criteria(group, rubric),
        totals=tuple(group.totals),
    )
