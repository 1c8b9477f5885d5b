"""Queues: made, watched and closed by leads, who adjudicate what people graded differently."""

import secrets
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from touchstone.app import review as queues
from touchstone.app.audit import now
from touchstone.app.review import ItemView, agreement, view_item, weekly
from touchstone.report.weekly import weekly_to_dict
from touchstone.review.queue import OVERSAMPLING, SIZE, Item, Queue, State
from touchstone.review.review import Review, current
from touchstone.service import commands
from touchstone.service.answers import Limit, Writing, json_answer, listed
from touchstone.service.context import LOCAL, Caller, Lead, Reviewer, Viewer
from touchstone.service.pages.grading import (
    SentForm,
    form_values,
    people_of,
    read_form,
    reply_of,
    submission_id,
    to_draft,
    voices_of,
)
from touchstone.service.pages.render import go_to, wants_part
from touchstone.service.problems import Refusal
from touchstone.service.routes.learning import Calibrated, learned
from touchstone.service.routes.runs import run_name
from touchstone.service.schemas import answers, problems
from touchstone.service.shapes import NewQueue, NewRuling, filled, form_of
from touchstone.store.pages import NO_CURSOR

router = APIRouter(prefix="/v1/queues", tags=["queues"])
pages = APIRouter(prefix="/queues", include_in_schema=False)
QueueId = Annotated[str, Path(max_length=64, description="The queue's id.")]
Place = Annotated[int, Path(ge=0, lt=2**31, description="The item's place in the queue.")]
_PAGE = 100
# Rows of a file that could not be read and are named on the page it leads to.
_NAMED = 10
# A longer queue shows how far people agree in its weekly report alone.
_AGREEMENT_UP_TO = 500
_STATE_NAMES: dict[State, str] = {
    "waiting": "waiting",
    "partly": "one review so far",
    "differs": "to adjudicate",
    "done": "done",
    "settled": "adjudicated",
}


@router.get("", responses=answers("Queues", 422))
def list_queues(
    caller: Viewer,
    *,
    open: Annotated[bool, Query(description="Only those that take reviews.")] = False,
    limit: Limit = 50,
    after: Annotated[str | None, Query(max_length=64, description="`next` of the page before.")] = None,
) -> Response:
    """Queues, the newest first, each with its progress."""
    found = list(caller.store.queues.list(open_only=open))
    ids = [queue.id for queue in found]
    if after is not None and after not in ids:
        raise Refusal(422, "invalid", NO_CURSOR)
    rest = found[ids.index(after) + 1 :] if after else found
    return listed("queues", rest, limit, row=lambda each: queue_row(caller, each), cursor=lambda each: each.id)


@router.post("", status_code=201, responses=answers("Queue", 404, 409, 422, status=201))
def create_queue(caller: Lead, content: NewQueue, write: Writing) -> Response:
    """Draw a sample of a run's replies: stratified by category, risky ones more often at a known probability."""
    return write.once(caller, lambda id: queue_row(caller, commands.make_queue(caller, content, id=f"q-{id}")))


@router.get("/{queue}", responses=answers("Queue", 404, 422))
def show_queue(caller: Viewer, queue: QueueId) -> Response:
    """The queue, its progress and yours."""
    found = caller.store.queues.get(queue)
    mine = asdict(caller.store.queues.progress_of(queue, caller.name))
    return json_answer({**queue_row(caller, found), "mine": mine})


@router.get("/{queue}/items", responses=answers("Items", 404, 422))
def list_items(
    caller: Viewer,
    queue: QueueId,
    *,
    state: Annotated[State | None, Query()] = None,
    limit: Limit = 50,
    after: Annotated[int, Query(ge=-1, lt=2**31, description="`next` of the page before.")] = -1,
) -> Response:
    """The queue's items in order."""
    found = caller.store.queues.items(queue, state=state, after=after, limit=limit + 1)
    return listed("items", found, limit, row=lambda each: item_row(each, caller), cursor=lambda each: each.position)


@router.post("/{queue}/close", responses=answers("Queue", 404))
def close_queue(caller: Lead, queue: QueueId) -> Response:
    """Take no more reviews. Those that were made stay; closing it twice changes nothing more."""
    return json_answer(queue_row(caller, queues.close_queue(caller.store, queue, by=caller.name)))


