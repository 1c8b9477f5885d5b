"""Reviews of a queue's items, one reply at a time: blind until submitted; drafts, edits, undo.

On the pages, what the judge and the others said is shown side by side once a review is in.
"""

import json
import secrets
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Body, Form, Path, Query
from starlette.responses import Response

from touchstone.app.audit import now
from touchstone.app.review import ItemView, view_item
from touchstone.app.rubrics import rubric_of
from touchstone.core.codec import case_to_dict, result_to_dict
from touchstone.report.explain import explain
from touchstone.review.queue import FINISHED
from touchstone.review.review import Review, current, grading_of
from touchstone.service import commands
from touchstone.service.answers import Limit, Writing, json_answer, listed
from touchstone.service.context import Caller, Reviewer
from touchstone.service.pages.grading import SentForm, form_values, read_draft, read_form, reply_of, to_draft, voices_of
from touchstone.service.pages.render import go_to
from touchstone.service.pages.sources import sources_of
from touchstone.service.routes.queues import Place, QueueId, item_row, item_state
from touchstone.service.routes.runs import without_labels
from touchstone.service.schemas import answers, problems
from touchstone.service.shapes import NewReview, filled

router = APIRouter(prefix="/v1/queues/{queue}", tags=["reviews"])
pages = APIRouter(prefix="/review", include_in_schema=False)
_Draft = Annotated[dict[str, Any], Body(examples=[{"grades": {"tone": 4}, "note": "…"}])]
_DAY_SECONDS = 86_400


@router.post(
    "/next", responses={204: {"description": "Nothing is left for you."}, **answers("ItemToReview", 404, 409, 422)}
)
def take_next_item(caller: Reviewer, queue: QueueId) -> Response:
    """The item you grade next, kept for you for half an hour; asking again gives the same one."""
    item = caller.store.queues.next_item(queue, reviewer=caller.name, now=now())
    if item is None:
        return Response(status_code=204)
    return json_answer(shown_item(view_item(caller.store, queue, item.position), caller))


@router.get("/items/{position}", responses=answers("ItemToReview", 404, 422))
def show_item(caller: Reviewer, queue: QueueId, position: Place) -> Response:
    """One item. The judge's result and other people's reviews are null until you have submitted yours."""
    return json_answer(shown_item(view_item(caller.store, queue, position), caller))


@router.post("/items/{position}/reviews", status_code=201, responses=answers("ItemState", 404, 409, 422, status=201))
def submit_review(caller: Reviewer, queue: QueueId, position: Place, *, content: NewReview, write: Writing) -> Response:
    """Submit a review. An edit names in `supersedes` the review of yours that it takes the place of."""
    view = view_item(caller.store, queue, position)

    def submit(id: str) -> dict[str, Any]:
        submitted = commands.submit_review(caller, view, content, id=id)
        return item_state(submitted.review.id, submitted.item)

    return write.once(caller, submit)


@router.get("/reviews", responses=answers("Reviews", 404, 422))
def list_my_reviews(
    caller: Reviewer,
    queue: QueueId,
    *,
    limit: Limit = 50,
    after: Annotated[str | None, Query(max_length=64, description="`next` of the page before.")] = None,
) -> Response:
    """Your reviews of the queue that stand, the newest first."""
    found = caller.store.reviews.mine(queue, caller.name, after=after, limit=limit + 1)
    return listed("reviews", found, limit, row=_review_row, cursor=lambda each: each.id)


@router.post("/reviews/{review}/withdraw", status_code=201, responses=answers("ItemState", 404, 409, 422, status=201))
def withdraw_review(
    caller: Reviewer, queue: QueueId, review: Annotated[str, Path(max_length=64)], write: Writing
) -> Response:
    """Take a review of yours back; that it was made is kept."""

    def withdraw(id: str) -> dict[str, Any]:
        withdrawn = commands.withdraw_review(caller, queue, review, id=id)
        return item_state(withdrawn.review.id, withdrawn.item)

    return write.once(caller, withdraw)


@router.get("/items/{position}/draft", responses=answers("Draft", 404, 422))
def show_draft(caller: Reviewer, queue: QueueId, position: Place) -> Response:
    """What you have entered so far; null when there is nothing."""
    body = caller.store.reviews.draft(queue, position, caller.name)
    return json_answer({"draft": None if body is None else json.loads(body)})


@router.put("/items/{position}/draft", status_code=204, responses=problems(404, 422))
def save_draft(caller: Reviewer, queue: QueueId, position: Place, draft: _Draft) -> Response:
    """Keep what you have entered so far, for you alone."""
    commands.save_draft(caller, queue, position, draft)
    return Response(status_code=204)


def shown_item(view: ItemView, caller: Caller) -> dict[str, Any]:
    """An item as this person may see it."""
    standing = current(view.reviews)
    mine = _mine(view, caller)
    # A lead who adjudicates sees all once people are done; before that they may be one of the reviewers themselves.
    sees_all = bool(mine) or (caller.user.may("lead") and view.item.state in FINISHED | {"differs"})
    case = view.scored.case
    return {
        **item_row(view.item, caller),
        "blind": not sees_all,
        "case_content": None if case is None else without_labels(case_to_dict(case)),
        "result": result_to_dict(view.scored.result) if sees_all else None,
        "mine": _review_row(mine) if mine else None,
        "reviews": [_review_row(each) for each in standing] if sees_all else None,
        "differences": [asdict(each) for each in view.differences] if sees_all else None,
        "ruling": asdict(view.ruling) if sees_all and view.ruling else None,
        "waivers": [asdict(each) for each in view.waivers] if sees_all else None,
    }


