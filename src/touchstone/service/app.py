"""The service's parts -> one ASGI application: the API under /v1, the pages, health and figures."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.middleware import Middleware

from touchstone import __version__
from touchstone.app.config import Settings
from touchstone.service import login
from touchstone.service.answers import check_query
from touchstone.service.context import Service
from touchstone.service.edge import Edge, install_problems
from touchstone.service.figures import RunCache
from touchstone.service.limits import BodyLimit, Rates
from touchstone.service.options import RATE_UNDER_AUTH, Options, check_options
from touchstone.service.pages import render
from touchstone.service.routes import (
    account,
    cases,
    health,
    learning,
    overview,
    production,
    queues,
    reference,
    reviews,
    rubrics,
    runs,
    score,
    uploads,
    users,
    week,
    weekly,
)
from touchstone.service.schemas import problems
from touchstone.service.scoring.scorer import Scorer
from touchstone.service.telemetry import Meters, open_telemetry
from touchstone.service.uploads import Uploads
from touchstone.store.runs import Store

_ABOUT = """\
Are the replies your AI drafts good enough to send? `POST /v1/score` answers for one reply or a batch.
The rest shows runs over gold sets and lets people review production replies.

With `--auth`, send `Authorization: Bearer TOKEN`; tokens come from `touchstone user token`.
`RateLimit` says how much you may still ask for, `X-Request-ID` what the log calls the request.
Errors are problem details (RFC 9457). Lists give `next`, which is the `after` of the next page.
A POST that carries an `Idempotency-Key` is carried out once, however often it is sent.
"""
_NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
API_ROUTERS = (
    score.router,
    runs.router,
    production.router,
    runs.comparisons,
    cases.router,
    cases.marks,
    queues.router,
    reviews.router,
    weekly.router,
    users.router,
)
PAGE_ROUTERS = (
    render.router,
    login.router,
    *(
        each.pages
        for each in (
            reference,
            week,
            overview,
            runs,
            cases,
            reviews,
            production,
            uploads,
            queues,
            learning,
            weekly,
            score,
            rubrics,
            users,
            account,
        )
    ),
)


def create_app(settings: Settings, store: Store, *, options: Options) -> FastAPI:
    """The application; its scoring processes live from its start to its end."""
    check_options(options)
    service = build_service(settings, store, options=options)
    app = FastAPI(
        title="Touchstone",
        version=__version__,
        description=_ABOUT,
        lifespan=_lifespan,
        # Its own would send paths and the messages of exceptions, which may quote customers; `telemetry` sends neither.
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "auto_configure": False,
        },
        # FastAPI's pages load scripts from elsewhere: `reference` has our own.
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        middleware=[
            Middleware(Edge, options=options, meters=service.meters, rates=service.rates),
            Middleware(BodyLimit, options=options),
        ],
    )
    app.state.service = service
    install_problems(app)
    for router in API_ROUTERS:
        app.include_router(router, dependencies=[Depends(check_query)], responses=problems(422))
    for router in (health.router, *PAGE_ROUTERS):
        app.include_router(router)
    return app


def build_service(settings: Settings, store: Store, *, options: Options) -> Service:
    """The parts of the service, not yet started."""
    scorer = Scorer(settings, options=options)
    meters = Meters()
    meters.watch("touchstone_waiting", "Cases taken on and not scored yet.", lambda: scorer.waiting)
    meters.watch("touchstone_lag_seconds", "For how long a short single case waits to be scored.", lambda: scorer.lag)
    meters.watch("touchstone_scorers", "Processes that can score.", lambda: scorer.ready)
    rate = options.rate if options.rate is not None or not options.has_auth else RATE_UNDER_AUTH
    return Service(
        settings=settings,
        store=store,
        scorer=scorer,
        options=options,
        rates=Rates(rate),
        meters=meters,
        telemetry=open_telemetry(),
        cache=RunCache(store),
        uploads=Uploads(settings),
    )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    service.scorer.start()
    sweeping = asyncio.create_task(service.uploads.keep_swept())
    try:
        yield
    finally:
        sweeping.cancel()
        await service.uploads.close()
        service.scorer.close()
        service.telemetry.close()
