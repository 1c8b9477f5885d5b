"""Production replies -> scored and added to a production run, for queues to be drawn from."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from anyio import from_thread
from fastapi import APIRouter, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from touchstone.app.production import TimedResult, add_replies
from touchstone.core.case import Case
from touchstone.core.codec import result_from_dict
from touchstone.core.result import Failure
from touchstone.io.cases import Entry
from touchstone.io.rows import parse_json
from touchstone.service.api.answers import IdempotencyKey, carry_out
from touchstone.service.api.examples import ADDED, ADDED_EXAMPLE, CASE_EXAMPLE, PRODUCTION, body, problems
from touchstone.service.api.score import count_cases, entries_of, judge, read_json
from touchstone.service.auth.guard import Lead
from touchstone.service.context import Here, Service, note, now
from touchstone.service.problems import Refusal
from touchstone.service.scoring.worker import EncodedResult

router = APIRouter(prefix="/v1/runs", tags=["runs"])
_MOST_LABELS = 20
_LONGEST_LABEL = 500
_EXAMPLE = {"cases": [CASE_EXAMPLE], "labels": {"version": "7"}}
_Run = Annotated[
    str,
    Path(max_length=64, description="The production run's name, such as `2026-W12`; it is begun if there is none."),
]


@router.post(
    "/{run}/results",
    status_code=201,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": PRODUCTION,
                    "examples": {"night": {"summary": "The replies of a night", "value": _EXAMPLE}},
                }
            },
        }
    },
    response_class=Response,
    responses={
        201: body(ADDED, description="What became of the batch.", example=ADDED_EXAMPLE),
        **problems(400, 408, 409, 413, 415, 422),
    },
)
async def add_results(request: Request, here: Here, who: Lead, run: _Run, key: IdempotencyKey = None) -> Response:
    """Score production replies and add them to a run, all of them or none, until a queue is drawn from it.

    A case whose id the run has with the same text is left out, so that a batch may be sent again. `conflicts` names
    those it has with another text. A batch with a case that cannot be read is a 422 that names it, and is not stored.
    """
    content = await read_json(request)
    cases, labels = _read(content, here)
    here.rates.take(who.key, cost=len(cases) - 1)

    def score(wanted: Sequence[Case]) -> list[TimedResult]:
        entries = [Entry("request", at, case) for at, case in enumerate(wanted, 1)]
        return [_judged(each) for each in from_thread.run(judge, entries, here)]

    def add(_: str) -> dict[str, Any]:
        added = add_replies(cases, run, settings=here.settings, store=here.store, labels=labels, now=now, score=score)
        note(here, who, "replies stored", added.run)
        return {**asdict(added), "conflicts": list(added.conflicts)}

    def once() -> Response:
        return carry_out(here, who, key, add, route=f"runs/{run}/results", content=content)

    return await run_in_threadpool(once)


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


def _judged(judgement: EncodedResult) -> TimedResult:
    content: Any = parse_json(judgement.body.decode(), remedy="")
    return TimedResult(result_from_dict(content), judgement.seconds)
