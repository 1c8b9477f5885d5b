"""The service itself: whether it lives, whether it can work, its figures, and who did what in it."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from touchstone import __version__
from touchstone.core.errors import StoreError
from touchstone.service.api.answers import Limit, json_answer
from touchstone.service.api.examples import problems
from touchstone.service.auth.guard import Lead, Viewer
from touchstone.service.context import Here, Service

router = APIRouter(tags=["health"])
audit = APIRouter(prefix="/v1/audit", tags=["audit"])
_FORMAT = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/healthz")
async def live() -> dict[str, str]:
    """Whether the process answers. Open to everybody."""
    return {"status": "ok", "version": __version__}


@router.get("/readyz", responses={503: {"description": "Not ready: a check is not `ok`."}})
async def ready(here: Here) -> JSONResponse:
    """Whether cases can be scored soon and the store can be used. Open to everybody."""
    checks = {
        "scoring": _scoring(here),
        "store": await run_in_threadpool(_store, here),
    }
    is_ready = set(checks.values()) == {"ok"}
    return JSONResponse({"status": "ok" if is_ready else "not ready", **checks}, 200 if is_ready else 503)


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"description": "Figures in Prometheus's format.", "content": {"text/plain": {}}},
        **problems(),
    },
)
async def metrics(here: Here, who: Viewer) -> Response:
    """Counts and times for Prometheus: no text, no name."""
    return Response(here.meters.text(), headers={"Content-Type": _FORMAT})


@audit.get("", responses=problems(422))
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


def _scoring(here: Service) -> str:
    if not here.scorer.is_ready:
        return "starting"
    return "ok" if here.scorer.lag <= here.options.ready_seconds else "behind"


def _store(here: Service) -> str:
    try:
        here.store.check()
    except StoreError:
        return "cannot be used"
    return "ok"
