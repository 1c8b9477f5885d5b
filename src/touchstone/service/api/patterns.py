"""Patterns and what is done about them; waivers of false violations; cases taken into a gold set."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from touchstone.report.run import run_to_dict
from touchstone.review.action import ActionState
from touchstone.service import commands
from touchstone.service.api.answers import IdempotencyKey, carry_out, find_run, json_answer
from touchstone.service.api.examples import problems
from touchstone.service.api.runs import RunName
from touchstone.service.auth.guard import Lead, Reviewer, Viewer
from touchstone.service.blind import veil_of, visible_run
from touchstone.service.context import Here
from touchstone.service.shapes import ChangedAction, NewAction, NewWaiver

router = APIRouter(prefix="/v1", tags=["patterns"])
_Position = Annotated[int, Path(ge=0, lt=2**31)]


@router.get("/patterns", responses=problems(404, 422))
def list_patterns(here: Here, who: Viewer, run: Annotated[str, Query(max_length=200)] = "latest") -> Response:
    """What goes wrong in a run, each with the actions on it."""
    found = find_run(here, run)
    actions = here.store.actions.list()
    rows = [
        {**pattern, "actions": [asdict(each) for each in actions if each.pattern == pattern["name"]]}
        for pattern in visible_run(run_to_dict(here.views.run(found)), veil_of(here, who, found.id))["patterns"]
    ]
    return json_answer({"run": found.id, "patterns": rows})


@router.get("/actions", responses=problems(422))
def list_actions(here: Here, who: Viewer, state: Annotated[ActionState | None, Query()] = None) -> Response:
    """Actions as they are now."""
    return json_answer({"actions": [asdict(action) for action in here.store.actions.list(state=state)]})


@router.post("/actions", status_code=201, responses=problems(404, 409, 422))
def create_action(here: Here, who: Lead, content: NewAction, key: IdempotencyKey = None) -> Response:
    """Decide what is done about a pattern, and who does it."""

    def create(id: str) -> dict[str, Any]:
        return asdict(commands.make_action(here, who, content, id=id))

    return carry_out(here, who, key, create, route="actions", content=content.model_dump())


@router.put("/actions/{action}", responses=problems(404, 409, 422))
def change_action(
    here: Here, who: Lead, action: Annotated[str, Path(max_length=64)], content: ChangedAction
) -> Response:
    """Change an action; the earlier form is kept. A 409 says that somebody else was faster."""
    return json_answer(asdict(commands.change_action(here, who, action, content)))


@router.post("/runs/{run}/results/{position}/waivers", status_code=201, responses=problems(404, 409, 422))
def waive(
    here: Here, who: Reviewer, run: RunName, position: _Position, *, content: NewWaiver, key: IdempotencyKey = None
) -> Response:
    """Waive a violation that is none, with a reason, or take that back; outcome, decision and figures follow."""
    found = find_run(here, run)

    def keep(id: str) -> dict[str, Any]:
        commands.waive(here, who, found.id, position, content, id=id)
        return {"id": id, "run": found.id, "position": position}

    route = f"runs/{found.id}/results/{position}/waivers"
    return carry_out(here, who, key, keep, route=route, content=content.model_dump())


@router.put("/runs/{run}/results/{position}/promotion", status_code=204, responses=problems(404, 422))
def promote(here: Here, who: Reviewer, run: RunName, position: _Position) -> Response:
    """Mark a case for the gold set; touchstone review export --what promoted writes them."""
    commands.promote(here, who, find_run(here, run).id, position)
    return Response(status_code=204)


@router.delete("/runs/{run}/results/{position}/promotion", status_code=204, responses=problems(404, 422))
def demote(here: Here, who: Reviewer, run: RunName, position: _Position) -> Response:
    """Take the mark away."""
    commands.demote(here, who, find_run(here, run).id, position)
    return Response(status_code=204)