@router.post("/{queue}/reopen", responses=answers("Queue", 404))
def reopen_queue(caller: Lead, queue: QueueId) -> Response:
    """Take reviews again."""
    return json_answer(queue_row(caller, queues.reopen_queue(caller.store, queue, by=caller.name)))


@router.get("/{queue}/agreement", responses=answers("Agreement", 404))
def show_agreement(caller: Lead, queue: QueueId) -> Response:
    """How far people agree with each other and with the judge."""
    people, judge = agreement(caller.store, queue, now=now())
    return json_answer({"people": asdict(people), "judge": asdict(judge)})


@router.get("/{queue}/weekly", responses=answers("WeeklyReport", 404))
def show_weekly(caller: Viewer, queue: QueueId) -> Response:
    """The weekly report: the pass rate of all replies corrected by the reviewed ones, agreement, patterns, actions."""
    return json_answer(weekly_to_dict(weekly(caller.store, queue, now=now())))


@router.post("/{queue}/items/{position}/skip", status_code=204, responses=problems(404, 422))
def skip_item(caller: Reviewer, queue: QueueId, position: Place) -> Response:
    """Put an item off; it comes again when nothing else is left."""
    commands.skip(caller, queue, position)
    return Response(status_code=204)


@router.post(
    "/{queue}/items/{position}/ruling",
    tags=["reviews"],
    status_code=201,
    responses=answers("ItemState", 404, 409, 422, status=201),
)
def adjudicate_item(caller: Lead, queue: QueueId, position: Place, *, content: NewRuling, write: Writing) -> Response:
    """Settle an item that people graded differently, with a reason."""
    view = view_item(caller.store, queue, position)
    return write.once(caller, lambda id: item_state(id, commands.adjudicate(caller, view, content, id=id)))


def queue_row(caller: Caller, queue: Queue) -> dict[str, Any]:
    """A queue with how far it is."""
    progress = caller.store.queues.progress(queue.id)
    return {
        **asdict(queue),
        "reviewers": list(queue.reviewers),
        "progress": {**asdict(progress), "items": progress.items, "finished": progress.finished},
    }


def item_row(item: Item, caller: Caller) -> dict[str, Any]:
    """An item as lists show it. How likely it was drawn tells what the judge thought of it: that is for leads."""
    row = asdict(item)
    return row if caller.user.may("lead") else {name: value for name, value in row.items() if name != "inclusion"}


def item_state(id: str, item: Item) -> dict[str, Any]:
    """What was kept under the id, and how it left the item."""
    return {"id": id, "queue": item.queue, "position": item.position, "state": item.state}


@pages.get("")
def queues_page(caller: Viewer, *, run: Annotated[str, Query(max_length=200)] = "") -> Response:
    """All weeks; for leads also the form that starts one, and what of `run` could not be read."""
    store = caller.store
    open_to = {queue.id for queue in store.queues.list(reviewer=caller.name)} if caller.user.may("reviewer") else set()
    lines = [
        (
            queue,
            store.queues.progress(queue.id),
            store.queues.progress_of(queue.id, caller.name) if queue.id in open_to else None,
        )
        for queue in store.queues.list()
    ]
    every = (*store.list_runs(kind="production", limit=50), *store.list_runs(kind="goldset", limit=20))
    runs = [each for each in every if each.finished]
    people = [user for user in store.users.list() if user.role != "viewer" and not user.disabled]
    is_known = any(each.id == run for each in runs)
    return caller.show(
        "queues.html",
        lines=lines,
        first=next((queue.id for queue, _, mine in lines if mine and mine.left and not queue.closed), None),
        states=_STATE_NAMES,
        runs=[(each, run_name(each)) for each in runs],
        people=people if caller.service.options.has_auth else (),
        chosen=run,
        unread=store.replies.unread(run, limit=_NAMED) if is_known else None,
        rows=store.replies.count(run) if is_known else 0,
        size=SIZE,
        oversampling=OVERSAMPLING,
    )


@pages.post("")
def make_queue(caller: Lead, wanted: Annotated[NewQueue, form_of(NewQueue)]) -> Response:
    """Draw a queue from a run."""
    return go_to(f"/queues/{commands.make_queue(caller, wanted, id=f'q-{secrets.token_hex(4)}').id}")


