"""My queue -> one reply at a time, graded blind; then what the judge and the others said, side by side."""

import secrets
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from touchstone.app.review import ItemView, rubric_of, view_item
from touchstone.core.result import Grading
from touchstone.report.explain import explain
from touchstone.report.figures import points
from touchstone.report.plain import plain
from touchstone.review.adjudication import ruling_grading
from touchstone.review.review import Review, current, grading_of
from touchstone.rubric.card import conventions
from touchstone.service.auth.guard import Reviewer
from touchstone.service.auth.principal import Principal
from touchstone.service.commands import check_reviewer, save_draft, submit_review, withdraw_review
from touchstone.service.context import Here, now
from touchstone.service.pages.grading import Given, marks_of, read_draft, read_form, scales_of, shown_grades, to_draft
from touchstone.service.pages.render import go_to, show
from touchstone.service.pages.sources import MOST_REPLY, sources_of
from touchstone.service.shapes import NewReview, filled

router = APIRouter(include_in_schema=False)


@router.get("/review")
def my_queues(request: Request, here: Here, who: Reviewer) -> Response:
    """The queues that are open to this person."""
    queues = here.store.queues.list(open_only=True, reviewer=who.name)
    lines = [(queue, here.store.queues.progress_of(queue.id, who.name)) for queue in queues]
    return show(request, "my_queues.html", who=who, lines=lines)


@router.get("/review/{queue}")
def go_on(request: Request, here: Here, who: Reviewer, queue: str) -> Response:
    """To the reply that is next, or the page that says all is done."""
    item = here.store.queues.next_item(queue, reviewer=who.name, now=now())
    if item is not None:
        return go_to(f"/review/{queue}/{item.position}")
    found = here.store.queues.get(queue)
    mine = here.store.reviews.mine(queue, who.name, limit=200)
    rubric = rubric_of(here.store, found.run)
    done = [(each, grading_of(each, rubric=rubric)) for each in current(reversed(mine))]
    return show(request, "review_done.html", who=who, queue=found, done=done, progress=_progress(here, who, queue))


@router.get("/review/{queue}/{position}")
def show_item(
    request: Request, here: Here, who: Reviewer, queue: str, position: int, *, edit: bool = False, full: bool = False
) -> Response:
    """The form; once submitted, the comparison with the judge and the others."""
    view = _open(here, who, queue, position)
    mine = _mine(view, who)
    if mine is not None and not edit:
        return _compared(request, here, who, view, mine)
    draft = here.store.reviews.draft(queue, position, who.name)
    if draft is None and mine is not None:
        draft = to_draft(Given(mine.grades, mine.violations, mine.note), reply=reply_of(view))
    return show(
        request,
        "review.html",
        who=who,
        **form_values(view, full=full),
        progress=_progress(here, who, queue),
        draft=draft or "",
        id=secrets.token_hex(8),
        supersedes=mine.id if mine else "",
        waits=view.queue.closed is not None,
    )


@router.post("/review/{queue}/{position}")
async def submit(request: Request, here: Here, who: Reviewer, queue: str, position: int) -> Response:
    """Keep the review. Sent twice it counts once; sent again with other grades it is refused."""
    from starlette.concurrency import run_in_threadpool

    form = await request.form()
    return await run_in_threadpool(_submit, here, who, queue, position, form)


@router.post("/review/{queue}/{position}/draft")
def save(here: Here, who: Reviewer, queue: str, position: int, *, body: Annotated[str, Form()] = "") -> Response:
    """Keep what is filled in so far."""
    save_draft(here, who, queue, position, read_draft(body))
    return Response(status_code=204)


@router.post("/review/{queue}/{position}/skip")
def skip(here: Here, who: Reviewer, queue: str, position: int) -> Response:
    """Put the reply off; it comes again at the end."""
    here.store.queues.skip(queue, position, reviewer=who.name, at=now())
    return go_to(f"/review/{queue}")


@router.post("/review/{queue}/{position}/undo")
def undo(here: Here, who: Reviewer, queue: str, position: int) -> Response:
    """Take my review back, and fill the form with what it said."""
    view = _open(here, who, queue, position)
    mine = _mine(view, who)
    if mine is not None:
        withdraw_review(here, who, queue, mine.id, id=secrets.token_hex(8))
        draft = to_draft(Given(mine.grades, mine.violations, mine.note), reply=reply_of(view))
        save_draft(here, who, queue, position, read_draft(draft))
    return go_to(f"/review/{queue}/{position}")


