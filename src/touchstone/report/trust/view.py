"""Trust, or figures of several judges -> what the judge card and the terminal show, with figures as words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from touchstone.report.figures import NONE, change, change_interval, count, figure, interval, sentence, words
from touchstone.report.plain import one_line
from touchstone.stats.interval import Proportion
from touchstone.trust.measurement import JudgeTable
from touchstone.trust.pairs import AgreementFigures, Kappa, ViolationTrust
from touchstone.trust.trust import CriterionTrust, GroupTrust, Trust, coverage_sentence

# Landis and Koch (1977) call kappa up to 0.20 slight, 0.40 fair, 0.60 moderate, 0.80 substantial. Their names are soft,
# so only the ends are named here: below the first a judge is no help, from the last on it can stand in for a person.
NO_HELP, STANDS_IN = 0.4, 0.8
FEW = 30
MANY_GROUPS = 10


@dataclass(frozen=True, slots=True)
class FiguresCell:
    """A figure, and the range or the counts it stands for."""

    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class FiguresLine:
    """One judge or set: how many replies, how often the outcome is people's, kappa by criterion, violations, errors."""

    name: str
    replies: str
    outcome: FiguresCell
    kappas: tuple[FiguresCell, ...]
    precision: FiguresCell
    recall: FiguresCell
    false_pass: str
    left_open: str


@dataclass(frozen=True, slots=True)
class FiguresTable:
    """The lines under one head; `first` says what a line is about, `criteria` what the kappas are of."""

    first: str
    criteria: tuple[str, ...]
    lines: tuple[FiguresLine, ...]


@dataclass(frozen=True, slots=True)
class JudgeTableView:
    """Several judges side by side, in words; `judges` is what JSON is made from."""

    goldset: str
    sentence: str
    table: FiguresTable
    remarks: tuple[str, ...]
    judges: JudgeTable


def figures_table(first: str, rows: Mapping[str, AgreementFigures]) -> FiguresTable:
    """The table of figures by the name of their line."""
    criteria = tuple(dict.fromkeys(name for figures in rows.values() for name in figures.kappas))
    lines = (_line(name, figures, criteria=criteria) for name, figures in rows.items())
    return FiguresTable(first, tuple(map(words, criteria)), tuple(lines))


def view_judges(judges: JudgeTable, *, goldset: str, remarks: Sequence[str] = ()) -> JudgeTableView:
    """The view of several judges on the replies that all of them graded."""
    compared = f"{judges.common:,} of {count(judges.labelled, 'labelled reply', 'labelled replies')}"
    unequal = [f"{one_line(row.judge)} graded {row.graded:,}" for row in judges.rows if row.graded > judges.common]
    more = f"; {', '.join(unequal)}, the rest is left out here" if unequal else ""
    return JudgeTableView(
        goldset=one_line(goldset),
        sentence=f"Compared on {compared}, those that every judge graded{more}.",
        table=figures_table("judge", {row.judge: row.figures for row in judges.rows}),
        remarks=tuple(remarks),
        judges=judges,
    )


def _line(name: str, figures: AgreementFigures, *, criteria: Sequence[str]) -> FiguresLine:
    return FiguresLine(
        name=one_line(name),
        replies=f"{figures.labelled:,}",
        outcome=FiguresCell(figure(figures.outcome.value, "share"), interval(figures.outcome.interval, "share")),
        kappas=tuple(_kappa(figures.kappas.get(criterion)) for criterion in criteria),
        precision=_share(figures.precision),
        recall=_share(figures.recall),
        false_pass=NONE if figures.false_pass is None else f"{figures.false_pass:,}",
        left_open=f"{figures.left_open:,}",
    )


def _kappa(found: Kappa | None) -> FiguresCell:
    return (
        FiguresCell(NONE)
        if found is None
        else FiguresCell(figure(found.value, "unit"), interval(found.interval, "unit"))
    )


def _share(found: Proportion | None) -> FiguresCell:
    if found is None:
        return FiguresCell(NONE)
    return FiguresCell(figure(found.value, "share"), f"{found.hits:,} of {found.of:,}")


@dataclass(frozen=True, slots=True)
class TrustLine:
    """One criterion in words; `kappa` and its interval as numbers for the drawing are in `found`."""

    name: str
    kappa: str
    interval: str
    equal: str
    within_one: str
    lean: str
    n: int
    left_open: int
    found: CriterionTrust


@dataclass(frozen=True, slots=True)
class ViolationLine:
    """Violations of one kind, or of any, in words; counts stand with the shares."""

    name: str
    precision: str
    precision_interval: str
    recall: str
    recall_interval: str
    n: int
    left_open: int


@dataclass(frozen=True, slots=True)
class GroupLine:
    """Some of the replies in words."""

    name: str
    n: int
    agreement: str
    interval: str
    lean: str
    lean_interval: str
    found: GroupTrust


@dataclass(frozen=True, slots=True)
class NamedLine:
    """A name and what is to be said of it."""

    name: str
    value: str
    note: str


