"""WeeklyReport -> the sentences every form of it has in common, its JSON and its CSV."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from touchstone.core.shown import inert_cell
from touchstone.report.figures import change, change_interval, count, figure, interval, moment, words
from touchstone.report.plain import one_line
from touchstone.review.agreement import Agreement, CriterionAgreement
from touchstone.review.weekly import ActionLine, WeeklyReport
from touchstone.stats.corrected import Corrected

CSV_HEAD = ("section", "name", "value", "interval", "n", "remark")
# In which way a reply was graded.
MODES = {"expected": "with an expected reply", "open": "with sources", "bare": "with neither"}
PEOPLE, JUDGE = "Between people", "Between people and the judge"


@dataclass(frozen=True, slots=True)
class RateLine:
    """A rate of all replies: corrected, and as the judge alone says."""

    name: str
    corrected: Corrected
    judged: float | None
    verb: str

    @property
    def sentence(self) -> str:
        found = self.corrected
        if found.rate is None:
            return f"Nothing was reviewed yet: how many of all {found.n_all:,} replies {self.verb} is not known."
        return (
            f"{figure(found.rate, 'share')} of all {found.n_all:,} replies {self.verb} (95 % interval "
            f"{interval(found.interval, 'share')}), by the judge on all and people on {found.n_reviewed}."
        )


def rates(report: WeeklyReport) -> list[RateLine]:
    """The share that passes, and the share with a violation."""
    return [
        RateLine("pass rate", report.corrected, report.judged_rate, "pass"),
        RateLine("replies with a violation", report.unsafe, report.judged_unsafe, "have a violation"),
    ]


def agreements(report: WeeklyReport) -> list[tuple[str, Agreement]]:
    """Who is compared with whom."""
    return [(PEOPLE, report.people), (JUDGE, report.judge)]


def agreement_lines(agreement: Agreement) -> list[CriterionAgreement]:
    """Each criterion that was compared, then the outcome."""
    return [each for each in (*agreement.criteria, agreement.outcome) if each.n]


def agreement_note(title: str, agreement: Agreement) -> str:
    """Why there is nothing to show, or what a missing figure means."""
    lines = agreement_lines(agreement)
    if not lines:
        return "no reply was graded by two people yet" if title == PEOPLE else "no reply was reviewed yet"
    if any(each.kappa is None for each in lines):
        return "– where everybody gave the same grade: there, kappa and alpha are not defined"
    return ""


def graded(given: Sequence[int | None]) -> str:
    """What people gave on one criterion: once when all gave the same."""
    return " / ".join(dict.fromkeys("?" if grade is None else str(grade) for grade in given))


def facts(report: WeeklyReport) -> list[tuple[str, str]]:
    """How the sample was drawn, and how far its review is."""
    queue, found = report.queue, report.progress
    people = "two people" if queue.needed == 2 else "one person"
    return [
        ("replies", f"{queue.population:,} in run {one_line(queue.run)}"),
        ("sample", f"{count(found.items, 'reply', 'replies')}, each graded by {people}"),
        ("drawn", f"by category, {queue.design}; seed {queue.seed}"),
        ("finished", f"{found.finished} of {found.items}"),
        ("made", moment(report.made)),
    ]


def remarks(report: WeeklyReport) -> list[str]:
    """Why the rubric is due for review, then what may still move the figures."""
    said = [one_line(reminder.text) for reminder in report.reminders]
    if left := report.progress.items - report.progress.reviewed:
        waits = f"{count(left, 'reply', 'replies')} of the sample still {'waits' if left == 1 else 'wait'}"
        said.append(f"{waits} for a review: figures may change")
    if report.unadjudicated:
        differing = count(report.unadjudicated, "reply", "replies")
        counts = "it counts" if report.unadjudicated == 1 else "they count"
        said.append(f"people differ on {differing} without a ruling: until then {counts} by the mean of the reviews")
    if report.left_open:
        said.append(f"{count(report.left_open, 'reply was', 'replies were')} reviewed without an outcome: not counted")
    if report.judged_open:
        left_open = count(report.judged_open, "reply", "replies")
        said.append(f"the judge left {left_open} open: assumed to pass as often as the others")
    return said


def effect(line: ActionLine) -> str:
    """What became of the pattern since the action."""
    if (found := line.effect) is None:
        return "no later run yet"
    ends = change_interval(found.interval, "share")
    return (
        f"{figure(found.before.rate, 'share')} → {figure(found.after.rate, 'share')}, "
        f"{change(found.change, 'share')} ({ends or '–'})"
    )


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
                "actions": [
                    {**asdict(each.action), "effect": each.effect and asdict(each.effect)} for each in line.actions
                ],
            }
            for line in report.patterns
        ],
        "reminders": [asdict(reminder) for reminder in report.reminders],
    }


def agreement_to_dict(agreement: Agreement) -> dict[str, Any]:
    """Agreement on each criterion and on the outcome, unrounded."""
    return {each.name: asdict(each) for each in (*agreement.criteria, agreement.outcome)}


def _corrected_dict(corrected: Corrected) -> dict[str, Any]:
    return {
        "rate": corrected.rate,
        "interval": corrected.interval and asdict(corrected.interval),
        "estimator": corrected.estimator,
        "replies": corrected.n_all,
        "reviewed": corrected.n_reviewed,
    }


def weekly_to_csv(report: WeeklyReport) -> str:
    """The table as text; a cell never begins as a formula does."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    for row in _csv_rows(report):
        writer.writerow([inert_cell(str(cell)) for cell in row])
    return stream.getvalue()


def _csv_rows(report: WeeklyReport) -> Iterator[tuple[object, ...]]:
    for rate in rates(report):
        found = rate.corrected
        value, ends = figure(found.rate, "share"), interval(found.interval, "share")
        yield "rate", rate.name, value, ends, found.n_reviewed, found.estimator
    for title, agreement in agreements(report):
        for each in agreement_lines(agreement):
            alpha, same = figure(each.alpha, "unit"), figure(each.exact, "share")
            kappa, ends = figure(each.kappa, "unit"), interval(each.interval, "unit")
            yield title, words(each.name), kappa, ends, each.n, f"alpha {alpha}, same {same}"
    for line in report.patterns:
        actions = "; ".join(f"{each.action.state}: {each.action.text}" for each in line.actions)
        told = one_line(f"{line.owner}; {actions}".rstrip("; "))
        yield "pattern", one_line(line.name), figure(line.share, "share"), "", line.count, told
    for text in remarks(report):
        yield "remark", text, "", "", "", ""