def _review_row(review: Review) -> dict[str, Any]:
    return {**asdict(review), "grades": dict(review.grades)}


def _mine(view: ItemView, caller: Caller) -> Review | None:
    return next((each for each in current(view.reviews) if each.reviewer == caller.name), None)


@pages.get("")
def weeks(caller: Reviewer) -> Response:
    """What there is to grade is listed with the weeks."""
    return go_to("/queues")


@pages.get("/{queue}")
def next_page(caller: Reviewer, queue: str) -> Response:
    """To the reply that is next, or the page that says all is done."""
    item = caller.store.queues.next_item(queue, reviewer=caller.name, now=now())
    if item is not None:
        return go_to(f"/review/{queue}/{item.position}")
    found = caller.store.queues.get(queue)
    mine = caller.store.reviews.mine(queue, caller.name, limit=200)
    rubric = rubric_of(caller.store, found.run)
    done = [(each, grading_of(each, rubric=rubric)) for each in current(reversed(mine))]
    return caller.show("review_done.html", queue=found, done=done, progress=_progress(caller, queue))


@pages.get("/{queue}/{position}")
def review_page(caller: Reviewer, queue: str, position: int, *, edit: bool = False, full: bool = False) -> Response:
    """The form; once submitted, the comparison with the judge and the others."""
    with caller.store.reading():
        view = _open(caller, queue, position)
        mine = _mine(view, caller)
        progress = _progress(caller, queue)
        draft = caller.store.reviews.draft(queue, position, caller.name)
        is_promoted = caller.store.marks.is_promoted(view.queue.run, view.item.result)
    if mine is not None and not edit:
        case, result = view.scored.case, view.scored.result
        return caller.show(
            "reviewed.html",
            queue=view.queue,
            item=view.item,
            mine=mine,
            voices=voices_of(view, first=caller.name),
            criteria=[criterion.name for criterion in view.rubric.criteria],
            explanation=explain(case, result) if case else None,
            sources=sources_of(case, result) if case else (),
            has_context=case is not None and case.context is not None,
            progress=progress,
            is_promoted=is_promoted,
            others_open=view.queue.needed - len(current(view.reviews)),
        )
    return caller.show(
        "review.html",
        **form_values(view, full=full),
        progress=progress,
        draft=draft or (_draft_of(mine, view) if mine else ""),
        id=secrets.token_hex(8),
        supersedes=mine.id if mine else "",
        waits=view.queue.closed is not None,
    )


@pages.post("/{queue}/{position}")
def submit_on_page(caller: Reviewer, queue: str, position: int, sent: SentForm) -> Response:
    """Keep the review. Sent twice it counts once; sent again with other grades it is refused."""
    view = _open(caller, queue, position)
    given = read_form(sent, rubric=view.rubric, reply=reply_of(view))
    about = {"id": sent.get("id"), "supersedes": sent.get("supersedes"), "seconds": _seconds(sent.get("seconds"))}
    commands.submit_review(caller, view, filled(NewReview, **given, **about), id=secrets.token_hex(8))
    return go_to(f"/review/{queue}/{position}")


@pages.post("/{queue}/{position}/draft")
def save_on_page(caller: Reviewer, queue: str, position: int, *, body: Annotated[str, Form()] = "") -> Response:
    """Keep what is filled in so far."""
    commands.save_draft(caller, queue, position, read_draft(body))
    return Response(status_code=204)


@pages.post("/{queue}/{position}/skip")
def skip(caller: Reviewer, queue: str, position: int) -> Response:
    """Put the reply off; it comes again at the end."""
    commands.skip(caller, queue, position)
    return go_to(f"/review/{queue}")


@pages.post("/{queue}/{position}/undo")
def undo(caller: Reviewer, queue: str, position: int) -> Response:
    """Take my review back, and fill the form with what it said."""
    view = _open(caller, queue, position)
    mine = _mine(view, caller)
    if mine is not None:
        commands.withdraw_review(caller, queue, mine.id, id=secrets.token_hex(8))
        commands.save_draft(caller, queue, position, read_draft(_draft_of(mine, view)))
    return go_to(f"/review/{queue}/{position}")


def _open(caller: Caller, queue: str, position: int) -> ItemView:
    """The item, if this person may review it."""
    view = view_item(caller.store, queue, position)
    commands.check_reviewer(caller, view.queue)
    return view


def _draft_of(mine: Review, view: ItemView) -> str:
    return to_draft(mine.grades, mine.violations, mine.note, reply=reply_of(view))


def _progress(caller: Caller, queue: str) -> Any:
    return caller.store.queues.progress_of(queue, caller.name)


def _seconds(given: Any) -> float | None:
    """How long it took, by the form's script; what it cannot have counted is not known."""
    try:
        seconds = float(str(given))
    except ValueError:
        return None
    return seconds if 0 <= seconds < _DAY_SECONDS else None
