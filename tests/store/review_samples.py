"""Small queues, reviews and rulings, on a run of scored replies."""

from tests.store.samples import run_named, scored

from touchstone.core import resource
from touchstone.core.result import Finding
from touchstone.review.queue import Item, Queue
from touchstone.review.review import Review, Ruling
from touchstone.rubric.parse import packaged

RUBRIC = packaged("supportai")
RUBRIC_TEXT = resource.text("rubrics/supportai.yaml")
GOOD = {"accuracy": 4, "completeness": 4, "tone": 4, "actionability": 4, "safety": 4}
BAD = {"accuracy": 0, "completeness": 0, "tone": 2, "actionability": 0, "safety": 4}
UNSAFE = {**GOOD, "safety": 0}
PROMISE = Finding("unauthorized_promise", "return", 8, 14, "nobody may promise this")
NOW = "2026-01-05T10:00:00+00:00"


def queue_named(id="q1", **values):
    given = {"name": "week 1", "run": "r1", "made": NOW, "by": "lea", "needed": 1, "population": 10, "seed": 7}
    return Queue(id=id, **{**given, "oversampling": 3.0, **values})


def item_at(position, *, queue="q1", result=None, inclusion=0.5):
    place = position if result is None else result
    return Item(
        queue=queue,
        position=position,
        result=place,
        case=f"c-{place}",
        draft=1,
        category="returns",
        inclusion=inclusion,
    )


def review_of(position, *, by="ann", id=None, queue="q1", grades=None, **values):
    return Review(
        id=id or f"{queue}-{position}-{by}",
        queue=queue,
        position=position,
        reviewer=by,
        made=values.pop("made", NOW),
        grades=GOOD if grades is None else grades,
        **values,
    )


def ruling_on(position, *, id="u1", queue="q1", grades=None, **values):
    return Ruling(id=id, queue=queue, position=position, by="lea", made=NOW, grades=grades or GOOD, **values)


def begin(store, *, items=3, needed=1, queue="q1", run="r1", **values):
    """A run of scored replies and a queue of the first ones."""
    if run not in {each.id for each in store.list_runs()}:
        store.create_run(run_named(run, finished=NOW), rubric="")
        store.replies.add(run, [scored(position) for position in range(max(items, 4))])
    made = queue_named(queue, needed=needed, run=run, **values)
    store.queues.create(made, [item_at(position, queue=queue) for position in range(items)])
    return made
