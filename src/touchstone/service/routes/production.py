"""Production replies, sent as cases or in a file -> scored and kept in a production run, to draw queues from."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from anyio import from_thread
from fastapi import APIRouter, Request
from fastapi import Path as InPath
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from touchstone.app.audit import now
from touchstone.app.demo import load_demo
from touchstone.app.production import Intake, Score, TimedResult
from touchstone.core.case import Case
from touchstone.core.result import Failure
from touchstone.io.cases import Entry
from touchstone.review.queue import Queue
from touchstone.service.answers import Writing
from touchstone.service.context import Lead, Service
from touchstone.service.pages.render import go_to
from touchstone.service.problems import Refusal
from touchstone.service.routes.score import count_cases, entries_of, judge, read_json
from touchstone.service.schemas import ADDED_EXAMPLE, CASE_EXAMPLE, answers, ref, wanted

router = APIRouter(prefix="/v1/runs", tags=["runs"])
pages = APIRouter(include_in_schema=False)
_MOST_LABELS = 20
_LONGEST_LABEL = 500
_EXAMPLE = {"cases": [CASE_EXAMPLE], "labels": {"version": "7"}}
_Run = Annotated[
    str,
    InPath(max_length=64, description="The production run's name, such as `2026-W12`; it is begun if there is none."),
]


@router.post(
    "/{run}/results",
    status_code=201,
    openapi_extra=wanted(ref("ProductionReplies"), night={"summary": "The replies of a night", "value": _EXAMPLE}),
    response_class=Response,
    responses=answers("Added", 400, 408, 409, 413, 422, status=201, example=ADDED_EXAMPLE),
)
async def add_results(request: Request, caller: Lead, run: _Run, write: Writing) -> Response:
    """Score production replies and add them to a run, all of them or none, until a queue is drawn from it.

    A case whose id the run has with the same text is left out, so that a batch may be sent again. `conflicts` names
    those it has with another text. A batch with a case that cannot be read is a 422 that names it, and is not stored.
    """
    here = caller.service
    cases, labels = _read(await read_json(request), here)
    here.rates.take(caller.user.key, cost=len(cases) - 1)

    def add(_: str) -> dict[str, Any]:
        score = scored_by(here)
        intake = Intake(name=run, settings=here.settings, store=here.store, labels=labels, by=caller.name, score=score)
        return asdict(intake.add(cases))

    return await run_in_threadpool(write.once, caller, add)


@pages.post("/demo")
async def demo(caller: Lead) -> Response:
    """Two weeks of the shipped replies, to look around in."""
    here = caller.service

    def load() -> Queue:
        return load_demo(here.store, settings=here.settings, score=scored_by(here), by=caller.name, now=now)

    await run_in_threadpool(load)
    caller.note("demo loaded", "demo")
    return go_to("/")


def scored_by(here: Service) -> Score:
    """Cases scored by the service's own processes, for a thread of its pool."""

    def score(wanted: Sequence[Case]) -> list[TimedResult]:
        entries = [Entry("request", at, case) for at, case in enumerate(wanted, 1)]
        return [TimedResult(each.decode(), each.seconds) for each in from_thread.run(judge, entries, here)]

    return score


def _read(content: dict[str, Any], here: Service) -> tuple[list[Case], dict[str, str]]:
    """The batch's cases and labels; Refusal for what cannot be used, with every case that cannot be read."""
    if unknown := sorted(set(content) - {"cases", "labels"}):
        raise Refusal(422, "invalid", f"'{unknown[0][:50]}' is not known: allowed are cases and labels")
    labels = content.get("labels", {})
    if (
        not isinstance(labels, dict)
        or len(labels) > _MOST_LABELS
        or not all(isinstance(value, str) and len(name + value) <= _LONGEST_LABEL for name, value in labels.items())
    ):
        raise Refusal(422, "invalid", f"'labels' are up to {_MOST_LABELS} names with short texts: correct them")
    entries = entries_of(count_cases(content.get("cases"), here), here)
    errors = [
        {"at": f"cases.{at}", "problem": entry.case.message}
        for at, entry in enumerate(entries)
        if isinstance(entry.case, Failure)
    ]
    if errors:
        detail = f"{len(errors)} of {len(entries)} cases cannot be read, and nothing was stored: correct them"
        raise Refusal(422, "invalid", detail, errors=errors)
    return [entry.case for entry in entries if isinstance(entry.case, Case)], labels