@dataclass(frozen=True, slots=True)
class TrustView:
    """A judge held against people, in words; `trust` is what drawings are made from."""

    title: str
    goldset: str
    standing: str
    sentence: str
    coverage_sentence: str
    headline: tuple[NamedLine, ...]
    criteria: tuple[TrustLine, ...]
    violations: tuple[ViolationLine, ...]
    sets: FiguresTable | None
    categories: tuple[GroupLine, ...]
    lengths: tuple[GroupLine, ...]
    remarks: tuple[str, ...]
    trust: Trust


def view_trust(trust: Trust, *, goldset: str, remarks: Sequence[str] = ()) -> TrustView:
    """The view of one judge on one gold set."""
    told = coverage_sentence(trust.coverage)
    return TrustView(
        title=one_line(trust.judge),
        goldset=one_line(goldset),
        standing=_standing(trust),
        sentence=_sentence(trust),
        coverage_sentence=sentence(told) if told else "",
        headline=_headline(trust),
        criteria=tuple(_criterion(each) for each in trust.criteria),
        violations=tuple(_violations(each) for each in trust.violations),
        sets=figures_table("gold set", {each.name: each.figures for each in trust.sets}) if trust.sets else None,
        categories=tuple(_group(each) for each in trust.categories),
        lengths=tuple(_group(each) for each in trust.lengths),
        remarks=(*map(sentence, remarks), *_remarks(trust)),
        trust=trust,
    )


def _standing(trust: Trust) -> str:
    kappa = trust.outcome.kappa
    if kappa is None or trust.outcome.n < FEW:
        return "too little to say"
    if kappa < NO_HELP:
        return "not to be trusted"
    return "agrees with people" if kappa >= STANDS_IN else "agrees in part"


def _sentence(trust: Trust) -> str:
    outcome = trust.outcome
    if outcome.agreement is None:
        return "No reply has both an outcome by the judge and one by people."
    wrong = f"{outcome.false_pass} passed that people fail, {outcome.false_fail} failed that people pass"
    return (
        f"Judge and people come to the same outcome for {figure(outcome.agreement, 'share')} of "
        f"{count(outcome.n, 'reply', 'replies')} ({interval(outcome.interval, 'share')}); {wrong}."
    )


def _headline(trust: Trust) -> tuple[NamedLine, ...]:
    outcome, corrected = trust.outcome, trust.corrected
    return (
        NamedLine("same outcome", figure(outcome.agreement, "share"), interval(outcome.interval, "share")),
        NamedLine("kappa of the outcome", figure(outcome.kappa, "unit"), interval(outcome.kappa_interval, "unit")),
        NamedLine("pass rate by the judge", figure(trust.pass_rate, "share"), count(trust.cases, "reply", "replies")),
        NamedLine("pass rate by people", figure(trust.people_pass_rate, "share"), f"{trust.labelled:,} labelled"),
        NamedLine("corrected pass rate", figure(corrected.rate, "share"), interval(corrected.interval, "share")),
        NamedLine("left open by the judge", f"{outcome.left_open:,}", "without an outcome, so they agree with nobody"),
    )


def _criterion(found: CriterionTrust) -> TrustLine:
    return TrustLine(
        name=words(found.name),
        kappa=figure(found.kappa, "unit"),
        interval=interval(found.interval, "unit") or NONE,
        equal=figure(found.equal, "share"),
        within_one=figure(found.within_one, "share"),
        lean=change(found.lean, "grade"),
        n=found.n,
        left_open=found.left_open,
        found=found,
    )


def _violations(found: ViolationTrust) -> ViolationLine:
    def share(each: Proportion) -> str:
        return f"{figure(each.value, 'share')} ({each.hits:,}/{each.of:,})"

    return ViolationLine(
        name=words(found.name),
        precision=share(found.precision),
        precision_interval=interval(found.precision.interval, "share") or NONE,
        recall=share(found.recall),
        recall_interval=interval(found.recall.interval, "share") or NONE,
        n=found.n,
        left_open=found.left_open,
    )


def _group(found: GroupTrust) -> GroupLine:
    return GroupLine(
        name=words(found.name),
        n=found.n,
        agreement=figure(found.agreement, "share"),
        interval=interval(found.interval, "share") or NONE,
        lean=change(found.lean, "points"),
        lean_interval=change_interval(found.lean_interval, "points") or NONE,
        found=found,
    )


def _remarks(trust: Trust) -> tuple[str, ...]:
    remarks = []
    if trust.outcome.n < FEW:
        remarks.append(
            f"{count(trust.outcome.n, 'reply', 'replies')} with both outcomes are few: label at least {FEW}."
        )
    groups = (*trust.categories, *trust.lengths)
    biased = [each for each in groups if (ends := each.lean_interval) and (ends.low > 0 or ends.high < 0)]
    for group in biased:
        way = "too kind" if (group.lean or 0) > 0 else "too strict"
        remarks.append(f"The judge is {way} on {words(group.name)}: {change(group.lean, 'points')} points.")
    if biased and len(groups) > MANY_GROUPS:
        remarks.append(f"With {len(groups)} groups, one in twenty stands out by chance.")
    found = trust.confidence
    if found is not None and found.mean_confidence - found.accuracy > 0.1:
        remarks.append(
            f"The judge is surer than it should be: it states {found.mean_confidence:.2f} and is right "
            f"{found.accuracy:.2f} of the time."
        )
    return tuple(remarks)
