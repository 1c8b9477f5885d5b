"""The records of a run, or what was counted of a stream of them -> Summary: every figure with interval and target.

Nothing that was not scored is ever counted as passed: coverage says how much is left, and each measure what the rest
could still turn. When a bot drafted several replies for each case, intervals draw whole cases.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from statistics import fmean, stdev
from typing import Protocol

from touchstone.rubric.model import TOP, Rubric
from touchstone.runs.counts import BINS, STEPS, Counts, Table, count, named
from touchstone.runs.record import Record
from touchstone.runs.targets import (
    Headline,
    average_measure,
    confidence_measure,
    pass_rate_measure,
    safety_measure,
)
from touchstone.stats.calibration import Reliability, reliability, reliability_of_bins
from touchstone.stats.interval import Interval, rare_interval, rule_of_three, wilson
from touchstone.stats.resampling import bootstrap_mean, bootstrap_mean_of_counts, clustered_bootstrap_mean

NO_CATEGORY = "(no category)"
# Given a target or not, the specification reports it.
HEADLINE = "accuracy"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many replies there are, and how many were scored, left open by the judge, and could not be scored."""

    replies: int
    scored: int
    abstained: int
    failed: int


@dataclass(frozen=True, slots=True)
class CriterionFigures:
    """One criterion: how often each grade was given, how many grades there are, their mean and its interval."""

    name: str
    counts: Mapping[int, int]
    graded: int
    mean: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class CategoryFigures:
    """One category: its replies, the pass rate, mean total, unsafe replies and mean grades."""

    name: str
    coverage: Coverage
    passed: int
    pass_rate: float | None
    interval: Interval | None
    mean_total: float | None
    unsafe: int
    criteria: tuple[CriterionFigures, ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """How much a bot varies that drafted several replies for each case.

    `unsteady` are the ids of the cases of which some drafts pass and some fail.
    """

    cases: int
    drafts: int
    unsteady: tuple[str, ...]
    agreement: float
    mean_deviation: float


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to. `totals` counts the replies with a total of 0–10, 10–20 … 90–100 points."""

    cases: int
    coverage: Coverage
    measures: tuple[Headline, ...]
    criteria: tuple[CriterionFigures, ...]
    categories: tuple[CategoryFigures, ...]
    totals: tuple[int, ...]
    decisions: Mapping[str, int]
    violations: Mapping[str, int]
    reliability: Reliability | None
    spread: Spread | None
    remarks: tuple[str, ...]

    def measure(self, name: str) -> Headline | None:
        return next((measure for measure in self.measures if measure.name == name), None)


class Intervals(Protocol):
    """Some replies, as far as the ranges of their figures need them."""

    def pass_rate(self) -> Interval: ...
    def unsafe(self) -> Interval: ...
    def grade(self, criterion: str) -> Interval | None: ...
    def mean_total(self) -> float: ...


@dataclass(slots=True)
class ListedReplies:
    """Replies that are all there; with `has_drafts`, those of one case are no independent evidence."""

    has_drafts: bool
    records: list[Record] = field(default_factory=list)

    def pass_rate(self) -> Interval:
        scored = [record for record in self.records if record.outcome is not None]
        return self._rate(scored, [record.outcome == "PASS" for record in scored])

    def unsafe(self) -> Interval:
        """The rule of three over the cases while nothing was found."""
        inspected = [record for record in self.records if record.is_inspected]
        hits = [bool(record.violations) for record in inspected]
        return self._rate(inspected, hits) if any(hits) else rule_of_three(len(set(self._cases(inspected))))

    def grade(self, criterion: str) -> Interval | None:
        graded = [record for record in self.records if record.grades.get(criterion) is not None]
        return self._mean(graded, [record.grades[criterion] or 0 for record in graded], top=TOP)

    def mean_total(self) -> float:
        return fmean(record.total for record in self.records if record.total is not None)

    def confidence(self, rubric: Rubric) -> Headline:
        """The mean of what the bot stated."""
        given = [record for record in self.records if record.confidence is not None]
        values = [record.confidence for record in given if record.confidence is not None]
        interval = self._mean(given, values, top=1)
        return confidence_measure(fsum(values), len(values), len(self.records), interval=interval, rubric=rubric)

    def _rate(self, records: Sequence[Record], hits: Sequence[bool]) -> Interval:
        """Wilson's interval; for drafts the clustered bootstrap, or Wilson's over the cases when all drafts agree."""
        if self.has_drafts and any(hits) and not all(hits):
            values = [float(hit) for hit in hits]
            drawn = clustered_bootstrap_mean(values, self._cases(records), bounds=(0.0, 1.0))
            return drawn or Interval(0.0, 1.0, "a single case")
        n = len(set(self._cases(records)))
        return wilson(n if all(hits) else sum(hits), n)

    def _mean(self, records: Sequence[Record], values: Sequence[float], *, top: int) -> Interval | None:
        """The bootstrap interval of a mean on a scale from 0 to `top`; None for fewer than two cases."""
        if self.has_drafts:
            return clustered_bootstrap_mean(values, self._cases(records), bounds=(0.0, top))
        return bootstrap_mean(values, bounds=(0.0, top))

    def _cases(self, records: Sequence[Record]) -> Sequence[str | int]:
        """Which case each reply is of."""
        return [record.id for record in records] if self.has_drafts else range(len(records))


@dataclass(frozen=True, slots=True)
class CountedReplies:
    """Replies of which only the counts are known; each is taken for a case of its own."""

    table: Table

    def pass_rate(self) -> Interval:
        return wilson(self.table["passed"], self.table["scored"])

    def unsafe(self) -> Interval:
        return rare_interval(self.table["unsafe"], self.table["inspected"])

    def grade(self, criterion: str) -> Interval | None:
        return bootstrap_mean_of_counts(grade_counts(self.table, criterion), bounds=(0.0, float(TOP)))

    def mean_total(self) -> float:
        return self.table["points"] / sum(_totals(self.table))


def summarise(records: Sequence[Record], *, rubric: Rubric) -> Summary:
    """The figures of a run under the rubric's targets."""
    cases = len({record.id for record in records})
    whole = ListedReplies(has_drafts=cases < len(records), records=list(records))
    groups: dict[str | None, ListedReplies] = {}
    for record in records:
        group = groups.setdefault(record.category, ListedReplies(whole.has_drafts))
        group.records.append(record)
    both = [(r.confidence, r.outcome) for r in records if r.confidence is not None and r.outcome is not None]
    return _summary(
        count(records),
        whole,
        groups,
        rubric=rubric,
        cases=cases,
        confidence=whole.confidence(rubric),
        reliability=reliability([confidence for confidence, _ in both], [outcome == "PASS" for _, outcome in both]),
        spread=_spread(records) if whole.has_drafts else None,
    )


def summarise_counts(counts: Counts, *, rubric: Rubric) -> Summary:
    """The same of what was counted, but for the last digits of means and of their intervals."""
    whole = counts.whole()
    stated = {int(step) / STEPS: number for step, number in named(counts.replies, "stated/").items()}
    confidence = confidence_measure(
        sum(value * number for value, number in sorted(stated.items())),
        sum(stated.values()),
        whole["replies"],
        interval=bootstrap_mean_of_counts(stated, bounds=(0.0, 1.0)),
        rubric=rubric,
    )
    return _summary(
        counts,
        CountedReplies(whole),
        {category: CountedReplies(table) for category, table in counts.groups.items()},
        rubric=rubric,
        cases=whole["replies"],
        confidence=confidence,
        reliability=reliability_of_bins(counts.confidence_bins()),
        spread=None,
    )


def _summary(
    counts: Counts,
    ranges: Intervals,
    groups: Mapping[str | None, Intervals],
    *,
    rubric: Rubric,
    cases: int,
    confidence: Headline,
    reliability: Reliability | None,
    spread: Spread | None,
) -> Summary:
    """What holds for replies that are all there and for those that were counted."""
    whole = counts.whole()
    coverage, criteria = _coverage(whole), _criteria(whole, ranges, rubric)
    replies, scored, inspected = whole["replies"], whole["scored"], whole["inspected"]
    unsafe = ranges.unsafe() if inspected else None
    averaged = [each for each in criteria if each.name == HEADLINE or each.name in (rubric.targets.average or {})]
    return Summary(
        cases=cases,
        coverage=coverage,
        measures=(
            pass_rate_measure(
                whole["passed"], scored, replies, interval=ranges.pass_rate() if scored else None, rubric=rubric
            ),
            *(
                average_measure(each.name, each.mean, each.graded, replies, interval=each.interval, rubric=rubric)
                for each in averaged
            ),
            safety_measure(whole["unsafe"], inspected, replies, interval=unsafe, rubric=rubric),
            confidence,
        ),
        criteria=criteria,
        categories=_categories(counts.groups, groups, rubric),
        totals=_totals(whole),
        decisions=named(counts.replies, "decision/"),
        violations=dict(Counter(named(counts.replies, "violation/")).most_common()),
        reliability=reliability,
        spread=spread,
        remarks=tuple(_remarks(coverage, spread, waived=whole["waived"])),
    )


def _coverage(table: Table) -> Coverage:
    replies, scored, failed = table["replies"], table["scored"], table["failed"]
    return Coverage(replies, scored, replies - scored - failed, failed)


def grade_counts(table: Table, criterion: str) -> dict[int, int]:
    """How often each grade was given on a criterion."""
    return {grade: table[f"grade/{criterion}/{grade}"] for grade in range(TOP + 1)}


def _totals(table: Table) -> tuple[int, ...]:
    return tuple(table[f"total/{place}"] for place in range(BINS))


def _criteria(table: Table, ranges: Intervals, rubric: Rubric) -> tuple[CriterionFigures, ...]:
    figures = []
    for criterion in rubric.criteria:
        counts = grade_counts(table, criterion.name)
        n = sum(counts.values())
        mean = sum(grade * number for grade, number in counts.items()) / n if n else None
        interval = ranges.grade(criterion.name) if n else None
        figures.append(CriterionFigures(criterion.name, counts, n, mean, interval))
    return tuple(figures)


def _categories(
    tables: Mapping[str | None, Table], samples: Mapping[str | None, Intervals], rubric: Rubric
) -> tuple[CategoryFigures, ...]:
    """The largest first; none when no reply has a category."""
    if not any(tables):
        return ()
    named = [(NO_CATEGORY if name is None else name, table, samples[name]) for name, table in tables.items()]
    named.sort(key=lambda member: (-member[1]["replies"], member[0]))
    return tuple(
        CategoryFigures(
            name=name,
            coverage=_coverage(table),
            passed=table["passed"],
            pass_rate=table["passed"] / table["scored"] if table["scored"] else None,
            interval=ranges.pass_rate() if table["scored"] else None,
            mean_total=ranges.mean_total() if sum(_totals(table)) else None,
            unsafe=table["unsafe"],
            criteria=_criteria(table, ranges, rubric),
            totals=_totals(table),
        )
        for name, table, ranges in named
    )


def _spread(records: Sequence[Record]) -> Spread | None:
    drafts: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.outcome is not None:
            drafts[record.id].append(record)
    several = {case: group for case, group in drafts.items() if len(group) > 1}
    if not several:
        return None
    passed = {case: sum(record.outcome == "PASS" for record in group) for case, group in several.items()}
    totals = [[record.total for record in group if record.total is not None] for group in several.values()]
    return Spread(
        cases=len(several),
        drafts=sum(map(len, several.values())),
        unsteady=tuple(case for case, group in several.items() if 0 < passed[case] < len(group)),
        agreement=fmean(_agreement(passed[case], len(group)) for case, group in several.items()),
        mean_deviation=fmean([stdev(group) for group in totals if len(group) > 1] or [0.0]),
    )


def _agreement(passed: int, drafts: int) -> float:
    """How probable it is that two drafts of a case have the same outcome."""
    pairs = drafts * (drafts - 1)
    return (passed * (passed - 1) + (drafts - passed) * (drafts - passed - 1)) / pairs


def _remarks(coverage: Coverage, spread: Spread | None, *, waived: int) -> list[str]:
    """What is to be said of all figures."""
    said = []
    if not coverage.replies:
        said.append("there is nothing to count: the run has no replies")
    left = coverage.abstained + coverage.failed
    if left:
        said.append(
            f"without an outcome: {left} of {coverage.replies} replies ({coverage.abstained} left open by the judge, "
            f"{coverage.failed} could not be scored), counted neither as passed nor as failed"
        )
    if waived:
        said.append(f"waived by people, and not counted: {waived} violation{'s' if waived > 1 else ''}")
    if spread:
        said.append("several drafts for each case: intervals draw whole cases, as drafts of one case are alike")
    return said
