"""The audit log: who did what and when."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from touchstone.service.api.answers import Limit, json_answer
from touchstone.service.api.examples import problems
from touchstone.service.auth.guard import Lead
from touchstone.service.context import Here

router = APIRouter(prefix="/v1/audit", tags=["audit"])


@router.get("", responses=problems(422))
def list_entries(
    here: Here,
    who: Lead,
    *,
    person: Annotated[str | None, Query(max_length=200, description="Only what this person did.")] = None,
    limit: Limit = 50,
    after: Annotated[int | None, Query(ge=1, lt=2**31, description="`next` of the page before.")] = None,
) -> Response:
    """Logins, queues, rulings, waivers, labels, deletions and actions, the newest first."""
    found = here.store.audit.page(before=after, limit=limit + 1, who=person)
    page = found[:limit]
    more = page[-1].number if len(found) > limit else None
    return json_answer({"entries": [asdict(entry) for entry in page], "next": more})
