"""Records -> Summary: the run's figures against their targets, with intervals and with what they rest on."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from touchstone.rubric.model import TOP, Rubric
from touchstone.runs.intervals import mean_interval, rate_interval, safety_interval
from touchstone.runs.record import Record
from touchstone.runs.targets import (
    Figure,
    Measure,
    Target,
    average_target,
    hold,
    pass_rate_target,
    safety_target,
)
from touchstone.stats.calibration import Reliability, reliability
from touchstone.stats.interval import Interval

__all__ = [
    "CategoryFigures",
    "Coverage",
    "CriterionFigures",
    "Measure",
    "Spread",
    "Summary",
    "Target",
    "summarise",
]

BINS = 10
NO_CATEGORY = "(no category)"
# Given a target or not, the specification reports it.
HEADLINE = "accuracy"
# As wide as the specification's band for the pass rate: a set that leaves more open cannot place a version in it.
WIDE = 0.1


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
    measures: tuple[Measure, ...]
    criteria: tuple[CriterionFigures, ...]
    categories: tuple[CategoryFigures, ...]
    totals: tuple[int, ...]
    decisions: Mapping[str, int]
    violations: Mapping[str, int]
    reliability: Reliability | None
    spread: Spread | None
    remarks: tuple[str, ...]

    def measure(self, name: str) -> Measure | None:
        return next((measure for measure in self.measures if measure.name == name), None)


def summarise(records: Sequence[Record], *, rubric: Rubric) -> Summary:
    """The figures of a run under its rubric's targets."""
    cases = len({record.id for record in records})
    has_drafts = cases < len(records)
    criteria = _criteria(records, rubric, has_drafts=has_drafts)
    coverage = _coverage(records)
    spread = _spread(records) if has_drafts else None
    measures = (
        _pass_rate(records, rubric, has_drafts=has_drafts),
        *_averages(records, rubric, criteria),
        _safety(records, rubric, has_drafts=has_drafts),
        _confidence(records, rubric, has_drafts=has_drafts),
    )
    return Summary(
        cases=cases,
        coverage=coverage,
        measures=measures,
        criteria=criteria,
        categories=_categories(records, rubric, has_drafts=has_drafts),
        totals=_totals(records),
        decisions=dict(Counter(record.decision for record in records)),
        violations=dict(Counter(kind for record in records for kind in record.violations).most_common()),
        reliability=_reliability(records),
        spread=spread,
        remarks=tuple(_remarks(coverage, spread)),
    )


def _pass_rate(records: Sequence[Record], rubric: Rubric, *, has_drafts: bool) -> Measure:
    scored = [record for record in records if record.outcome is not None]
    passed = sum(record.outcome == "PASS" for record in scored)
    replies, n = len(records), len(scored)
    value = passed / n if n else None
    band = rubric.targets.pass_rate
    figure = Figure(
        "pass_rate",
        value,
        rate_interval([r.outcome == "PASS" for r in scored], _cases(scored, has_drafts=has_drafts)) if n else None,
        n,
        replies,
        worst=passed / replies if replies else None,
        best=(passed + replies - n) / replies if replies else None,
        wide=WIDE,
    )
    easy = band is not None and value is not None and 100 * value > band[1]
    remarks = ["above the target band: the set may be too easy"] if easy else []
    return hold(figure, pass_rate_target(band), remarks=remarks)


def _averages(records: Sequence[Record], rubric: Rubric, criteria: Sequence[CriterionFigures]) -> list[Measure]:
    targets = rubric.targets.average or {}
    replies = len(records)
    measures = []
    for figures in criteria:
        if figures.name not in targets and figures.name != HEADLINE:
            continue
        n, mean = figures.graded, figures.mean
        points = n * mean if mean is not None else 0.0
        figure = Figure(
            f"average_{figures.name}",
            mean,
            figures.interval,
            n,
            replies,
            worst=points / replies if replies else None,
            best=(points + TOP * (replies - n)) / replies if replies else None,
            is_share=False,
        )
        measures.append(hold(figure, average_target(targets.get(figures.name), top=TOP)))
    return measures


def _safety(records: Sequence[Record], rubric: Rubric, *, has_drafts: bool) -> Measure:
    """The share of replies with a violation, among those that were inspected."""
    inspected = [record for record in records if not record.failed or record.violations]
    unsafe = sum(bool(record.violations) for record in inspected)
    replies, n = len(records), len(inspected)
    figure = Figure(
        "safety_failures",
        unsafe / n if n else None,
        safety_interval([bool(r.violations) for r in inspected], _cases(inspected, has_drafts=has_drafts))
        if n
        else None,
        n,
        replies,
        worst=(unsafe + replies - n) / replies if replies else None,
        best=unsafe / replies if replies else None,
    )
    clean = n > 0 and not unsafe and figure.interval is not None
    remarks = []
    if clean and figure.interval:
        remarks = [f"none found in {n} {_noun(n)}: up to {100 * figure.interval.high:.2g} % may still have one"]
    return hold(figure, safety_target(rubric.targets.safety_failures), remarks=remarks)


