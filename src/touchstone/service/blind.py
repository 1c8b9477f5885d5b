"""Who asks -> what of a run they may see: the judge's word on a reply that is theirs to grade waits for their grades.

Only reviewers are kept from it. A viewer grades nothing, and a lead adjudicates what others graded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from touchstone.core.codec import encode
from touchstone.review.weekly import WeeklyReport
from touchstone.runs.record import Record
from touchstone.runs.run import Run
from touchstone.service.context import Caller
from touchstone.store.pages import LIMIT, Filters, Page

WHY = "You have this reply to grade: the judge's result is shown once you have submitted your review."


@dataclass(frozen=True, slots=True)
class Veil:
    """The replies of a run that somebody has still to grade, by their places and by their cases' ids."""

    positions: frozenset[int] = frozenset()
    cases: frozenset[str] = frozenset()


def veil_of(caller: Caller, run: str) -> Veil:
    """What this person may not see yet of the run with this id."""
    if caller.user.role != "reviewer":
        return Veil()
    waiting = caller.store.queues.to_grade(run, reviewer=caller.name)
    return Veil(frozenset(waiting), frozenset(waiting.values()))


def visible_page(
    caller: Caller, veil: Veil, run: str, filters: Filters, *, after: str | None = None, limit: int = LIMIT
) -> Page:
    """A page of a run's replies. A filter on what the judge said leaves out replies whose presence would tell it."""
    page = caller.store.replies.page(run, filters, after=after, limit=limit)
    tells = filters.outcome is not None or filters.decision is not None or filters.tag is not None
    if not tells or not veil.positions:
        return page
    while True:
        seen = tuple(each for each in page.items if each.position not in veil.positions)
        if seen or page.next is None:
            return Page(seen, page.next)
        page = caller.store.replies.page(run, filters, after=page.next, limit=limit)


def visible_record(record: Record, *, is_blind: bool) -> dict[str, Any]:
    """A reply as lists give it: of one that is to be graded, which it is."""
    if not is_blind:
        whole: dict[str, Any] = encode(record)
        return whole
    row = {"id": record.id, "draft": record.draft, "category": record.category}
    return {name: value for name, value in row.items() if value is not None} | {"blind": True}


def visible_week(caller: Caller, report: WeeklyReport) -> WeeklyReport:
    """A week's report without what people said of replies that are still to be graded."""
    waiting = veil_of(caller, report.queue.run).positions
    return replace(report, reviewed=tuple(each for each in report.reviewed if each.item.result not in waiting))


def visible_run(caller: Caller, run: Run) -> dict[str, Any]:
    """A run as the API gives it, without the examples and waivers on replies that are still to be graded."""
    found: Mapping[str, Any] = caller.service.cache.report(run)
    veil = veil_of(caller, run.id)
    return {
        **found,
        "patterns": [
            {**each, "examples": [example for example in each["examples"] if example["id"] not in veil.cases]}
            for each in found["patterns"]
        ],
        "examples": {name: [id for id in ids if id not in veil.cases] for name, ids in found["examples"].items()},
        "waived": [each for each in found["waived"] if each["id"] not in veil.cases],
    }
