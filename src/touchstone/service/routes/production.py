"""Production replies, sent as cases or in a file -> scored and kept in a production run, to draw queues from."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from anyio import from_thread
from fastapi import APIRouter, Form, Request, UploadFile
from fastapi import Path as InPath
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from touchstone.app.audit import now
from touchstone.app.demo import load_demo
from touchstone.app.evaluation import evaluate_goldset
from touchstone.app.production import Intake, Score, TimedResult
from touchstone.app.replies import Assignment
from touchstone.core.case import Case
from touchstone.core.errors import InputError
from touchstone.core.result import Failure, Result
from touchstone.io.cases import Entry
from touchstone.report.plain import one_line
from touchstone.review.queue import Queue
from touchstone.runs.run import Run
from touchstone.service.answers import Writing
from touchstone.service.context import Caller, Lead, Service
from touchstone.service.pages.render import go_to
from touchstone.service.problems import Refusal
from touchstone.service.routes.score import count_cases, entries_of, judge, read_json
from touchstone.service.schemas import ADDED, ADDED_EXAMPLE, CASE_EXAMPLE, PRODUCTION, problems, wanted

router = APIRouter(prefix="/v1/runs", tags=["runs"])
pages = APIRouter(include_in_schema=False)
_MOST_LABELS = 20
_LONGEST_LABEL = 500
_ENDINGS = (".jsonl", ".json", ".csv")
_LONGEST_NAME = 120
_EXAMPLE = {"cases": [CASE_EXAMPLE], "labels": {"version": "7"}}
_Run = Annotated[
    str,
    InPath(max_length=64, description="The production run's name, such as `2026-W12`; it is begun if there is none."),
]


@router.post(
    "/{run}/results",
    status_code=201,
    openapi_extra=wanted(PRODUCTION, night={"summary": "The replies of a night", "value": _EXAMPLE}),
    response_class=Response,
    responses={
        201: {
            "description": "What became of the batch.",
            "content": {"application/json": {"schema": ADDED, "example": ADDED_EXAMPLE}},
        },
        **problems(400, 408, 409, 413, 415, 422),
    },
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
        score = _scored(here)
        intake = Intake(name=run, settings=here.settings, store=here.store, labels=labels, by=caller.name, score=score)
        return asdict(intake.add(cases))

    return await run_in_threadpool(write.once, caller, add)


@pages.post("/demo")
async def demo(caller: Lead) -> Response:
    """Two weeks of the shipped replies, to look around in."""
    here = caller.service

    def load() -> Queue:
        return load_demo(here.store, settings=here.settings, score=_scored(here), by=caller.name, now=now)

    await run_in_threadpool(load)
    caller.note("demo loaded", "demo")
    return go_to("/")


@pages.post("/queues/upload")
async def upload(caller: Lead, *, file: UploadFile, label: Annotated[str, Form(max_length=200)] = "") -> Response:
    """Score and keep the replies; the form that draws a queue from them is on the page this leads back to."""
    name = one_line(PurePath(file.filename or "").name)[-_LONGEST_NAME:]
    if PurePath(name).suffix.lower() not in _ENDINGS:
        raise InputError(f"'{name}' is no {', '.join(_ENDINGS)} file: choose another, or use touchstone review sample")
    content, loop = await file.read(), asyncio.get_running_loop()

    def score(case: Case) -> Result:
        scoring = judge([Entry("file", 1, case)], caller.service)
        (judged,) = asyncio.run_coroutine_threadsafe(scoring, loop).result()
        return judged.decode()

    run = await run_in_threadpool(_evaluate, caller, content, name=name, labels=_labels(label), score=score)
    return go_to(f"/queues?run={run.id}#new-h")


def _scored(here: Service) -> Score:
    """Cases scored by the service's own processes, for a thread of its pool."""

    def score(wanted: Sequence[Case]) -> list[TimedResult]:
        entries = [Entry("request", at, case) for at, case in enumerate(wanted, 1)]
        return [TimedResult(each.decode(), each.seconds) for each in from_thread.run(judge, entries, here)]

    return score


def _evaluate(caller: Caller, content: bytes, *, name: str, labels: Mapping[str, str], score: Any) -> Run:
    with TemporaryDirectory(prefix="touchstone-") as directory:
        path = Path(directory) / f"replies{PurePath(name).suffix.lower()}"
        path.write_bytes(content)
        try:
            run = evaluate_goldset(
                Assignment(goldset=str(path), name=name, labels=labels, kind="production"),
                settings=caller.service.settings,
                store=caller.store,
                on_start=lambda run, done: None,
                on_step=lambda step: None,
                score=score,
            )
        except InputError as error:
            # It goes by its own name, not by that of the copy here.
            raise InputError(str(error).replace(str(path), f"the file {name}")) from None
    caller.note("replies stored", run.id)
    return run


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


def _labels(text: str) -> Mapping[str, str]:
    """`version=4.2, channel=chat` as labels; a word alone is a version."""
    labels = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, sign, value = part.partition("=")
        labels[name.strip() if sign else "version"] = value.strip() if sign else part
    return {name: value for name, value in labels.items() if name and value}
