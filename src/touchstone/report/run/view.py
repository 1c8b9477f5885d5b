"""Run, Summary, Patterns, Gate and examples -> RunView: what every form of the report shows, with figures as words."""

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.core.case import Case
from touchstone.core.result import Result
from touchstone.report.figures import (
    NONE,
    Scale,
    count,
    figure,
    interval,
    level,
    moment,
    points,
    probability,
    scale_of,
    seconds,
    sentence,
    words,
)
from touchstone.report.plain import one_line
from touchstone.report.run.replies import ExampleView, Places, ReplyRow, example_view, lowest_first, rows_of
from touchstone.report.trust.standing import JudgeView, view_standing
from touchstone.runs.gate import Check, GateRuling
from touchstone.runs.patterns import Concentration, Pattern
from touchstone.runs.record import Record
from touchstone.runs.run import Run
from touchstone.runs.summary import CategoryFigures, Coverage, CriterionFigures, Summary
from touchstone.runs.targets import Headline
from touchstone.stats.interval import Interval
from touchstone.trust.measurement import JudgeStanding

# What a browser still filters and sorts in a moment, and what keeps the page a few megabytes at most.
MOST_ROWS = 2_000
ALL_ROWS_FILE = "results.jsonl"
_RECEIPT = {
    "goldset": "gold set",
    "data": "data hash",
    "rubric": "rubric",
    "rubric_version": "rubric version",
    "rubric_hash": "rubric hash",
    "plan": "plan hash",
    "policy": "policy hash",
    "judge": "judge",
    "code": "Touchstone",
    "parser": "parser",
    "verifier": "verifier",
    "responses": "replies from",
    "bot": "bot",
    "repeat": "drafts per case",
}


