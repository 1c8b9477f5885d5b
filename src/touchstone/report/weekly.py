"""WeeklyReport -> what is shown of it, the same in every format; and its JSON, CSV and HTML."""

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from touchstone.core.shown import inert_cell
from touchstone.report.figures import NONE, change, change_interval, count, figure, interval, moment, words
from touchstone.report.plain import one_line
from touchstone.report.run.charts import rate_strip, share_bar
from touchstone.report.run.page import render_page
from touchstone.review.agreement import Agreement, CriterionAgreement
from touchstone.review.weekly import ActionLine, PatternLine, WeeklyReport
from touchstone.stats.corrected import Corrected
from touchstone.stats.interval import Interval

CSV_HEAD = ("section", "name", "value", "interval", "n", "remark")


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
class WeeklyPattern:
    """A pattern, who could cure it and what is done."""

    name: str
    owner: str
    count: int
    share: float
    shown_share: str
    is_new: bool
    actions: tuple[ActionView, ...]


@dataclass(frozen=True, slots=True)
class WeeklyFact:
    """A name and its value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class WeeklyView:
    """Everything a weekly report shows."""

    report: WeeklyReport
    title: str
    facts: tuple[WeeklyFact, ...]
    rates: tuple[RateView, ...]
    remarks: tuple[str, ...]
    agreement: tuple[AgreementView, ...]
    patterns: tuple[WeeklyPattern, ...]
    reminders: tuple[str, ...]


def weekly_view(report: WeeklyReport) -> WeeklyView:
    """The report in words."""
    queue, found = report.queue, report.progress
    people = "two people" if queue.needed == 2 else "one person"
    facts = (
        WeeklyFact("replies", f"{queue.population:,} in run {one_line(queue.run)}"),
        WeeklyFact("sample", f"{count(found.items, 'reply', 'replies')}, each graded by {people}"),
        WeeklyFact("drawn", f"by category, risky replies {queue.oversampling:g} times as often, seed {queue.seed}"),
        WeeklyFact("finished", f"{found.finished} of {found.items}"),
        WeeklyFact("made", moment(report.made)),
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


def _pattern(line: PatternLine) -> WeeklyPattern:
    return WeeklyPattern(
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


def weekly_to_dict(report: WeeklyReport) -> dict[str, Any]:
    """Every figure, unrounded."""
    progress = report.progress
    return {
        "queue": {**asdict(report.queue), "reviewers": list(report.queue.reviewers)},
        "made": report.made,
        "progress": {**asdict(progress), "items": progress.items, "finished": progress.finished},
        "judged_pass_rate": report.judged_rate,
        "judged_violation_rate": report.judged_unsafe,
        "judged_open": report.judged_open,
        "pass_rate": _corrected_dict(report.corrected),
        "violation_rate": _corrected_dict(report.unsafe),
        "unadjudicated": report.unadjudicated,
        "left_open": report.left_open,
        "agreement": {"people": agreement_to_dict(report.people), "judge": agreement_to_dict(report.judge)},
        "patterns": [
            {
                "name": line.name,
                "owner": line.owner,
                "count": line.count,
                "share": line.share,
                "new": line.is_new,
                "actions": [_action_dict(each) for each in line.actions],
            }
            for line in report.patterns
        ],
        "reminders": [asdict(reminder) for reminder in report.reminders],
    }


def agreement_to_dict(agreement: Agreement) -> dict[str, Any]:
    """Agreement on each criterion and on the outcome, unrounded."""
    return {each.name: {**asdict(each)} for each in (*agreement.criteria, agreement.outcome)}


def _corrected_dict(corrected: Corrected) -> dict[str, Any]:
    return {
        "rate": corrected.rate,
        "interval": _interval_dict(corrected.interval),
        "estimator": corrected.estimator,
        "replies": corrected.n_all,
        "reviewed": corrected.n_reviewed,
    }


def _interval_dict(found: Interval | None) -> dict[str, Any] | None:
    return None if found is None else asdict(found)


def _action_dict(line: ActionLine) -> dict[str, Any]:
    return {**asdict(line.action), "effect": None if line.effect is None else asdict(line.effect)}


def weekly_to_csv(view: WeeklyView) -> str:
    """The table as text; a cell never begins as a formula does."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    for row in _csv_rows(view):
        writer.writerow([inert_cell(str(cell)) for cell in row])
    return stream.getvalue()


def _csv_rows(view: WeeklyView) -> Iterator[tuple[object, ...]]:
    for rate in view.rates:
        yield "rate", rate.name, rate.value, rate.interval, rate.corrected.n_reviewed, rate.estimator
    for each in view.agreement:
        for row in each.rows:
            yield each.title, row.name, row.kappa, row.interval, row.n, f"alpha {row.alpha}, same {row.exact}"
    for line in view.patterns:
        actions = "; ".join(f"{action.state}: {action.text}" for action in line.actions)
        yield "pattern", line.name, line.shown_share, "", line.count, f"{line.owner}; {actions}".rstrip("; ")
    for text in (*view.reminders, *view.remarks):
        yield "remark", text, "", "", "", ""


def render_weekly_html(view: WeeklyView) -> str:
    """The whole page; it loads nothing and sends nothing."""
    from markupsafe import Markup

    strips = [
        Markup(rate_strip(rate.corrected.rate, rate.corrected.interval, name=f"rate{at}", label="all replies"))
        for at, rate in enumerate(view.rates)
    ]
    shares = [Markup(share_bar(pattern.share, label=pattern.name)) for pattern in view.patterns]
    return render_page("weekly.html", view=view, strips=strips, shares=shares)
