"""Trust -> TrustView: what the judge card and the terminal show, with figures as words."""

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.report.figures import NONE, change, change_interval, count, figure, interval, sentence, words
from touchstone.report.plain import one_line
from touchstone.report.trust.table import FiguresTable, figures_table
from touchstone.runs.trust.figures import Proportion, ViolationTrust
from touchstone.runs.trust.trust import CriterionTrust, GroupTrust, Trust, coverage_sentence

# Landis and Koch (1977) call kappa up to 0.20 slight, 0.40 fair, 0.60 moderate, 0.80 substantial. Their names are soft,
# so only the ends are named here: below the first a judge is no help, from the last on it can stand in for a person.
NO_HELP, STANDS_IN = 0.4, 0.8
FEW = 30
MANY_GROUPS = 10


@dataclass(frozen=True, slots=True)
class CriterionLine:
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
class Line:
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
    headline: tuple[Line, ...]
    criteria: tuple[CriterionLine, ...]
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


def _headline(trust: Trust) -> tuple[Line, ...]:
    outcome, corrected = trust.outcome, trust.corrected
    return (
        Line("same outcome", figure(outcome.agreement, "share"), interval(outcome.interval, "share")),
        Line("kappa of the outcome", figure(outcome.kappa, "unit"), interval(outcome.kappa_interval, "unit")),
        Line("pass rate by the judge", figure(trust.pass_rate, "share"), count(trust.cases, "reply", "replies")),
        Line("pass rate by people", figure(trust.people_pass_rate, "share"), f"{trust.labelled:,} labelled"),
        Line("corrected pass rate", figure(corrected.rate, "share"), interval(corrected.interval, "share")),
        Line("left open by the judge", f"{outcome.left_open:,}", "without an outcome, so they agree with nobody"),
    )


def _criterion(found: CriterionTrust) -> CriterionLine:
    return CriterionLine(
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
