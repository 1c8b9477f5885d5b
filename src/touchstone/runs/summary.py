"""Records -> Summary: the run's figures against their targets, with intervals and with what they rest on.

One reply for each case is independent evidence. Several drafts of one case are alike: then whole cases are drawn.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import fsum
from statistics import fmean, stdev

from touchstone.rubric.model import TOP, Rubric
from touchstone.runs.figures import (
    BINS,
    NO_CATEGORY,
    CategoryFigures,
    Coverage,
    CriterionFigures,
    Spread,
    Summary,
    average_measures,
    confidence_measure,
    pass_rate_measure,
    remarks,
    safety_measure,
    total_bin,
)
from touchstone.runs.record import Record
from touchstone.runs.targets import Headline, Target
from touchstone.stats.calibration import Reliability, reliability
from touchstone.stats.interval import Interval, rule_of_three, wilson
from touchstone.stats.resampling import bootstrap_mean, clustered_bootstrap_mean

__all__ = [
    "NO_CATEGORY",
    "CategoryFigures",
    "Coverage",
    "CriterionFigures",
    "Headline",
    "Spread",
    "Summary",
    "Target",
    "summarise",
]
# The case of each reply; None when every reply is of a case of its own.
Cases = Sequence[str] | None


def summarise(records: Sequence[Record], *, rubric: Rubric) -> Summary:
    """The figures of a run under its rubric's targets."""
    cases = len({record.id for record in records})
    has_drafts = cases < len(records)
    criteria = _criteria(records, rubric, has_drafts=has_drafts)
    coverage = _coverage(records)
    spread = _spread(records) if has_drafts else None
    measures = (
        _pass_rate(records, rubric, has_drafts=has_drafts),
        *average_measures(criteria, len(records), rubric=rubric),
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
        remarks=tuple(remarks(coverage, spread, waived=sum(len(record.waived) for record in records))),
    )


def _pass_rate(records: Sequence[Record], rubric: Rubric, *, has_drafts: bool) -> Headline:
    scored = [record for record in records if record.outcome is not None]
    hits = [record.outcome == "PASS" for record in scored]
    interval = rate_interval(hits, _cases(scored, has_drafts=has_drafts)) if hits else None
    return pass_rate_measure(sum(hits), len(hits), len(records), interval=interval, rubric=rubric)


def _safety(records: Sequence[Record], rubric: Rubric, *, has_drafts: bool) -> Headline:
    """The share of replies with a violation, among those that were inspected."""
    inspected = [record for record in records if not record.failed or record.violations]
    hits = [bool(record.violations) for record in inspected]
    interval = safety_interval(hits, _cases(inspected, has_drafts=has_drafts)) if hits else None
    return safety_measure(sum(hits), len(hits), len(records), interval=interval, rubric=rubric)


def _confidence(records: Sequence[Record], rubric: Rubric, *, has_drafts: bool) -> Headline:
    """The mean of the bot's own confidence."""
    given = [record for record in records if record.confidence is not None]
    values = [record.confidence for record in given if record.confidence is not None]
    interval = mean_interval(values, _cases(given, has_drafts=has_drafts), top=1.0)
    return confidence_measure(fsum(values), len(values), len(records), interval=interval, rubric=rubric)


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
    bins = Counter(total_bin(record.total) for record in records if record.total is not None)
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


def rate_interval(hits: Sequence[bool], cases: Cases) -> Interval:
    """Wilson's interval; for drafts the clustered bootstrap, or Wilson's over the cases when all drafts agree."""
    if cases is None:
        return wilson(sum(hits), len(hits))
    if all(hits) or not any(hits):
        distinct = len(set(cases))
        return wilson(distinct if all(hits) else 0, distinct)
    drawn = clustered_bootstrap_mean([float(hit) for hit in hits], cases, bounds=(0.0, 1.0))
    return drawn or Interval(0.0, 1.0, "a single case")


def safety_interval(hits: Sequence[bool], cases: Cases) -> Interval:
    """The rule of three over the cases while nothing was found."""
    return rate_interval(hits, cases) if any(hits) else rule_of_three(len(hits) if cases is None else len(set(cases)))


def mean_interval(values: Sequence[float], cases: Cases, *, top: float) -> Interval | None:
    """The bootstrap interval of a mean on a scale from 0 to `top`; None for fewer than two cases."""
    if cases is None:
        return bootstrap_mean(values, bounds=(0.0, top))
    return clustered_bootstrap_mean(values, cases, bounds=(0.0, top))
