"""Queues of production replies in the store -> weeks: how good all replies were, and what changed."""

from dataclasses import dataclass, replace

from touchstone.app.review import reviewed_items
from touchstone.app.rubrics import rubric_of
from touchstone.review.found import WeekChange, change
from touchstone.review.queue import Progress, Queue
from touchstone.review.weekly import WeekRates, week_rates
from touchstone.runs.run import Run
from touchstone.store.runs import Store

RECENT = 6


@dataclass(frozen=True, slots=True)
class Week:
    """A queue with its run, how far its review is, both corrected rates, and their change since the week before.

    `apart` says why it is not compared with the week before; None when it is, and for the first week.
    """

    queue: Queue
    run: Run
    progress: Progress
    rates: WeekRates
    passed: WeekChange | None = None
    unsafe: WeekChange | None = None
    apart: str | None = None


def recent_weeks(store: Store, *, most: int = RECENT) -> tuple[Week, ...]:
    """The newest first. Weeks of one run have the same replies: the last queue of a run stands for it."""
    weeks: list[Week] = []
    seen: set[str] = set()
    for queue in store.queues.list():
        run = store.find_run(queue.run)
        if run.kind == "production" and run.id not in seen and len(weeks) <= most:
            seen.add(run.id)
            weeks.append(_week(store, queue, run))
    older = [*weeks[1:], None]
    return tuple(_compared(week, before) for week, before in zip(weeks[:most], older, strict=False))


def _week(store: Store, queue: Queue, run: Run) -> Week:
    # Waivers are left out: the correction is about the judge's own word.
    unaided = store.replies.unaided(run.id)
    judged = {
        each.position: unaided.get(each.position, each.record) for each in store.replies.listed(run.id) if each.has_case
    }
    rates = week_rates(reviewed_items(store, queue.id), judged, rubric=rubric_of(store, run.id))
    return Week(queue, run, store.queues.progress(queue.id), rates)


def _compared(week: Week, before: Week | None) -> Week:
    """The same week with its change. People's word corrects both, so another judge or bot does not keep them apart."""
    if before is None:
        return week
    if before.run.receipt.rubric_hash != week.run.receipt.rubric_hash:
        return replace(week, apart="it was graded by another rubric")
    passed, unsafe = change(before.rates.passed, week.rates.passed), change(before.rates.unsafe, week.rates.unsafe)
    return replace(week, passed=passed, unsafe=unsafe)
