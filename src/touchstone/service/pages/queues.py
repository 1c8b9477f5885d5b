"""Queues as a lead sees them: made, watched, differences ruled on, closed."""

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from touchstone.app.review import view_item, weekly
from touchstone.core.errors import ReviewError
from touchstone.review.queue import OVERSAMPLING, SIZE, STATES, Progress, Queue, State
from touchstone.review.review import current
from touchstone.service import commands
from touchstone.service.auth.guard import Lead
from touchstone.service.auth.principal import LOCAL, Principal
from touchstone.service.context import Here, now
from touchstone.service.pages.grading import Given, marks_of, read_form, to_draft
from touchstone.service.pages.overview import run_name
from touchstone.service.pages.render import go_to, show, wants_part
from touchstone.service.pages.review import form_values, reply_of, voices_of
from touchstone.service.shapes import NewQueue, NewRuling, filled

router = APIRouter(include_in_schema=False)
_Field = Annotated[str, Form()]
_PAGE = 100
# Rows of a file that could not be read and are named on the page it leads to.
_NAMED = 10
# A longer queue shows how far people agree in its weekly report alone.
_AGREEMENT_UP_TO = 500
STATE_NAMES: dict[State, str] = {
    "waiting": "waiting",
    "partly": "one review so far",
    "differs": "to be ruled on",
    "done": "done",
    "settled": "ruled on",
}


