"""Queues: made and closed by leads, worked on item by item; agreement and the weekly report of each."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from touchstone.app.review import agreement, weekly
from touchstone.report.weekly import weekly_to_dict
from touchstone.review.queue import Item, Queue, State
from touchstone.service import commands
from touchstone.service.api.answers import IdempotencyKey, Limit, carry_out, json_answer
from touchstone.service.api.examples import problems
from touchstone.service.auth.guard import Lead, Reviewer, Viewer
from touchstone.service.auth.principal import Principal
from touchstone.service.context import Here, Service, now
from touchstone.service.problems import Refusal
from touchstone.service.shapes import NewQueue
from touchstone.store.pages import NO_CURSOR

router = APIRouter(prefix="/v1/queues", tags=["queues"])
QueueId = Annotated[str, Path(max_length=64, description="The queue's id.")]
Place = Annotated[int, Path(ge=0, lt=2**31, description="The item's place in the queue.")]


@router.get("", responses=problems(422))
def list_queues(
    here: Here,
    who: Viewer,
    *,
    open: Annotated[bool, Query(description="Only those that take reviews.")] = False,
    limit: Limit = 50,
    after: Annotated[str | None, Query(max_length=64, description="`next` of the page before.")] = None,
) -> Response:
    """Queues, the newest first, each with its progress."""
    found = list(here.store.queues.list(open_only=open))
    ids = [queue.id for queue in found]
    if after is not None and after not in ids:
        raise Refusal(422, "invalid", NO_CURSOR)
    start = ids.index(after) + 1 if after else 0
    page = found[start : start + limit]
    more = page[-1].id if start + limit < len(found) else None
    return json_answer({"queues": [queue_row(here, queue) for queue in page], "next": more})


@router.post("", status_code=201, responses=problems(404, 409, 422))
def create_queue(here: Here, who: Lead, content: NewQueue, key: IdempotencyKey = None) -> Response:
    """Draw a sample of a run's replies: stratified by category, risky ones more often at a known probability."""

    def draw(id: str) -> dict[str, Any]:
        return queue_row(here, commands.make_queue(here, who, content, id=f"q-{id}"))

    return carry_out(here, who, key, draw, route="queues", content=content.model_dump())


@router.get("/{queue}", responses=problems(404, 422))
def show_queue(here: Here, who: Viewer, queue: QueueId) -> Response:
    """The queue, its progress and yours."""
    found = here.store.queues.get(queue)
    return json_answer({**queue_row(here, found), "mine": asdict(here.store.queues.progress_of(queue, who.name))})


@router.get("/{queue}/items", responses=problems(404, 422))
def list_items(
    here: Here,
    who: Viewer,
    queue: QueueId,
    *,
    state: Annotated[State | None, Query()] = None,
    limit: Limit = 50,
    after: Annotated[int, Query(ge=-1, lt=2**31, description="`next` of the page before.")] = -1,
) -> Response:
    """The queue's items in order."""
    found = here.store.queues.items(queue, state=state, after=after, limit=limit + 1)
    page = found[:limit]
    more = page[-1].position if len(found) > limit else None
    return json_answer({"items": [item_row(item, who) for item in page], "next": more})


@router.post("/{queue}/close", responses=problems(404))
def close_queue(here: Here, who: Lead, queue: QueueId) -> Response:
    """Take no more reviews. Those that were made stay; closing it twice changes nothing more."""
    return json_answer(queue_row(here, commands.close_queue(here, who, queue)))


@router.post("/{queue}/reopen", responses=problems(404))
def reopen_queue(here: Here, who: Lead, queue: QueueId) -> Response:
    """Take reviews again."""
    return json_answer(queue_row(here, commands.reopen_queue(here, who, queue)))


@router.get("/{queue}/agreement", responses=problems(404))
def show_agreement(here: Here, who: Lead, queue: QueueId) -> Response:
    """How far people agree with each other and with the judge."""
    people, judge = agreement(here.store, queue, now=now())
    return json_answer({"people": asdict(people), "judge": asdict(judge)})


@router.get("/{queue}/weekly", responses=problems(404))
def show_weekly(here: Here, who: Viewer, queue: QueueId) -> Response:
    """The weekly report: the pass rate of all replies corrected by the reviewed ones, agreement, patterns, actions."""
    return json_answer(weekly_to_dict(weekly(here.store, queue, now=now())))


@router.post("/{queue}/items/{position}/skip", status_code=204, responses=problems(404, 422))
def skip_item(here: Here, who: Reviewer, queue: QueueId, position: Place) -> Response:
    """Put an item off; it comes again when nothing else is left."""
    here.store.queues.skip(queue, position, reviewer=who.name, at=now())
    return Response(status_code=204)


def queue_row(here: Service, queue: Queue) -> dict[str, Any]:
    """A queue with how far it is."""
    progress = here.store.queues.progress(queue.id)
    return {
        **asdict(queue),
        "reviewers": list(queue.reviewers),
        "progress": {**asdict(progress), "items": progress.items, "finished": progress.finished},
    }


def item_row(item: Item, who: Principal) -> dict[str, Any]:
    """An item as lists show it. How likely it was drawn tells what the judge thought of it: that is for leads."""
    row = asdict(item)
    return row if who.may("lead") else {name: value for name, value in row.items() if name != "inclusion"}
