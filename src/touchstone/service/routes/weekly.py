"""A queue's review -> the weekly report as a page and as files; patterns, and what is done about each."""

import secrets
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from touchstone.app.audit import now
from touchstone.app.export import WEEKLY_RENDERERS
from touchstone.app.review import weekly
from touchstone.review.weekly import ActionState
from touchstone.runs.omissions import Owner
from touchstone.service import commands
from touchstone.service.answers import Writing, find_run, json_answer
from touchstone.service.blind import visible_run, visible_week
from touchstone.service.context import Lead, Viewer
from touchstone.service.pages.grading import SentForm
from touchstone.service.pages.render import go_to
from touchstone.service.problems import Refusal
from touchstone.service.routes.runs import run_name
from touchstone.service.schemas import answers
from touchstone.service.shapes import ChangedAction, NewAction, filled

router = APIRouter(prefix="/v1", tags=["patterns"])
pages = APIRouter(prefix="/weekly", include_in_schema=False)
_OWNERS: tuple[Owner, ...] = ("retrieval", "prompt", "policy", "tone guide", "bot safety")
_SHOWN = 8
_TYPES = {"html": "text/html", "csv": "text/csv", "jsonl": "application/x-ndjson"}


@router.get("/patterns", responses=answers("Patterns", 404, 422))
def list_patterns(caller: Viewer, run: Annotated[str, Query(max_length=200)] = "latest") -> Response:
    """What goes wrong in a run, each with the actions on it."""
    found = find_run(caller, run)
    actions = caller.store.actions.list()
    rows = [
        {**pattern, "actions": [asdict(each) for each in actions if each.pattern == pattern["name"]]}
        for pattern in visible_run(caller, found)["patterns"]
    ]
    return json_answer({"run": found.id, "patterns": rows})


@router.get("/actions", responses=answers("Actions", 422))
def list_actions(caller: Viewer, state: Annotated[ActionState | None, Query()] = None) -> Response:
    """Actions as they are now."""
    return json_answer({"actions": [asdict(action) for action in caller.store.actions.list(state=state)]})


@router.post("/actions", status_code=201, responses=answers("Action", 404, 409, 422, status=201))
def create_action(caller: Lead, content: NewAction, write: Writing) -> Response:
    """Decide what is done about a pattern, and who does it."""
    return write.once(caller, lambda id: asdict(commands.make_action(caller, content, id=id)))


@router.put("/actions/{action}", responses=answers("Action", 404, 409, 422))
def change_action(caller: Lead, action: Annotated[str, Path(max_length=64)], content: ChangedAction) -> Response:
    """Change an action; the earlier form is kept. A 409 says that somebody else was faster."""
    return json_answer(asdict(commands.change_action(caller, action, content)))


@pages.get("")
def reports(caller: Viewer) -> Response:
    """Every week has its report; they are listed together."""
    return go_to("/queues")


@pages.get("/{id}")
def report(caller: Viewer, id: str) -> Response:
    """The report of a queue."""
    found = visible_week(caller, weekly(caller.store, id, now=now()))
    run = caller.store.find_run(found.queue.run)
    return caller.show(
        "weekly.html",
        report=found,
        run=run,
        run_name=run_name(run),
        owners=_OWNERS,
        formats=_TYPES,
        first=[line for at, line in enumerate(found.patterns) if at < _SHOWN or line.actions],
        rest=[line for line in found.patterns[_SHOWN:] if not line.actions],
    )


@pages.post("/{id}/actions")
def keep_action(caller: Lead, id: str, form: SentForm) -> Response:
    """Keep what is to be done about a pattern, or that it is done."""
    said = {name: form.get(name) for name in ("owner", "text")}
    if action := form.get("action"):
        changed = filled(ChangedAction, revision=form.get("revision"), state=form.get("state"), **said)
        commands.change_action(caller, str(action), changed)
    else:
        run = caller.store.queues.get(id).run
        decided = filled(NewAction, pattern=form.get("pattern"), run=run, **said)
        commands.make_action(caller, decided, id=secrets.token_hex(8))
    return go_to(f"/weekly/{id}#patterns-h")


@pages.get("/{id}/export.{format}")
def export(caller: Viewer, id: str, format: str) -> Response:
    """The report as a file."""
    if format not in _TYPES:
        raise Refusal(404, "unknown", f"there is no .{format}: allowed are {', '.join(_TYPES)}")
    found = visible_week(caller, weekly(caller.store, id, now=now()))
    headers = {"Content-Disposition": f'attachment; filename="weekly-{found.made[:10]}.{format}"'}
    text = WEEKLY_RENDERERS[format](found)
    return Response(text.encode("utf-8", "replace"), media_type=_TYPES[format], headers=headers)
