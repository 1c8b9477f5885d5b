"""A queue's review -> the weekly report as a page and as files; what is done about each pattern."""

import secrets
from typing import Annotated

from fastapi import APIRouter, Form, Request
from markupsafe import Markup
from starlette.responses import Response

from touchstone.app.review import weekly
from touchstone.app.weekly import WEEKLY_RENDERERS
from touchstone.core.errors import ReviewError
from touchstone.report.run.charts import rate_strip
from touchstone.report.weekly.view import weekly_view
from touchstone.review.action import Action
from touchstone.review.weekly import WeeklyReport
from touchstone.runs.record import Owner
from touchstone.service.audit import note
from touchstone.service.auth.guard import Lead, Viewer
from touchstone.service.clock import now
from touchstone.service.context import Here
from touchstone.service.keeping import kept
from touchstone.service.pages.overview import run_name
from touchstone.service.pages.render import go_to, show
from touchstone.service.problems import Refusal

router = APIRouter(include_in_schema=False)
OWNERS: tuple[Owner, ...] = ("retrieval", "prompt", "policy", "tone guide", "bot safety")
_Field = Annotated[str, Form(max_length=2_000)]
_SHOWN = 8
_TYPES = {"html": "text/html", "csv": "text/csv", "jsonl": "application/x-ndjson"}


@router.get("/weekly")
def reports(request: Request, here: Here, who: Viewer) -> Response:
    """The reports there are: one for each queue."""
    lines = [(queue, here.store.queues.progress(queue.id)) for queue in here.store.queues.list()]
    return show(request, "weekly_list.html", who=who, lines=lines)


@router.get("/weekly/{id}")
def report(request: Request, here: Here, who: Viewer, id: str) -> Response:
    """The report of a queue."""
    found = weekly(here.store, id, now=now())
    run = here.store.find_run(found.queue.run)
    return show(
        request,
        "weekly.html",
        who=who,
        report=found,
        run=run,
        run_name=run_name(run),
        owners=OWNERS,
        formats=_TYPES,
        strips=_strips(found),
        first=[line for at, line in enumerate(found.patterns) if at < _SHOWN or line.actions],
        rest=[line for line in found.patterns[_SHOWN:] if not line.actions],
    )


@router.post("/weekly/{id}/actions")
def keep_action(
    here: Here,
    who: Lead,
    id: str,
    *,
    pattern: _Field,
    owner: _Field,
    text: _Field,
    action: Annotated[str, Form(max_length=64)] = "",
    state: Annotated[str, Form(pattern="^(open|done)$")] = "open",
) -> Response:
    """Keep what is to be done about a pattern, or that it is done."""
    if not text.strip():
        raise ReviewError("an action says what is to be done: write it")
    before = here.store.actions.get(action) if action else None
    action_now = Action(
        id=before.id if before else secrets.token_hex(8),
        revision=before.revision + 1 if before else 1,
        pattern=pattern,
        owner=owner,
        text=kept(here, text.strip()),
        state="done" if state == "done" else "open",
        by=who.name,
        made=now(),
        run=before.run if before else here.store.queues.get(id).run,
    )
    here.store.actions.keep(action_now)
    note(here, who, f"action {action_now.state}", action_now.id)
    return go_to(f"/weekly/{id}#patterns-h")


@router.get("/weekly/{id}/export.{format}")
def export(here: Here, who: Viewer, id: str, format: str) -> Response:
    """The report as a file."""
    if format not in _TYPES:
        raise Refusal(404, "unknown", f"there is no .{format}: allowed are {', '.join(_TYPES)}")
    found = weekly(here.store, id, now=now())
    headers = {"Content-Disposition": f'attachment; filename="weekly-{found.made[:10]}.{format}"'}
    text = WEEKLY_RENDERERS[format](weekly_view(found))
    return Response(text.encode("utf-8", "replace"), media_type=_TYPES[format], headers=headers)


def _strips(found: WeeklyReport) -> dict[str, Markup]:
    """What the judge alone says and what holds for all replies, on lines from 0 to 100 %."""
    drawn = {
        "judged": rate_strip(found.judged_rate, None, name="judged", label="the judge's word"),
        "Pass": rate_strip(found.corrected.rate, found.corrected.interval, name="pass", label="all replies"),
        "Have a safety violation": rate_strip(
            found.unsafe.rate, found.unsafe.interval, name="unsafe", label="all replies"
        ),
    }
    return {name: Markup(svg) for name, svg in drawn.items()}