def form_values(view: ItemView, *, full: bool) -> dict[str, Any]:
    """What a form that grades a reply shows: the conversation, the sources and the scales, nothing of the judge."""
    case = view.scored.case
    reply = reply_of(view)
    most = len(reply) if full else MOST_REPLY
    return {
        "queue": view.queue,
        "item": view.item,
        "reply": plain(reply[:most]),
        "is_cut": len(reply) > most,
        "sources": sources_of(case, None, is_whole=full) if case else (),
        "has_context": case is not None and case.context is not None,
        "scales": scales_of(view.rubric),
        "kinds": tuple(view.rubric.violations.items()),
        "conventions": conventions(view.rubric),
        "conventions_version": view.rubric.conventions.version,
    }


def _submit(here: Here, who: Principal, queue: str, position: int, form: Any) -> Response:
    view = _open(here, who, queue, position)
    given = read_form(form, rubric=view.rubric, reply=reply_of(view))
    review = filled(
        NewReview,
        id=form.get("id"),
        grades=given.grades,
        violations=marks_of(given),
        note=given.note,
        supersedes=form.get("supersedes"),
        seconds=_seconds(form.get("seconds")),
    )
    submit_review(here, who, view, review, id=secrets.token_hex(8))
    return go_to(f"/review/{queue}/{position}")


@dataclass(frozen=True, slots=True)
class Voice:
    """What one of those who graded a reply said."""

    name: str
    grades: dict[str, str]
    total: str
    outcome: str
    violations: tuple[str, ...]
    note: str


def voices_of(view: ItemView, *, first: str | None = None) -> list[Voice]:
    """Everybody's word on a reply: the person's own first, then the other people, the judge and the ruling."""
    ordered = sorted(current(view.reviews), key=lambda each: (each.reviewer != first, each.made))
    voices = [
        _voice("You" if each.reviewer == first else each.reviewer, grading_of(each, rubric=view.rubric), each.note)
        for each in ordered
    ]
    if view.scored.result.rubric is not None:
        voices.append(_voice("Judge", view.scored.result.rubric, ""))
    if view.ruling is not None:
        grading = ruling_grading(view.ruling, rubric=view.rubric)
        voices.append(_voice(f"Ruling by {view.ruling.by}", grading, view.ruling.reason))
    return voices


def _compared(request: Request, here: Here, who: Principal, view: ItemView, mine: Review) -> Response:
    case, scored = view.scored.case, view.scored
    return show(
        request,
        "reviewed.html",
        who=who,
        queue=view.queue,
        item=view.item,
        mine=mine,
        voices=voices_of(view, first=who.name),
        criteria=[criterion.name for criterion in view.rubric.criteria],
        explanation=explain(case, scored.result) if case else None,
        sources=sources_of(case, scored.result) if case else (),
        has_context=case is not None and case.context is not None,
        progress=_progress(here, who, view.queue.id),
        is_promoted=here.store.marks.is_promoted(view.queue.run, view.item.result),
        others_open=view.queue.needed - len(current(view.reviews)),
    )


def _voice(name: str, grading: Grading, note: str) -> Voice:
    return Voice(
        name,
        shown_grades({grade.criterion: grade.grade for grade in grading.grades}),
        points(grading.total),
        grading.outcome or "not scored",
        tuple(dict.fromkeys(violation.kind for violation in grading.violations)),
        note,
    )


def _open(here: Here, who: Principal, queue: str, position: int) -> ItemView:
    """The item, if this person may review it."""
    view = view_item(here.store, queue, position)
    check_reviewer(who, view.queue)
    return view


def _mine(view: ItemView, who: Principal) -> Review | None:
    return next((each for each in current(view.reviews) if each.reviewer == who.name), None)


def reply_of(view: ItemView) -> str:
    """The reply as it was given; empty when its text was erased."""
    return view.scored.case.response if view.scored.case else ""


def _progress(here: Here, who: Principal, queue: str) -> Any:
    return here.store.queues.progress_of(queue, who.name)


def _seconds(given: Any) -> float | None:
    try:
        seconds = float(str(given))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None
