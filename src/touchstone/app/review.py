"""Production replies in the store -> queues, agreement, the weekly report: what the commands and the service share."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from touchstone.app.audit import note, now
from touchstone.app.rubrics import rubric_of
from touchstone.core.codec import content_hash
from touchstone.core.errors import ReviewError
from touchstone.review.agreement import Agreement
from touchstone.review.found import ReviewedItem
from touchstone.review.queue import MAX_OVERSAMPLING, OVERSAMPLING, SIZE, Item, Queue, choose
from touchstone.review.review import Difference, Review, Ruling, current, differences
from touchstone.review.weekly import (
    Action,
    ActionLine,
    Effect,
    Share,
    WeeklyReport,
    effect_of,
    pattern_lines,
    remind,
    weekly_report,
)
from touchstone.rubric.model import Rubric
from touchstone.runs.patterns import find_patterns
from touchstone.runs.record import Record
from touchstone.runs.run import Run
from touchstone.runs.waivers import Waiver
from touchstone.store.pages import Listed
from touchstone.store.results import Scored
from touchstone.store.runs import Store

# Labels of a run that say which bot drafted its replies.
VERSION_LABELS = ("version", "bot", "prompt", "model")
# Earlier production runs that a pattern or a version is looked for in.
EARLIER_RUNS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """How replies are drawn for a queue, and who grades them; a seed of None is taken from the run's id."""

    name: str = ""
    n: int = SIZE
    needed: int = 1
    seed: int | None = None
    oversampling: float = OVERSAMPLING
    reviewers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemView:
    """Everything about one item; what a reviewer may see of it before submitting is for the caller to decide."""

    queue: Queue
    item: Item
    scored: Scored
    rubric: Rubric
    reviews: tuple[Review, ...]
    ruling: Ruling | None
    differences: tuple[Difference, ...]
    waivers: tuple[Waiver, ...]


def draw_queue(store: Store, *, run: str, drawing: Drawing, by: str, now: str, id: str | None = None) -> Queue:
    """A new queue of replies drawn from a run."""
    _check_drawing(drawing)
    listed = {each.position: each for each in store.replies.listed(run) if each.has_case}
    if not listed:
        raise ReviewError(f"run {run} has no reply that could be reviewed")
    seed = _seed(run) if drawing.seed is None else drawing.seed
    chosen = choose(
        {at: each.record for at, each in listed.items()}, drawing.n, seed=seed, oversampling=drawing.oversampling
    )
    queue = Queue(
        id=id or f"q-{secrets.token_hex(4)}",
        name=drawing.name or f"{len(chosen)} of {len(listed)} replies, {now[:10]}",
        run=run,
        made=now,
        by=by,
        needed=drawing.needed,
        population=len(listed),
        seed=seed,
        oversampling=drawing.oversampling,
        reviewers=drawing.reviewers,
    )
    items = [_item(queue.id, position, listed[each.place], each.inclusion) for position, each in enumerate(chosen)]
    store.queues.create(queue, items, is_counted=True)
    note(store, by, "queue made", queue.id)
    return queue


def close_queue(store: Store, id: str, *, by: str) -> Queue:
    """Take no more reviews; those that were made stay."""
    queue = store.queues.get(id)
    if queue.closed is None:
        queue = store.queues.close(id, at=now())
        note(store, by, "queue closed", id)
    return queue


def reopen_queue(store: Store, id: str, *, by: str) -> Queue:
    """Take reviews again."""
    queue = store.queues.get(id)
    if queue.closed is not None:
        queue = store.queues.reopen(id)
        note(store, by, "queue reopened", id)
    return queue


def view_item(store: Store, queue_id: str, position: int) -> ItemView:
    """One item with its reply, reviews and ruling."""
    with store.reading():
        queue = store.queues.get(queue_id)
        item = store.queues.item(queue_id, position)
        rubric = rubric_of(store, queue.run)
        reviews = store.reviews.of_item(queue_id, position)
        return ItemView(
            queue=queue,
            item=item,
            scored=store.replies.at(queue.run, item.result),
            rubric=rubric,
            reviews=reviews,
            ruling=store.reviews.ruling(queue_id, position),
            differences=differences(current(reviews), rubric=rubric),
            waivers=store.marks.waivers(queue.run, item.result),
        )


def reviewed_items(store: Store, queue_id: str) -> tuple[ReviewedItem, ...]:
    """The items of a queue with everything people said about them."""
    reviews, rulings = store.reviews.of_queue(queue_id), store.reviews.rulings(queue_id)
    items = store.queues.items(queue_id, limit=None)
    return tuple(ReviewedItem(i, reviews.get(i.position, ()), rulings.get(i.position)) for i in items)


