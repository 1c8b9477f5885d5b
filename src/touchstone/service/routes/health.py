"""The service itself: whether it lives, whether it can work, and its figures."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from touchstone import __version__
from touchstone.core.errors import StoreError
from touchstone.service.context import Here, Service, Viewer
from touchstone.service.schemas import open_to_all, problems

router = APIRouter(tags=["health"])
_FORMAT = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/healthz", response_model=None, responses=open_to_all("Health"))
async def show_health() -> dict[str, str]:
    """Whether the process answers. Open to everybody."""
    return {"status": "ok", "version": __version__}


@router.get("/readyz", responses=open_to_all("Readiness", 503))
async def show_readiness(here: Here) -> JSONResponse:
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
async def show_metrics(caller: Viewer) -> Response:
    """Counts and times for Prometheus: no text, no name."""
    return Response(caller.service.meters.text(), headers={"Content-Type": _FORMAT})


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