@dataclass(frozen=True, slots=True)
class Field:
    """A name and its value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class GateLine:
    """One condition of the gate in words."""

    name: str
    standing: str
    reason: str


@dataclass(frozen=True, slots=True)
class GateView:
    """The release gate: open, closed or undecided, and its conditions."""

    standing: str
    sentence: str
    checks: tuple[GateLine, ...]


@dataclass(frozen=True, slots=True)
class MeasureView:
    """A headline figure in words; `measure` and `scale` are what its chart is drawn from.

    `bounds` are what it would be if all replies without one were as bad, and as good, as can be.
    """

    name: str
    value: str
    level: str
    interval: str
    method: str
    target: str
    standing: str
    basis: str
    bounds: str
    remark: str
    scale: Scale
    measure: Headline


@dataclass(frozen=True, slots=True)
class CriterionView:
    """One criterion: counts of the grades 0 to 4, and the mean in words."""

    name: str
    counts: tuple[int, ...]
    graded: int
    mean: str
    interval: str


@dataclass(frozen=True, slots=True)
class CategoryView:
    """One category in words; `figures` is what its charts are drawn from."""

    name: str
    coverage: str
    passed: str
    pass_rate: str
    interval: str
    mean_total: str
    unsafe: int
    criteria: tuple[CriterionView, ...]
    figures: CategoryFigures


@dataclass(frozen=True, slots=True)
class PatternExample:
    """A reply that shows a pattern, with its row in the table if it has one."""

    id: str
    detail: str
    row: int | None


@dataclass(frozen=True, slots=True)
class PatternView:
    """One pattern in words: how often, whose it is, and examples.

    `concentrations` are the categories that have more of it than chance would give, `leanings` the others with more.
    """

    name: str
    count: int
    share: str
    owner: str
    others: str
    concentrations: tuple[str, ...]
    leanings: tuple[str, ...]
    examples: tuple[PatternExample, ...]


@dataclass(frozen=True, slots=True)
class RunView:
    """Everything the report shows; every text in it is safe to show. `table` is what of `rows` fits a page."""

    run: Run
    summary: Summary
    patterns: tuple[Pattern, ...]
    gate: GateRuling | None
    id: str
    title: str
    labels: tuple[Field, ...]
    facts: tuple[Field, ...]
    unfinished: bool
    standing: str
    verdict: GateView | None
    judge: JudgeView
    measures: tuple[MeasureView, ...]
    coverage: str
    decisions: tuple[Field, ...]
    remarks: tuple[str, ...]
    criteria: tuple[CriterionView, ...]
    categories: tuple[CategoryView, ...]
    pattern_lines: tuple[PatternView, ...]
    reliability: tuple[Field, ...]
    spread: str
    unsteady: tuple[str, ...]
    best: tuple[ExampleView, ...]
    worst: tuple[ExampleView, ...]
    rows: tuple[ReplyRow, ...]
    table: tuple[ReplyRow, ...]
    receipt: tuple[Field, ...]


def run_view(
    run: Run,
    summary: Summary,
    patterns: Sequence[Pattern],
    records: Sequence[Record],
    *,
    gate: GateRuling | None,
    judge: JudgeStanding,
    best: Sequence[tuple[Case, Result]],
    worst: Sequence[tuple[Case, Result]],
) -> RunView:
    """The view of a run."""
    rows = rows_of(records, criteria=[criterion.name for criterion in summary.criteria])
    table = lowest_first(rows, records, most=MOST_ROWS)
    places = Places(records, shown=(row.number for row in table))
    measures = tuple(_measure(measure, summary.coverage) for measure in summary.measures)
    return RunView(
        run=run,
        summary=summary,
        patterns=tuple(patterns),
        gate=gate,
        id=one_line(run.id),
        title=one_line(run.receipt.goldset),
        labels=tuple(Field(one_line(name), one_line(value)) for name, value in run.labels.items()),
        facts=_facts(run, summary),
        unfinished=run.finished is None,
        standing=_standing(measures),
        verdict=_gate(gate) if gate else None,
        judge=view_standing(judge),
        measures=measures,
        coverage=_coverage(summary.coverage),
        decisions=_decisions(summary),
        remarks=tuple(map(sentence, summary.remarks)),
        criteria=tuple(map(_criterion, summary.criteria)),
        categories=tuple(map(_category, summary.categories)),
        pattern_lines=tuple(_pattern(pattern, places) for pattern in patterns),
        reliability=_reliability(summary),
        spread=_spread(summary),
        unsteady=tuple(map(one_line, summary.spread.unsteady)) if summary.spread else (),
        best=tuple(example_view(case, result, places=places) for case, result in best),
        worst=tuple(example_view(case, result, places=places) for case, result in worst),
        rows=rows,
        table=table,
        receipt=_receipt(run),
    )


def _facts(run: Run, summary: Summary) -> tuple[Field, ...]:
    receipt = run.receipt
    return (
        Field("run", one_line(run.id)),
        Field("started", moment(run.started)),
        Field("took", seconds(run.seconds) if run.finished else "not finished"),
        Field("cases", f"{summary.cases:,}"),
        Field("rubric", one_line(f"{receipt.rubric} {receipt.rubric_version}")),
        Field("judge", one_line(receipt.judge)),
    )


def _standing(measures: Sequence[MeasureView]) -> str:
    """How many targets are met, and which are not."""
    with_target = [measure for measure in measures if measure.measure.target is not None]
    if not with_target:
        return "No targets are set."
    missed = [measure.name for measure in with_target if measure.measure.met is not True]
    if not missed:
        return f"All {len(with_target)} targets are met." if len(with_target) > 1 else "The target is met."
    return f"{len(with_target) - len(missed)} of {count(len(with_target), 'target')} met; missed: {', '.join(missed)}."


def _gate(gate: GateRuling) -> GateView:
    def standing(check: Check) -> str:
        return "met" if check.met else "undecided" if check.undecided else "not met"

    checks = tuple(GateLine(words(check.name), standing(check), one_line(check.reason)) for check in gate.checks)
    unmet = sum(check.standing == "not met" for check in checks)
    if gate.is_open:
        return GateView("open", f"Every condition is met ({len(checks)} of {len(checks)}).", checks)
    if not checks:
        return GateView("closed", "No condition could be held, so nothing shows that this version is good enough.", ())
    if gate.standing == "undecided":
        said = "Too little was scored to say whether this version is good enough; below is what would decide it."
        return GateView("undecided", said, checks)
    left = sum(check.standing == "undecided" for check in checks)
    more = f", {left} undecided" if left else ""
    return GateView("closed", f"{unmet} of {count(len(checks), 'condition')} not met{more}.", checks)


def _measure(measure: Headline, coverage: Coverage) -> MeasureView:
    scale = scale_of(measure.name)
    standing = {None: "no target", True: "met", False: "missed"}[measure.met if measure.target else None]
    return MeasureView(
        name=words(measure.name),
        value=figure(measure.value, scale, target=measure.target),
        interval=interval(measure.interval, scale),
        level=level(measure.interval),
        method=one_line(measure.interval.method) if measure.interval else NONE,
        target=one_line(measure.target.text) if measure.target else NONE,
        standing=standing,
        basis=count(measure.n, "reply", "replies"),
        bounds=_bounds(measure, coverage),
        remark=one_line(measure.remark),
        scale=scale,
        measure=measure,
    )


def _bounds(measure: Headline, coverage: Coverage) -> str:
    """Both ends in order, of the figures that the judge's silence leaves open; the bot's confidence is none of them."""
    if measure.name == "average_confidence" or measure.worst is None or measure.best is None:
        return ""
    if measure.n == coverage.replies:
        return ""
    low, high = sorted((measure.worst, measure.best))
    return interval(Interval(low, high, "bounds"), scale_of(measure.name))


def bounds_sentences(view: RunView) -> list[str]:
    """What the replies without an outcome or grade leave open, in words."""
    return [
        f"{line.name}: {line.bounds} if all that are left open fail or all pass".capitalize() + "."
        for line in view.measures
        if line.bounds
    ]


def _coverage(coverage: Coverage) -> str:
    def of_all(number: int) -> str:
        return f"{number:,} ({figure(number / coverage.replies, 'share')})"

    parts = [f"{coverage.scored:,} of {count(coverage.replies, 'reply', 'replies')} scored"]
    parts += [f"{of_all(coverage.abstained)} left open by the judge"] if coverage.abstained else []
    parts += [f"{of_all(coverage.failed)} could not be scored"] if coverage.failed else []
    return ", ".join(parts)


def _decisions(summary: Summary) -> tuple[Field, ...]:
    """How many are sent, reviewed and blocked, and which share that is."""
    replies = summary.coverage.replies
    counts = {name: summary.decisions.get(name, 0) for name in ("send", "review", "block")}
    return tuple(
        Field(name, f"{number:,} ({figure(number / replies, 'share')})" if replies else "0")
        for name, number in counts.items()
    )


def _criterion(figures: CriterionFigures) -> CriterionView:
    return CriterionView(
        name=words(figures.name),
        counts=tuple(figures.counts.get(grade, 0) for grade in range(5)),
        graded=figures.graded,
        mean=figure(figures.mean, "grade"),
        interval=interval(figures.interval, "grade"),
    )


def _category(figures: CategoryFigures) -> CategoryView:
    return CategoryView(
        name=one_line(figures.name),
        coverage=f"{figures.coverage.scored:,}/{figures.coverage.replies:,}",
        passed=f"{figures.passed:,}",
        pass_rate=figure(figures.pass_rate, "share"),
        interval=interval(figures.interval, "share"),
        mean_total=NONE if figures.mean_total is None else f"{figures.mean_total:.1f}",
        unsafe=figures.unsafe,
        criteria=tuple(map(_criterion, figures.criteria)),
        figures=figures,
    )


def _pattern(pattern: Pattern, places: Places) -> PatternView:
    others = ", ".join(f"{owner} {number:,}" for owner, number in pattern.owners if owner != pattern.owner)
    return PatternView(
        name=words(pattern.name),
        count=pattern.count,
        share=figure(pattern.share, "share"),
        owner=pattern.owner,
        others=others,
        concentrations=tuple(_concentration(each) for each in pattern.concentrations if each.significant),
        leanings=tuple(_concentration(each) for each in pattern.concentrations if not each.significant),
        examples=tuple(
            PatternExample(one_line(id), one_line(detail), places.tagged(id, pattern.name))
            for id, detail in pattern.examples
        ),
    )


def _concentration(found: Concentration) -> str:
    lift = "nowhere else" if found.lift is None else f"{found.lift:.1f} times as often as elsewhere"
    return (
        f"{one_line(found.category)}: {found.count:,} of {found.replies:,}, {lift} ({probability(found.q, letter='q')})"
    )


def _reliability(summary: Summary) -> tuple[Field, ...]:
    found = summary.reliability
    if found is None:
        return ()
    return (
        Field("expected calibration error", figure(found.ece, "unit")),
        Field("Brier score", figure(found.brier, "unit")),
        Field("mean confidence", figure(found.mean_confidence, "unit")),
        Field("share that passed", figure(found.accuracy, "unit")),
        Field("replies", f"{found.n:,}"),
    )


def _spread(summary: Summary) -> str:
    spread = summary.spread
    if spread is None:
        return ""
    return (
        f"{count(spread.drafts, 'draft')} of {count(spread.cases, 'case')}: two drafts of a case have the same outcome "
        f"with probability {figure(spread.agreement, 'share')}; the total deviates by {points(spread.mean_deviation)} "
        f"points on average; {count(len(spread.unsteady), 'case')} sometimes pass and sometimes fail."
    )


def _receipt(run: Run) -> tuple[Field, ...]:
    receipt = run.receipt
    known = [(label, getattr(receipt, name)) for name, label in _RECEIPT.items()]
    times = [("started", run.started), ("finished", run.finished or "not finished"), ("took", seconds(run.seconds))]
    redacted = [("personal data", "taken out before storing")] if receipt.redacted else []
    given = [*(("label " + name, value) for name, value in run.labels.items()), *known, *redacted, *times]
    fields = [Field("run", one_line(run.id))]
    return (*fields, *(Field(one_line(name), one_line(str(value))) for name, value in given if value is not None))
