"""A queue's review -> the weekly report as a page and as files; what is done about each pattern."""

import secrets
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from touchstone.app.export import WEEKLY_RENDERERS
from touchstone.app.review import weekly
from touchstone.runs.record import Owner
from touchstone.service import commands
from touchstone.service.auth.guard import Lead, Viewer
from touchstone.service.context import Here, now
from touchstone.service.pages.overview import run_name
from touchstone.service.pages.render import go_to, show
from touchstone.service.problems import Refusal
from touchstone.service.shapes import ChangedAction, NewAction, filled

router = APIRouter(include_in_schema=False)
OWNERS: tuple[Owner, ...] = ("retrieval", "prompt", "policy", "tone guide", "bot safety")
_Field = Annotated[str, Form()]
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
        first=[line for at, line in enumerate(found.patterns) if at < _SHOWN or line.actions],
        rest=[line for line in found.patterns[_SHOWN:] if not line.actions],
    )


@router.post("/weekly/{id}/actions")
def keep_action(
    here: Here,
    who: Lead,
    id: str,
    *,
    owner: _Field,
    text: _Field,
    pattern: _Field = "",
    action: _Field = "",
    revision: _Field = "",
    state: _Field = "",
) -> Response:
    """Keep what is to be done about a pattern, or that it is done."""
    if action:
        changed = filled(ChangedAction, revision=revision, owner=owner, text=text, state=state)
        commands.change_action(here, who, action, changed)
    else:
        run = here.store.queues.get(id).run
        decided = filled(NewAction, pattern=pattern, owner=owner, text=text, run=run)
        commands.make_action(here, who, decided, id=secrets.token_hex(8))
    return go_to(f"/weekly/{id}#patterns-h")


@router.get("/weekly/{id}/export.{format}")
def export(here: Here, who: Viewer, id: str, format: str) -> Response:
    """The report as a file."""
    if format not in _TYPES:
        raise Refusal(404, "unknown", f"there is no .{format}: allowed are {', '.join(_TYPES)}")
    found = weekly(here.store, id, now=now())
    headers = {"Content-Disposition": f'attachment; filename="weekly-{found.made[:10]}.{format}"'}
    text = WEEKLY_RENDERERS[format](found)
    return Response(text.encode("utf-8", "replace"), media_type=_TYPES[format], headers=headers)