@pages.get("/{id}")
def queue_page(
    caller: Lead,
    id: str,
    *,
    state: Annotated[State | None, Query()] = None,
    after: Annotated[int, Query(ge=-1, lt=2**31)] = -1,
    calibrated: Calibrated = "",
) -> Response:
    """How far a queue is, who did what, where people differ and how far they agree."""
    store = caller.store
    queue, progress = store.queues.get(id), store.queues.progress(id)
    mine = [(name, store.queues.progress_of(id, name)) for name in _people(caller, queue)]
    shown = {
        "queue": queue,
        "progress": progress,
        "states": _STATE_NAMES,
        "people": [(name, found) for name, found in mine if found.done or name in queue.reviewers],
    }
    if wants_part(caller.request, "progress"):
        return caller.show("queue_progress.html", **shown)
    items = store.queues.items(id, state=state, after=after, limit=_PAGE + 1)
    has_report = bool(progress.reviewed or progress.partly) and progress.items <= _AGREEMENT_UP_TO
    run = store.find_run(queue.run)
    return caller.show(
        "queue.html",
        run=run,
        run_name=run_name(run),
        items=items[:_PAGE],
        more=items[_PAGE - 1].position if len(items) > _PAGE else None,
        state=state,
        report=weekly(store, id, now=now()) if has_report else None,
        learned=learned(caller, queue, calibrated),
        differing=next(iter(store.queues.items(id, state="differs", limit=1)), None),
        **shown,
    )


@pages.post("/{id}/close")
def close(caller: Lead, id: str) -> Response:
    """Take no more reviews."""
    queues.close_queue(caller.store, id, by=caller.name)
    return go_to(f"/queues/{id}")


@pages.post("/{id}/reopen")
def reopen(caller: Lead, id: str) -> Response:
    """Take reviews again."""
    queues.reopen_queue(caller.store, id, by=caller.name)
    return go_to(f"/queues/{id}")


@pages.get("/{id}/items/{position}")
def adjudication_page(caller: Lead, id: str, position: int, *, full: bool = False) -> Response:
    """What everybody said about a reply, and the form that settles it."""
    view = view_item(caller.store, id, position)
    reviews = current(view.reviews)
    return caller.show(
        "ruling.html",
        **form_values(view, full=full),
        people=people_of(view),
        voices=voices_of(view) if view.ruling is not None else (),
        differences=view.differences,
        criteria=[criterion.name for criterion in view.rubric.criteria],
        filled=_undisputed(view, reviews),
        id=secrets.token_hex(8),
        is_ruled=view.ruling is not None,
        has_reviews=bool(reviews),
        states=_STATE_NAMES,
    )


@pages.post("/{id}/items/{position}")
def adjudicate_on_page(caller: Lead, id: str, position: int, sent: SentForm) -> Response:
    """Keep a ruling, and go on to the next difference."""
    view = view_item(caller.store, id, position)
    given = read_form(sent, rubric=view.rubric, reply=reply_of(view))
    ruling = filled(NewRuling, reason=given.pop("note"), **given)
    commands.adjudicate(caller, view, ruling, id=submission_id(sent))
    return go_to(f"/queues/{id}/differences")


@pages.get("/{id}/differences")
def next_difference(caller: Lead, id: str) -> Response:
    """To the next reply that people graded differently, or back to the queue."""
    found = caller.store.queues.items(id, state="differs", limit=1)
    return go_to(f"/queues/{id}/items/{found[0].position}" if found else f"/queues/{id}")


def _people(caller: Caller, queue: Queue) -> tuple[str, ...]:
    """Those who may work on a queue."""
    if queue.reviewers or not caller.service.options.has_auth:
        return queue.reviewers or (LOCAL.name,)
    return tuple(user.name for user in caller.store.users.list() if user.role != "viewer")


def _undisputed(view: ItemView, reviews: tuple[Review, ...]) -> str:
    """The form filled in with the last ruling, or with what nobody disputes: the rest is for the lead to say."""
    reply = reply_of(view)
    if view.ruling is not None:
        return to_draft(view.ruling.grades, view.ruling.violations, view.ruling.reason, reply=reply)
    if not reviews:
        return ""
    first, disputed = reviews[0], {each.what for each in view.differences}
    grades = {
        name: grade for name, grade in first.grades.items() if len({review.grades.get(name) for review in reviews}) == 1
    }
    return to_draft(grades, () if "violations" in disputed else first.violations, "", reply=reply)