@router.get("/queues")
def list_queues(
    request: Request, here: Here, who: Lead, *, run: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """All queues, and the form that makes one, of the replies of `run` if it is named, with what it could not read."""
    lines = [(queue, here.store.queues.progress(queue.id)) for queue in here.store.queues.list()]
    every = (*here.store.list_runs(kind="production", limit=50), *here.store.list_runs(kind="goldset", limit=20))
    runs = [each for each in every if each.finished]
    people = [user for user in here.store.users.list() if user.role != "viewer" and not user.disabled]
    is_known = any(each.id == run for each in runs)
    return show(
        request,
        "queues.html",
        who=who,
        lines=[(queue, progress, draw_states(progress)) for queue, progress in lines],
        runs=[(each, run_name(each)) for each in runs],
        people=people if here.options.has_auth else (),
        chosen=run,
        unread=here.store.replies.unread(run, limit=_NAMED) if is_known else None,
        rows=here.store.replies.count(run) if is_known else 0,
        size=SIZE,
        oversampling=OVERSAMPLING,
    )


@router.post("/queues")
def make_queue(
    here: Here,
    who: Lead,
    *,
    run: _Field,
    name: _Field = "",
    size: _Field = "",
    needed: _Field = "",
    oversampling: _Field = "",
    seed: _Field = "",
    reviewers: Annotated[list[str] | None, Form()] = None,
) -> Response:
    """Draw a queue from a run."""
    wanted = filled(
        NewQueue,
        run=run,
        name=name,
        size=size,
        needed=needed,
        oversampling=oversampling,
        seed=seed,
        reviewers=reviewers,
    )
    queue = commands.make_queue(here, who, wanted, id=f"q-{secrets.token_hex(4)}")
    return go_to(f"/queues/{queue.id}")


@router.get("/queues/{id}")
def show_queue(
    request: Request,
    here: Here,
    who: Lead,
    id: str,
    *,
    state: Annotated[State | None, Query()] = None,
    after: Annotated[int, Query(ge=-1, lt=2**31)] = -1,
) -> Response:
    """How far a queue is, who did what, where people differ and how far they agree."""
    queue = here.store.queues.get(id)
    progress = here.store.queues.progress(id)
    if wants_part(request, "progress"):
        return show(request, "queue_progress.html", who=who, **_progress(here, queue, progress))
    items = here.store.queues.items(id, state=state, after=after, limit=_PAGE + 1)
    has_report = bool(progress.reviewed or progress.partly) and progress.items <= _AGREEMENT_UP_TO
    report = weekly(here.store, id, now=now()) if has_report else None
    return show(
        request,
        "queue.html",
        who=who,
        run=here.store.find_run(queue.run),
        run_name=run_name(here.store.find_run(queue.run)),
        items=items[:_PAGE],
        more=items[_PAGE - 1].position if len(items) > _PAGE else None,
        state=state,
        report=report,
        differing=next(iter(here.store.queues.items(id, state="differs", limit=1)), None),
        **_progress(here, queue, progress),
    )


@router.post("/queues/{id}/close")
def close(here: Here, who: Lead, id: str) -> Response:
    """Take no more reviews."""
    commands.close_queue(here, who, id)
    return go_to(f"/queues/{id}")


@router.post("/queues/{id}/reopen")
def reopen(here: Here, who: Lead, id: str) -> Response:
    """Take reviews again."""
    commands.reopen_queue(here, who, id)
    return go_to(f"/queues/{id}")


@router.get("/queues/{id}/items/{position}")
def show_item(request: Request, here: Here, who: Lead, id: str, position: int, *, full: bool = False) -> Response:
    """What everybody said about a reply, and the form of a ruling."""
    view = view_item(here.store, id, position)
    reviews = current(view.reviews)
    filled = ""
    if view.ruling is not None:
        filled = to_draft(Given(view.ruling.grades, view.ruling.violations, view.ruling.reason), reply=reply_of(view))
    elif reviews:
        # What nobody disputes is filled in; the rest is for the lead to say.
        disputed = {each.what for each in view.differences}
        grades = {name: grade for name, grade in reviews[0].grades.items() if _is_shared(name, reviews)}
        violations = () if "violations" in disputed else reviews[0].violations
        filled = to_draft(Given(grades, violations, ""), reply=reply_of(view))
    return show(
        request,
        "ruling.html",
        who=who,
        **form_values(view, full=full),
        voices=voices_of(view),
        differences=view.differences,
        criteria=[criterion.name for criterion in view.rubric.criteria],
        filled=filled,
        id=secrets.token_hex(8),
        is_ruled=view.ruling is not None,
        has_reviews=bool(reviews),
        states=STATE_NAMES,
    )


@router.post("/queues/{id}/items/{position}")
async def rule(request: Request, here: Here, who: Lead, id: str, position: int) -> Response:
    """Keep a ruling, and go on to the next difference."""
    form = await request.form()
    return await run_in_threadpool(_rule, here, who, id, position, form)


@router.get("/queues/{id}/differences")
def next_difference(here: Here, who: Lead, id: str) -> Response:
    """To the next reply that needs a ruling, or back to the queue."""
    found = here.store.queues.items(id, state="differs", limit=1)
    return go_to(f"/queues/{id}/items/{found[0].position}" if found else f"/queues/{id}")


def draw_states(progress: Progress) -> Markup:
    """How many items are in each state, as one bar."""
    parts, start = [], 0.0
    for state in ("settled", "done", "differs", "partly", "waiting"):
        wide = 100 * getattr(progress, state) / max(progress.items, 1)
        if wide:
            place = f'x="{start:.2f}%" width="{wide:.2f}%" y="0" height="100%"'
            parts.append(f'<rect {place} class="{state}"/>')
        start += wide
    said = ", ".join(f"{getattr(progress, state)} {STATE_NAMES[state]}" for state in STATES)
    return Markup(f'<svg class="states" role="img" aria-label="{said}">{"".join(parts)}</svg>')


def _progress(here: Here, queue: Queue, progress: Progress) -> dict[str, Any]:
    mine = {name: here.store.queues.progress_of(queue.id, name) for name in _people(here, queue)}
    return {
        "queue": queue,
        "progress": progress,
        "bar": draw_states(progress),
        "states": STATE_NAMES,
        "people": [(name, found) for name, found in mine.items() if found.done or name in queue.reviewers],
    }


def _people(here: Here, queue: Queue) -> tuple[str, ...]:
    """Those who may work on a queue."""
    if queue.reviewers or not here.options.has_auth:
        return queue.reviewers or (LOCAL.name,)
    return tuple(user.name for user in here.store.users.list() if user.role != "viewer")


def _rule(here: Here, who: Principal, id: str, position: int, form: Any) -> Response:
    view = view_item(here.store, id, position)
    given = read_form(form, rubric=view.rubric, reply=reply_of(view))
    ruling = filled(NewRuling, grades=given.grades, violations=marks_of(given), reason=given.note)
    commands.rule(here, who, view, ruling, id=_submission_id(form.get("id")))
    return go_to(f"/queues/{id}/differences")


def _is_shared(name: str, reviews: tuple[Any, ...]) -> bool:
    return len({review.grades.get(name) for review in reviews}) == 1


def _submission_id(given: Any) -> str:
    """The id a form came with, so that a ruling sent twice counts once."""
    text = str(given or "")
    if not text.isalnum() or len(text) > 64:
        raise ReviewError("the submission has no id: load the page again")
    return text
