"""Reviews of a queue's items: blind until submitted; drafts, undo, rulings."""

import json
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query
from starlette.responses import Response

from touchstone.app.review import ItemView, view_item
from touchstone.core.codec import case_to_dict, result_to_dict
from touchstone.review.queue import FINISHED, Item
from touchstone.review.review import Review, current
from touchstone.service import commands
from touchstone.service.api.answers import IdempotencyKey, Limit, carry_out, json_answer
from touchstone.service.api.examples import problems
from touchstone.service.api.queues import Place, QueueId, item_row
from touchstone.service.api.runs import without_labels
from touchstone.service.auth.guard import Lead, Reviewer
from touchstone.service.auth.principal import Principal
from touchstone.service.context import Here, now
from touchstone.service.shapes import NewReview, NewRuling

router = APIRouter(prefix="/v1", tags=["reviews"])
_Draft = Annotated[dict[str, Any], Body(examples=[{"grades": {"tone": 4}, "note": "…"}])]


@router.post(
    "/queues/{queue}/next",
    responses={204: {"description": "Nothing is left for you."}, **problems(404, 409, 422)},
)
def take_next(here: Here, who: Reviewer, queue: QueueId) -> Response:
    """The item you grade next, kept for you for half an hour; asking again gives the same one."""
    item = here.store.queues.next_item(queue, reviewer=who.name, now=now())
    if item is None:
        return Response(status_code=204)
    return json_answer(shown_item(view_item(here.store, queue, item.position), who))


@router.get("/queues/{queue}/items/{position}", responses=problems(404, 422))
def show_item(here: Here, who: Reviewer, queue: QueueId, position: Place) -> Response:
    """One item. The judge's result and other people's reviews are null until you have submitted yours."""
    return json_answer(shown_item(view_item(here.store, queue, position), who))


@router.post("/queues/{queue}/items/{position}/reviews", status_code=201, responses=problems(404, 409, 422))
def submit_review(
    here: Here, who: Reviewer, queue: QueueId, position: Place, *, content: NewReview, key: IdempotencyKey = None
) -> Response:
    """Submit a review. An edit names in `supersedes` the review of yours that it takes the place of."""
    view = view_item(here.store, queue, position)

    def submit(id: str) -> dict[str, Any]:
        submitted = commands.submit_review(here, who, view, content, id=id)
        return _kept_row(submitted.review.id, submitted.item)

    route = f"queues/{queue}/items/{position}/reviews"
    return carry_out(here, who, key, submit, route=route, content=content.model_dump())


@router.get("/queues/{queue}/reviews", responses=problems(404, 422))
def list_mine(
    here: Here,
    who: Reviewer,
    queue: QueueId,
    *,
    limit: Limit = 50,
    after: Annotated[str | None, Query(max_length=64, description="`next` of the page before.")] = None,
) -> Response:
    """Your reviews of the queue that stand, the newest first."""
    found = here.store.reviews.mine(queue, who.name, after=after, limit=limit + 1)
    page = found[:limit]
    more = page[-1].id if len(found) > limit else None
    return json_answer({"reviews": [_review_row(each) for each in page], "next": more})


@router.post("/queues/{queue}/reviews/{review}/withdraw", status_code=201, responses=problems(404, 409, 422))
def withdraw_review(
    here: Here,
    who: Reviewer,
    queue: QueueId,
    review: Annotated[str, Path(max_length=64)],
    key: IdempotencyKey = None,
) -> Response:
    """Take a review of yours back; that it was made is kept."""

    def withdraw(id: str) -> dict[str, Any]:
        withdrawn = commands.withdraw_review(here, who, queue, review, id=id)
        return _kept_row(withdrawn.review.id, withdrawn.item)

    return carry_out(here, who, key, withdraw, route=f"queues/{queue}/reviews/{review}/withdraw", content=None)


@router.get("/queues/{queue}/items/{position}/draft", responses=problems(404, 422))
def show_draft(here: Here, who: Reviewer, queue: QueueId, position: Place) -> Response:
    """What you have entered so far; null when there is nothing."""
    body = here.store.reviews.draft(queue, position, who.name)
    return json_answer({"draft": None if body is None else json.loads(body)})


@router.put("/queues/{queue}/items/{position}/draft", status_code=204, responses=problems(404, 422))
def save_draft(here: Here, who: Reviewer, queue: QueueId, position: Place, draft: _Draft) -> Response:
    """Keep what you have entered so far, for you alone."""
    commands.save_draft(here, who, queue, position, draft)
    return Response(status_code=204)


@router.post("/queues/{queue}/items/{position}/ruling", status_code=201, responses=problems(404, 409, 422))
def rule(
    here: Here, who: Lead, queue: QueueId, position: Place, *, content: NewRuling, key: IdempotencyKey = None
) -> Response:
    """Settle an item that people graded differently, with a reason."""
    view = view_item(here.store, queue, position)

    def settle(id: str) -> dict[str, Any]:
        return _kept_row(id, commands.rule(here, who, view, content, id=id))

    route = f"queues/{queue}/items/{position}/ruling"
    return carry_out(here, who, key, settle, route=route, content=content.model_dump())


def shown_item(view: ItemView, who: Principal) -> dict[str, Any]:
    """An item as this person may see it."""
    standing = current(view.reviews)
    own = [review for review in standing if review.reviewer == who.name]
    # A lead who adjudicates sees all once people are done; before that they may be one of the reviewers themselves.
    sees_all = bool(own) or (who.may("lead") and view.item.state in FINISHED | {"differs"})
    case = view.scored.case
    return {
        **item_row(view.item, who),
        "blind": not sees_all,
        "case_content": None if case is None else without_labels(case_to_dict(case)),
        "result": result_to_dict(view.scored.result) if sees_all else None,
        "mine": _review_row(own[0]) if own else None,
        "reviews": [_review_row(each) for each in standing] if sees_all else None,
        "differences": [asdict(each) for each in view.differences] if sees_all else None,
        "ruling": asdict(view.ruling) if sees_all and view.ruling else None,
        "waivers": [asdict(each) for each in view.waivers] if sees_all else None,
    }


def _review_row(review: Review) -> dict[str, Any]:
    return {**asdict(review), "grades": dict(review.grades)}


def _kept_row(id: str, item: Item) -> dict[str, Any]:
    return {"id": id, "queue": item.queue, "position": item.position, "state": item.state}
