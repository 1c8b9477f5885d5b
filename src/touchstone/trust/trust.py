"""Pairs of a judge's and people's grades -> how far the judge can be trusted, with the range the truth lies in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from touchstone.rubric.model import TOP, Rubric
from touchstone.stats.agreement import confusion, kappa_interval, weighted_kappa
from touchstone.stats.calibration import Reliability, reliability
from touchstone.stats.corrected import Corrected, corrected_rate
from touchstone.stats.interval import Interval, Proportion, proportion
from touchstone.stats.resampling import bootstrap_mean
from touchstone.trust.pairs import (
    AgreementFigures,
    Kappa,
    Pair,
    ViolationTrust,
    violation_trust,
)

LEVELS = TOP + 1
# Shares of replies that could go to people instead.
SENT = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
TOLD = 0.2
THIRDS = ("short replies", "middling replies", "long replies")


@dataclass(frozen=True, slots=True)
class CriterionTrust:
    """One criterion: kappa with squared weights, how often grades are equal or next to each other, and the lean.

    `lean` is the judge's mean grade less people's. `confusion` has a row for each grade by people.
    """

    name: str
    n: int
    left_open: int
    kappa: float | None
    interval: Interval | None
    equal: float | None
    within_one: float | None
    lean: float | None
    confusion: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class OutcomeTrust:
    """PASS or FAIL: agreement, kappa, and both kinds of error. `false_pass`: people FAIL what the judge passed."""

    n: int
    left_open: int
    agreement: float | None
    interval: Interval | None
    kappa: float | None
    kappa_interval: Interval | None
    false_pass: int
    false_fail: int


@dataclass(frozen=True, slots=True)
class GroupTrust:
    """Some of the replies: how often outcomes agree, and how far the judge's total lies from people's, in points."""

    name: str
    n: int
    agreement: float | None
    interval: Interval | None
    lean: float | None
    lean_interval: Interval | None


@dataclass(frozen=True, slots=True)
class SetTrust:
    """One of several gold sets, in short."""

    name: str
    figures: AgreementFigures


@dataclass(frozen=True, slots=True)
class CoveragePoint:
    """What agreement is left when a share of the replies, the least certain, goes to people."""

    sent: float
    kept: int
    agreement: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Trust:
    """All of it. `confidence` holds stated confidences of grades against whether they equal people's.

    `violations` begins with any; `sets` is empty unless there are several.
    """

    judge: str
    cases: int
    labelled: int
    outcome: OutcomeTrust
    criteria: tuple[CriterionTrust, ...]
    violations: tuple[ViolationTrust, ...]
    sets: tuple[SetTrust, ...]
    categories: tuple[GroupTrust, ...]
    lengths: tuple[GroupTrust, ...]
    confidence: Reliability | None
    coverage: tuple[CoveragePoint, ...]
    pass_rate: float | None
    people_pass_rate: float | None
    corrected: Corrected


def trust(pairs: Sequence[Pair], *, judge: str, rubric: Rubric) -> Trust:
    """What the pairs say of the judge. Replies without labels count only for the corrected pass rate."""
    labelled = [each for each in pairs if each.people_grades]
    by_people = [each for each in labelled if each.people_outcome is not None]
    return Trust(
        judge=judge,
        cases=len(pairs),
        labelled=len(labelled),
        outcome=_outcome(by_people),
        criteria=tuple(_criterion(criterion.name, labelled) for criterion in rubric.criteria),
        violations=violation_trust(labelled, rubric=rubric),
        sets=_by_set(labelled, rubric=rubric),
        categories=_by_category(by_people),
        lengths=_by_length(by_people),
        confidence=_confidence(labelled),
        coverage=coverage(by_people),
        pass_rate=_rate([each for each in pairs if each.outcome], lambda each: each.outcome == "PASS"),
        people_pass_rate=_rate(by_people, lambda each: each.people_outcome == "PASS"),
        corrected=_corrected(pairs),
    )


def in_short(pairs: Sequence[Pair], *, rubric: Rubric) -> AgreementFigures:
    """The few figures that are kept of a measurement and put beside those of other judges."""
    labelled = [each for each in pairs if each.people_grades]
    outcome = _outcome([each for each in labelled if each.people_outcome is not None])
    criteria = [_criterion(criterion.name, labelled) for criterion in rubric.criteria]
    violations = violation_trust(labelled, rubric=rubric)[0]
    return AgreementFigures(
        labelled=len(labelled),
        outcome=proportion(outcome.n - outcome.false_pass - outcome.false_fail, outcome.n),
        left_open=outcome.left_open,
        false_pass=outcome.false_pass,
        kappas={each.name: Kappa(each.kappa, each.interval) for each in criteria},
        precision=violations.precision,
        recall=violations.recall,
    )


def coverage(pairs: Sequence[Pair]) -> tuple[CoveragePoint, ...]:
    """Agreement on what is kept as more and more of the least certain replies go to people.

    A reply the judge left open is the least certain of all; while it is kept, it does not agree.
    """
    ordered = sorted(pairs, key=lambda each: (-each.certainty, each.id))
    points = []
    for sent in SENT:
        kept = ordered[: len(ordered) - round(sent * len(ordered))]
        agreed = _agreed(kept)
        if agreed.value is not None and agreed.interval is not None:
            points.append(CoveragePoint(sent, len(kept), agreed.value, agreed.interval))
    return tuple(points)


def coverage_sentence(points: Sequence[CoveragePoint]) -> str | None:
    """What sending a fifth to people does, in words; None when there is nothing to tell."""
    whole = next((point for point in points if point.sent == 0), None)
    less = next((point for point in points if point.sent == TOLD), None)
    if whole is None or less is None:
        return None
    before, after = f"{whole.agreement:.2f}", f"{less.agreement:.2f}"
    head = f"send the {TOLD:.0%} least certain to people".replace("%", " %")
    if before == after:
        return f"{head} and agreement on the rest stays at {after}: its confidence does not tell good grades from bad"
    if less.agreement < whole.agreement:
        return f"{head} and agreement on the rest falls from {before} to {after}: its confidence misleads"
    return f"{head} and agreement on the rest rises from {before} to {after}"


def _outcome(pairs: Sequence[Pair]) -> OutcomeTrust:
    both = [each for each in pairs if each.agrees is not None]
    people = [int(each.people_outcome == "PASS") for each in both]
    judge = [int(each.outcome == "PASS") for each in both]
    agreed = _agreed(both)
    return OutcomeTrust(
        n=len(both),
        left_open=len(pairs) - len(both),
        agreement=agreed.value,
        interval=agreed.interval,
        kappa=weighted_kappa(people, judge, levels=2, weights=None),
        kappa_interval=kappa_interval(people, judge, levels=2, weights=None),
        false_pass=sum(j > p for p, j in zip(people, judge, strict=True)),
        false_fail=sum(j < p for p, j in zip(people, judge, strict=True)),
    )


def _agreed(pairs: Sequence[Pair]) -> Proportion:
    """The share with the same outcome."""
    return proportion(sum(bool(each.agrees) for each in pairs), len(pairs))


def _criterion(name: str, pairs: Sequence[Pair]) -> CriterionTrust:
    asked = [each for each in pairs if name in each.people_grades]
    both = [(each.people_grades[name], each.grades[name]) for each in asked if name in each.grades]
    people, judge = [p for p, _ in both], [j for _, j in both]
    return CriterionTrust(
        name=name,
        n=len(both),
        left_open=len(asked) - len(both),
        kappa=weighted_kappa(people, judge, levels=LEVELS),
        interval=kappa_interval(people, judge, levels=LEVELS),
        equal=fmean(p == j for p, j in both) if both else None,
        within_one=fmean(abs(p - j) <= 1 for p, j in both) if both else None,
        lean=fmean(j - p for p, j in both) if both else None,
        confusion=confusion(people, judge, levels=LEVELS),
    )


def _by_set(pairs: Sequence[Pair], *, rubric: Rubric) -> tuple[SetTrust, ...]:
    """In the order in which they were named; none of one alone."""
    names = dict.fromkeys(each.goldset for each in pairs)
    if len(names) < 2:
        return ()
    return tuple(
        SetTrust(name, in_short([each for each in pairs if each.goldset == name], rubric=rubric)) for name in names
    )


def _by_category(pairs: Sequence[Pair]) -> tuple[GroupTrust, ...]:
    names = sorted({each.category for each in pairs if each.category})
    return tuple(_group(name, [each for each in pairs if each.category == name]) for name in names)


def _by_length(pairs: Sequence[Pair]) -> tuple[GroupTrust, ...]:
    """Thirds by the words of the reply; none for fewer than three."""
    ordered = sorted(pairs, key=lambda each: (each.words, each.id))
    third = len(ordered) / len(THIRDS)
    if third < 1:
        return ()
    cuts = [round(at * third) for at in range(len(THIRDS) + 1)]
    parts = [ordered[start:end] for start, end in pairwise(cuts)]
    return tuple(
        _group(f"{name}, {part[0].words} to {part[-1].words} words", part)
        for name, part in zip(THIRDS, parts, strict=True)
    )


def _group(name: str, pairs: Sequence[Pair]) -> GroupTrust:
    both = [each for each in pairs if each.agrees is not None]
    agreed = _agreed(both)
    totals = [(each.total, each.people_total) for each in pairs]
    leans = [ours - theirs for ours, theirs in totals if ours is not None and theirs is not None]
    return GroupTrust(
        name=name,
        n=len(both),
        agreement=agreed.value,
        interval=agreed.interval,
        lean=fmean(leans) if leans else None,
        lean_interval=bootstrap_mean(leans, bounds=(-100.0, 100.0)),
    )


def _confidence(pairs: Sequence[Pair]) -> Reliability | None:
    """Every graded criterion of every reply: the confidence stated, and whether the grade is people's."""
    stated = [
        (each.confidences[name], grade == each.people_grades[name])
        for each in pairs
        for name, grade in each.grades.items()
        if name in each.people_grades and name in each.confidences
    ]
    return reliability([confidence for confidence, _ in stated], [equal for _, equal in stated])


def _corrected(pairs: Sequence[Pair]) -> Corrected:
    """The pass rate of all replies that the judge ruled on; the labelled ones are taken for a random part of them."""
    ruled = [each for each in pairs if each.outcome is not None]
    reviewed = {at: each.people_outcome == "PASS" for at, each in enumerate(ruled) if each.people_outcome is not None}
    chance = len(reviewed) / len(ruled) if ruled else 0.0
    return corrected_rate([each.outcome == "PASS" for each in ruled], reviewed, dict.fromkeys(reviewed, chance))


def _rate(pairs: Sequence[Pair], passes: Callable[[Pair], bool]) -> float | None:
    return fmean(passes(each) for each in pairs) if pairs else None