def weekly(store: Store, queue_id: str, *, now: str) -> WeeklyReport:
    """The report of a queue, with patterns, what is done about them, and reminders."""
    queue = store.queues.get(queue_id)
    rubric = rubric_of(store, queue.run)
    listed = [each for each in store.replies.listed(queue.run) if each.has_case]
    unaided = store.replies.unaided(queue.run)
    run = store.find_run(queue.run)
    earlier = _earlier(store, run)
    past = {each.id: [line.record for line in store.replies.listed(each.id)] for each in earlier}
    known = {name for records in past.values() for name in _names(records)} if earlier else None
    counted = {each.position: each.record for each in listed}
    actions = [ActionLine(action, _effect(store, action)) for action in store.actions.list()]
    lines = pattern_lines(find_patterns(list(counted.values())), known_before=known, actions=actions)
    return weekly_report(
        queue,
        reviewed_items(store, queue_id),
        {place: unaided.get(place, record) for place, record in counted.items()},
        rubric=rubric,
        made=now,
        counted=counted,
        patterns=lines,
        reminders=remind(
            rubric,
            today=datetime.fromisoformat(now).date(),
            versions=_versions([run]),
            versions_before=_versions(earlier) if earlier else None,
            new_patterns=[line.name for line in lines if line.is_new],
        ),
    )


def agreement(store: Store, queue_id: str, *, now: str) -> tuple[Agreement, Agreement]:
    """How far people agree with each other, and with the judge."""
    report = weekly(store, queue_id, now=now)
    return report.people, report.judge


def find_queue(store: Store, name: str | None) -> Queue:
    """The queue of this id or the only one whose id or name starts so; without a name, the newest."""
    every = store.queues.list()
    if not every:
        raise ReviewError(f"the store {store.place} has no queue: touchstone review sample makes one", kind="unknown")
    if name is None:
        return every[0]
    exact = [queue for queue in every if name in (queue.id, queue.name)]
    found = exact or [queue for queue in every if queue.id.startswith(name) or queue.name.startswith(name)]
    if len(found) != 1:
        what = "no queue" if not found else f"{len(found)} queues"
        raise ReviewError(
            f"'{name}' is the name or the beginning of {what}: touchstone review queue lists them", kind="unknown"
        )
    return found[0]


def _check_drawing(drawing: Drawing) -> None:
    if drawing.n < 1:
        raise ReviewError(f"a queue of {drawing.n} replies: give at least 1")
    if not 1 <= drawing.oversampling <= MAX_OVERSAMPLING:
        raise ReviewError(f"oversampling {drawing.oversampling:g}: give 1, all alike, to {MAX_OVERSAMPLING}")
    people = len(set(drawing.reviewers))
    if people and drawing.needed > people:
        raise ReviewError(
            f"{drawing.needed} people are to grade each reply, and {people} is named: name one more, or nobody"
        )


def _item(queue: str, position: int, listed: Listed, inclusion: float) -> Item:
    record = listed.record
    return Item(
        queue=queue,
        position=position,
        result=listed.position,
        case=record.id,
        draft=record.draft,
        category=record.category,
        inclusion=inclusion,
    )


def _seed(run: str) -> int:
    """The same replies are drawn from a run again; below 2**31, which either database keeps."""
    return int(content_hash(run)[:7], 16)


def _earlier(store: Store, run: Run) -> list[Run]:
    """Production runs begun before this one, the newest first."""
    every = store.list_runs(kind=run.kind, limit=None)
    return [each for each in every if each.started < run.started and each.finished][:EARLIER_RUNS]


def _versions(runs: Iterable[Run]) -> list[str]:
    labels = (f"{name}={value}" for run in runs for name, value in run.labels.items() if name in VERSION_LABELS)
    return list(dict.fromkeys(labels))


def _names(records: Sequence[Record]) -> set[str]:
    return {tag.name for record in records if record.fails for tag in record.tags}


def _effect(store: Store, action: Action) -> Effect | None:
    """How the pattern's share changed from the run it was seen in to the first finished one begun after the action.

    The action counts from when it was first made: a change of its owner or state moves nothing.
    """
    newest_first = store.list_runs()
    place = next((at for at, run in enumerate(newest_first) if run.id == action.run), None)
    if place is None:
        return None
    first, made = newest_first[place], _second(store.actions.revisions(action.id)[0].made)
    # Also by their order, since two runs may have begun in one second.
    later = [
        run for run in newest_first[:place] if run.kind == first.kind and run.finished and _second(run.started) >= made
    ]
    if not later:
        return None
    return effect_of(_share(store, first.id, action.pattern), _share(store, later[-1].id, action.pattern))


def _second(moment: str) -> datetime:
    """A time to the second, as the least precise ones are kept."""
    return datetime.fromisoformat(moment).replace(microsecond=0)


def _share(store: Store, run: str, pattern: str) -> Share:
    return Share(run, store.replies.tags(run).get(pattern, 0), store.replies.count(run))


def now_text() -> str:
    """The present, as times are kept."""
    return datetime.now(UTC).isoformat(timespec="seconds")
