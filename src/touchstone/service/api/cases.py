"""A case -> what became of it in every run."""

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from touchstone.service.api.answers import After, Limit, asking, json_answer
from touchstone.service.api.examples import problems
from touchstone.service.api.runs import run_row
from touchstone.service.auth.guard import Viewer
from touchstone.service.blind import veil_of, visible_record
from touchstone.service.context import Here
from touchstone.service.problems import Refusal
from touchstone.store.pages import NO_CURSOR

router = APIRouter(prefix="/v1/cases", tags=["cases"])


@router.get("/{case:path}", responses=problems(404, 422))
def show_case(
    here: Here,
    who: Viewer,
    case: Annotated[str, Path(max_length=500, description="The case's id.")],
    *,
    limit: Limit = 50,
    after: After = None,
) -> Response:
    """The case's results in every run, the newest first."""
    with asking(here, NO_CURSOR, status=422, kind="invalid"):
        found = here.store.history(case, after=after, limit=limit + 1)
    past = found[:limit]
    if not past and after is None:
        raise Refusal(404, "unknown", f"no run holds the case '{case}': GET /v1/runs/latest/results lists ids")
    veils = {id: veil_of(here, who, id) for id in {each.run.id for each in past}}
    rows = [
        {
            "run": run_row(each.run),
            "position": each.position,
            **visible_record(each.record, is_blind=each.position in veils[each.run.id].positions),
        }
        for each in past
    ]
    return json_answer({"id": case, "history": rows, "next": past[-1].cursor if len(found) > limit else None})
