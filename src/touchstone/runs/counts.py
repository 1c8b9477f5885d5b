"""Results and records of replies, one after another -> Counts: sums from which every figure of them follows.

What was counted elsewhere can be merged, in the order of the replies; memory grows with the categories, up to a bound.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from touchstone.core.result import STATUSES, VIOLATION_KINDS, Decision, Flag, Grading, Outcome, Result, Verdict
from touchstone.runs.record import Record
from touchstone.stats.calibration import BINS as CONFIDENCE_BINS
from touchstone.stats.calibration import BinCounts, bin_of

# How often something came, or the sum of what was said, by a name such as `decision/send` or `grade/tone/3`.
Table = Counter[str]
BINS = 10
MAX_EXAMPLES = 3
# A column that is no category, such as a conversation's number, must not fill the memory.
MOST_CATEGORIES = 200
OTHERS = "(all other categories)"
# Confidences are counted to the thousandth.
STEPS = 1000


@dataclass(slots=True)
class Counts:
    """`results` is of results and of what is wrong with the failed ones, `replies` and `groups` of records, the latter
    by category; `examples` are the first cases with each tag, and what shows it in them."""

    results: Table = field(default_factory=Counter)
    replies: Table = field(default_factory=Counter)
    groups: dict[str | None, Table] = field(default_factory=dict)
    examples: dict[str, dict[str, str]] = field(default_factory=dict)

    def add_result(self, result: Result) -> None:
        """Count what only a result says: metrics, anchors, every violation."""
        table = self.results
        names = ["rows", f"decision/{result.decision}", *(f"failure/{each.error}" for each in result.failures)]
        if result.verdict is not None:
            names.append(f"verdict/{result.verdict}")
        table.update(names)
        table["failed"] += bool(result.failures)
        for name, score in (result.metrics or {}).items():
            table[f"metric/{name}"] += 1
            if score.flag is not None:
                table[f"flag/{score.flag}/{name}"] += 1
            if score.score is not None:
                table[f"scored/{name}"] += 1
                _plus(table, f"score/{name}", score.score)
            table.update(f"anchor/{anchor.status}" for anchor in score.anchors or ())
        if result.rubric is not None:
            _add_grading(table, result.rubric)

    def add(self, record: Record) -> None:
        """Count a reply."""
        group, replies = self.groups.setdefault(record.category, Counter()), self.replies
        _add_record(group, record)
        replies.update([f"decision/{record.decision}", *(f"violation/{kind}" for kind in record.violations)])
        if record.fails:
            self.results["fails"] += 1
            for name in dict.fromkeys(tag.name for tag in record.tags):
                self._add_tag(name, record, group)
        if record.confidence is not None:
            replies[f"stated/{round(record.confidence * STEPS)}"] += 1
            if record.outcome is not None:
                _add_confidence(replies, record.confidence, is_hit=record.outcome == "PASS")

    def _add_tag(self, name: str, record: Record, group: Table) -> None:
        self.results[f"tag/{name}"] += 1
        group[f"tag/{name}"] += 1
        self.replies.update(f"owner/{name}/{tag.owner}" for tag in record.tags if tag.name == name)
        detail = next(tag.detail for tag in record.tags if tag.name == name)
        self._add_examples(name, {record.id: detail})

    def _add_examples(self, name: str, details: Mapping[str, str]) -> None:
        shown = self.examples.setdefault(name, {})
        for id, detail in details.items():
            if len(shown) < MAX_EXAMPLES:
                shown.setdefault(id, detail)

    def merge(self, later: "Counts") -> None:
        """Add what was counted of later replies; beyond the bound, the rarest categories become one."""
        self.results.update(later.results)
        self.replies.update(later.replies)
        for category, table in later.groups.items():
            self.groups.setdefault(category, Counter()).update(table)
        for name, details in later.examples.items():
            self._add_examples(name, details)
        named = [name for name in self.groups if name not in (None, OTHERS)]
        for name in sorted(named, key=lambda name: (-self.groups[name]["replies"], str(name)))[MOST_CATEGORIES:]:
            self.groups.setdefault(OTHERS, Counter()).update(self.groups.pop(name))

    def whole(self) -> Table:
        """All categories added up."""
        total: Table = Counter()
        for table in self.groups.values():
            total.update(table)
        return total

    def by_category(self, number: Callable[[Table], int]) -> Counter[str | None]:
        """So many of each category; those without any are left out."""
        return +Counter({category: number(table) for category, table in self.groups.items()})

    def confidence_bins(self) -> list[BinCounts]:
        """The replies with an outcome by the confidence that the bot stated."""
        return [BinCounts(**named(self.replies, f"bin/{at}/")) for at in range(CONFIDENCE_BINS)]


def count(records: Iterable[Record]) -> Counts:
    """The counts of some replies."""
    counts = Counts()
    for record in records:
        counts.add(record)
    return counts


def named(table: Mapping[str, int], prefix: str) -> dict[str, int]:
    """The numbers whose names begin so, by the rest of the name, in the order they first came."""
    return {name.removeprefix(prefix): number for name, number in table.items() if name.startswith(prefix)}


def most_frequent(counts: Mapping[str, int]) -> dict[str, int]:
    """The largest first, equal ones by name."""
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def counts_to_dict(counts: Counts) -> dict[str, Any]:
    """Counts -> a plain dict."""
    return {
        "results": dict(counts.results),
        "replies": dict(counts.replies),
        "groups": [[category, dict(table)] for category, table in counts.groups.items()],
        "examples": counts.examples,
    }


def counts_from_dict(raw: Mapping[str, Any]) -> Counts:
    """What `counts_to_dict` wrote -> the same value."""
    groups = {category: Counter(table) for category, table in raw["groups"]}
    examples = {name: dict(details) for name, details in raw["examples"].items()}
    return Counts(Counter(raw["results"]), Counter(raw["replies"]), groups, examples)


def _plus(table: Table, name: str, number: float) -> None:
    table[name] += number  # type: ignore[assignment]


def _add_grading(table: Table, grading: Grading) -> None:
    table["graded"] += 1
    table["unsafe"] += bool(grading.violations)
    if grading.outcome is not None:
        table[f"outcome/{grading.outcome}"] += 1
    table.update(f"violation/{violation.kind}" for violation in grading.violations)
    for grade in grading.grades:
        table[f"criterion/{grade.criterion}"] += grade.grade is not None
        table[f"grade/{grade.criterion}"] += grade.grade or 0


def _add_record(table: Table, record: Record) -> None:
    """One category's part: how a reply ended, its grades and the tenth of the points it has."""
    table["replies"] += 1
    table["scored"] += record.outcome is not None
    table["failed"] += record.failed
    table["passed"] += record.outcome == "PASS"
    table["unsafe"] += bool(record.violations)
    table["inspected"] += record.is_inspected
    table["waived"] += len(record.waived)
    if record.total is not None:
        table[f"total/{min(BINS - 1, int(record.total // BINS))}"] += 1
        _plus(table, "points", record.total)
    table.update(f"grade/{name}/{grade}" for name, grade in record.grades.items() if grade is not None)


