"""WeeklyReport -> one plain object, for machines."""

from dataclasses import asdict
from typing import Any

from touchstone.review.agreement import Agreement
from touchstone.review.weekly import ActionLine, WeeklyReport
from touchstone.stats.corrected import Corrected
from touchstone.stats.interval import Interval


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
        "pass_rate": _corrected(report.corrected),
        "violation_rate": _corrected(report.unsafe),
        "unadjudicated": report.unadjudicated,
        "left_open": report.left_open,
        "agreement": {"people": _agreement(report.people), "judge": _agreement(report.judge)},
        "patterns": [
            {
                "name": line.name,
                "owner": line.owner,
                "count": line.count,
                "share": line.share,
                "new": line.is_new,
                "actions": [_action(each) for each in line.actions],
            }
            for line in report.patterns
        ],
        "reminders": [asdict(reminder) for reminder in report.reminders],
    }


def agreement_to_dict(agreement: Agreement) -> dict[str, Any]:
    """The same for an agreement alone."""
    return _agreement(agreement)


def _corrected(corrected: Corrected) -> dict[str, Any]:
    return {
        "rate": corrected.rate,
        "interval": _interval(corrected.interval),
        "estimator": corrected.estimator,
        "replies": corrected.n_all,
        "reviewed": corrected.n_reviewed,
    }


def _interval(found: Interval | None) -> dict[str, Any] | None:
    return None if found is None else asdict(found)


def _agreement(agreement: Agreement) -> dict[str, Any]:
    return {each.name: {**asdict(each)} for each in (*agreement.criteria, agreement.outcome)}


def _action(line: ActionLine) -> dict[str, Any]:
    return {**asdict(line.action), "effect": None if line.effect is None else asdict(line.effect)}