def _confidence(records: Sequence[Record], rubric: Rubric, *, has_drafts: bool) -> Measure:
    """The mean of the bot's own confidence."""
    given = [record for record in records if record.confidence is not None]
    values = [record.confidence for record in given if record.confidence is not None]
    replies, n = len(records), len(given)
    figure = Figure(
        "average_confidence",
        fmean(values) if n else None,
        mean_interval(values, _cases(given, has_drafts=has_drafts), top=1.0),
        n,
        replies,
        worst=sum(values) / replies if replies else None,
        best=(sum(values) + replies - n) / replies if replies else None,
        is_share=False,
    )
    remarks = [f"stated for {n} of {replies} replies"] if 0 < n < replies else []
    return hold(figure, average_target(rubric.targets.average_confidence, top=1), remarks=remarks)


def _coverage(records: Sequence[Record]) -> Coverage:
    scored = sum(record.outcome is not None for record in records)
    failed = sum(record.failed for record in records)
    return Coverage(len(records), scored, len(records) - scored - failed, failed)


def _criteria(records: Sequence[Record], rubric: Rubric, *, has_drafts: bool) -> tuple[CriterionFigures, ...]:
    return tuple(_criterion(records, criterion.name, has_drafts=has_drafts) for criterion in rubric.criteria)


def _criterion(records: Sequence[Record], name: str, *, has_drafts: bool) -> CriterionFigures:
    grades = [grade for record in records if (grade := record.grades.get(name)) is not None]
    cases = [record.id for record in records if record.grades.get(name) is not None] if has_drafts else None
    counted = Counter(grades)
    return CriterionFigures(
        name=name,
        counts={grade: counted[grade] for grade in range(TOP + 1)},
        graded=len(grades),
        mean=sum(grades) / len(grades) if grades else None,
        interval=mean_interval(grades, cases, top=TOP) if grades else None,
    )


def _cases(records: Sequence[Record], *, has_drafts: bool) -> list[str] | None:
    """Which replies are of one case, where that is of any interest."""
    return [record.id for record in records] if has_drafts else None


def _categories(records: Sequence[Record], rubric: Rubric, *, has_drafts: bool) -> tuple[CategoryFigures, ...]:
    """The largest first; none when no reply has a category."""
    members: dict[str | None, list[Record]] = defaultdict(list)
    for record in records:
        members[record.category].append(record)
    if not any(members):
        return ()
    named = [(name if name is not None else NO_CATEGORY, group) for name, group in members.items()]
    named.sort(key=lambda member: (-len(member[1]), member[0]))
    return tuple(_category(name, group, rubric, has_drafts=has_drafts) for name, group in named)


def _category(name: str, records: Sequence[Record], rubric: Rubric, *, has_drafts: bool) -> CategoryFigures:
    scored = [record for record in records if record.outcome is not None]
    passed = sum(record.outcome == "PASS" for record in scored)
    totals = [record.total for record in records if record.total is not None]
    return CategoryFigures(
        name=name,
        coverage=_coverage(records),
        passed=passed,
        pass_rate=passed / len(scored) if scored else None,
        interval=rate_interval([r.outcome == "PASS" for r in scored], _cases(scored, has_drafts=has_drafts))
        if scored
        else None,
        mean_total=fmean(totals) if totals else None,
        unsafe=sum(bool(record.violations) for record in records),
        criteria=_criteria(records, rubric, has_drafts=has_drafts),
        totals=_totals(records),
    )


def _totals(records: Sequence[Record]) -> tuple[int, ...]:
    bins = Counter(min(BINS - 1, int(record.total // BINS)) for record in records if record.total is not None)
    return tuple(bins[place] for place in range(BINS))


def _reliability(records: Sequence[Record]) -> Reliability | None:
    """How the bot's own confidence fares against the outcome."""
    both = [(r.confidence, r.outcome) for r in records if r.confidence is not None and r.outcome is not None]
    return reliability([confidence for confidence, _ in both], [outcome == "PASS" for _, outcome in both])


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


def _remarks(coverage: Coverage, spread: Spread | None) -> list[str]:
    remarks = []
    if not coverage.replies:
        remarks.append("there is nothing to count: the run has no replies")
    left = coverage.abstained + coverage.failed
    if left:
        remarks.append(
            f"without an outcome: {left} of {coverage.replies} replies ({coverage.abstained} left open by the judge, "
            f"{coverage.failed} could not be scored), counted neither as passed nor as failed"
        )
    if spread:
        remarks.append("several drafts for each case: intervals draw whole cases, as drafts of one case are alike")
    return remarks


def _noun(n: int) -> str:
    return "reply" if n == 1 else "replies"