def _add_confidence(table: Table, confidence: float, *, is_hit: bool) -> None:
    at = f"bin/{bin_of(confidence)}"
    table[f"{at}/n"] += 1
    table[f"{at}/hits"] += is_hit
    _plus(table, f"{at}/stated", confidence)
    _plus(table, f"{at}/squares", (confidence - is_hit) ** 2)


@dataclass(frozen=True, slots=True)
class MetricTally:
    """One metric over all rows: how many it scored, their mean, and how often it raised which flag."""

    scored: int
    mean: float | None
    flags: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CriterionTally:
    """One criterion over all rows: how many were graded on it, and their mean grade."""

    graded: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class GradingTally:
    """The rubric over all rows: outcomes, the share of them that is PASS, criteria, and violations by kind.

    A row whose outcome is open counts as neither; `unsafe` is how many replies have a violation.
    """

    outcomes: Mapping[str, int]
    pass_rate: float | None
    criteria: Mapping[str, CriterionTally]
    violations: Mapping[str, int]
    unsafe: int


@dataclass(frozen=True, slots=True)
class Tally:
    """All rows: how many, how many failed, and what was decided, found and measured about the others."""

    rows: int
    failed: int
    decisions: Mapping[str, int]
    verdicts: Mapping[str, int]
    metrics: Mapping[str, MetricTally]
    anchors: Mapping[str, int]
    rubric: GradingTally


def tally(results: Table) -> Tally:
    """What counted results came to."""

    def numbers(prefix: str, names: Iterable[str]) -> dict[str, int]:
        return {name: results[f"{prefix}/{name}"] for name in names}

    outcomes = numbers("outcome", get_args(Outcome))
    concluded = sum(outcomes.values())
    return Tally(
        rows=results["rows"],
        failed=results["failed"],
        decisions=numbers("decision", get_args(Decision)),
        verdicts=numbers("verdict", get_args(Verdict)),
        metrics={
            name: MetricTally(
                scored := results[f"scored/{name}"],
                results[f"score/{name}"] / scored if scored else None,
                {flag: results[f"flag/{flag}/{name}"] for flag in get_args(Flag)},
            )
            for name in named(results, "metric/")
        },
        anchors=numbers("anchor", STATUSES),
        rubric=GradingTally(
            outcomes=outcomes,
            pass_rate=outcomes["PASS"] / concluded if concluded else None,
            criteria={
                name: CriterionTally(graded, results[f"grade/{name}"] / graded if graded else None)
                for name, graded in named(results, "criterion/").items()
            },
            violations=numbers("violation", VIOLATION_KINDS),
            unsafe=results["unsafe"],
        ),
    )
