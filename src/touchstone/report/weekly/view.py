"""WeeklyReport -> what is shown of it: words and figures in the order they are read, the same in every format."""

from dataclasses import dataclass

from touchstone.report.figures import NONE, change, change_interval, count, figure, interval, moment, words
from touchstone.report.plain import one_line
from touchstone.review.agreement import Agreement, CriterionAgreement
from touchstone.review.weekly import ActionLine, PatternLine, WeeklyReport
from touchstone.stats.corrected import Corrected


@dataclass(frozen=True, slots=True)
class RateView:
    """A corrected rate: its name, what the judge alone says, the figure for all replies, and how it was found."""

    name: str
    corrected: Corrected
    judged: str
    value: str
    interval: str
    estimator: str
    sentence: str


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """Agreement on one criterion, as shown."""

    name: str
    n: int
    exact: str
    within_one: str
    kappa: str
    interval: str
    alpha: str


@dataclass(frozen=True, slots=True)
class AgreementView:
    """Who is compared, and one row for each criterion and the outcome; a note where nothing could be compared."""

    title: str
    rows: tuple[AgreementRow, ...]
    note: str


@dataclass(frozen=True, slots=True)
class ActionView:
    """An action and what became of its pattern."""

    text: str
    state: str
    by: str
    made: str
    effect: str


@dataclass(frozen=True, slots=True)
class PatternView:
    """A pattern, who could cure it and what is done."""

    name: str
    owner: str
    count: int
    share: float
    shown_share: str
    is_new: bool
    actions: tuple[ActionView, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and its value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class WeeklyView:
    """Everything a weekly report shows."""

    report: WeeklyReport
    title: str
    facts: tuple[Fact, ...]
    rates: tuple[RateView, ...]
    remarks: tuple[str, ...]
    agreement: tuple[AgreementView, ...]
    patterns: tuple[PatternView, ...]
    reminders: tuple[str, ...]


def weekly_view(report: WeeklyReport) -> WeeklyView:
    """The report in words."""
    queue, found = report.queue, report.progress
    people = "two people" if queue.needed == 2 else "one person"
    facts = (
        Fact("replies", f"{queue.population:,} in run {one_line(queue.run)}"),
        Fact("sample", f"{count(found.items, 'reply', 'replies')}, each graded by {people}"),
        Fact("drawn", f"by category, risky replies {queue.oversampling:g} times as often, seed {queue.seed}"),
        Fact("finished", f"{found.finished} of {found.items}"),
        Fact("made", moment(report.made)),
    )
    return WeeklyView(
        report=report,
        title=one_line(queue.name),
        facts=facts,
        rates=(
            _rate("pass rate", report.corrected, judged=report.judged_rate, what="pass"),
            _rate("replies with a violation", report.unsafe, judged=report.judged_unsafe, what="have a violation"),
        ),
        remarks=tuple(_remarks(report)),
        agreement=(
            _agreement("Between people", report.people, "no reply was graded by two people yet"),
            _agreement("Between people and the judge", report.judge, "no reply was reviewed yet"),
        ),
        patterns=tuple(map(_pattern, report.patterns)),
        reminders=tuple(one_line(reminder.text) for reminder in report.reminders),
    )


def _rate(name: str, corrected: Corrected, *, judged: float | None, what: str) -> RateView:
    value, ends = figure(corrected.rate, "share"), interval(corrected.interval, "share")
    if corrected.rate is None:
        sentence = f"Nothing was reviewed yet: how many of all {corrected.n_all:,} replies {what} is not known."
    else:
        sentence = (
            f"{value} of all {corrected.n_all:,} replies {what} (95 % interval {ends}), by the judge on all and "
            f"people on {corrected.n_reviewed}."
        )
    return RateView(name, corrected, figure(judged, "share"), value, ends, corrected.estimator, sentence)


def _remarks(report: WeeklyReport) -> list[str]:
    remarks = []
    left = report.progress.items - report.progress.reviewed
    if left:
        remarks.append(f"{count(left, 'reply', 'replies')} of the sample still wait for a review: figures may move")
    if report.unadjudicated:
        remarks.append(
            f"people differ on {count(report.unadjudicated, 'reply', 'replies')} without a ruling: "
            "until then these count by the mean of what people said"
        )
    if report.left_open:
        remarks.append(f"{count(report.left_open, 'reply', 'replies')} were reviewed without an outcome: not counted")
    if report.judged_open:
        remarks.append(
            f"the judge left {count(report.judged_open, 'reply', 'replies')} open: taken to pass as often as the others"
        )
    return remarks


def _agreement(title: str, agreement: Agreement, empty: str) -> AgreementView:
    rows = tuple(_row(each) for each in (*agreement.criteria, agreement.outcome) if each.n)
    undefined = any(each.n and each.kappa is None for each in (*agreement.criteria, agreement.outcome))
    note = "– where everybody gave one and the same grade: nothing is left to agree on" if undefined else ""
    return AgreementView(title, rows, note if rows else empty)


def _row(each: CriterionAgreement) -> AgreementRow:
    return AgreementRow(
        name=words(each.name),
        n=each.n,
        exact=figure(each.exact, "share"),
        within_one=figure(each.within_one, "share"),
        kappa=figure(each.kappa, "unit"),
        interval=interval(each.interval, "unit"),
        alpha=figure(each.alpha, "unit"),
    )


def _pattern(line: PatternLine) -> PatternView:
    return PatternView(
        name=one_line(line.name),
        owner=one_line(line.owner),
        count=line.count,
        share=line.share,
        shown_share=figure(line.share, "share"),
        is_new=line.is_new,
        actions=tuple(map(_action, line.actions)),
    )


def _action(line: ActionLine) -> ActionView:
    action, effect = line.action, line.effect
    if effect is None:
        said = "no later run yet"
    else:
        said = (
            f"{figure(effect.before.rate, 'share')} → {figure(effect.after.rate, 'share')}, "
            f"{change(effect.change, 'share')} ({change_interval(effect.interval, 'share') or NONE})"
        )
    return ActionView(one_line(action.text), action.state, one_line(action.by), moment(action.made), said)
