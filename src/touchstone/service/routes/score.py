"""A case or a batch of cases -> results: what a guard asks before a reply is sent, and a form that shows it at once."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from touchstone.core.case import Case, Passage
from touchstone.core.result import Failure
from touchstone.io.cases import Entry, read_cases
from touchstone.io.rows import Row, field_name, parse_json, unreadable
from touchstone.report.explain import explain
from touchstone.service.context import Service, Viewer
from touchstone.service.limits import while_connected
from touchstone.service.pages.render import wants_part
from touchstone.service.pages.sources import sources_of
from touchstone.service.problems import Refusal
from touchstone.service.schemas import CASE_EXAMPLE, RESULT_EXAMPLE, problems, ref, wanted
from touchstone.service.scoring.worker import EncodedResult

router = APIRouter(prefix="/v1", tags=["score"])
pages = APIRouter(prefix="/playground", include_in_schema=False)
# A larger body is read in a thread, so that others are answered meanwhile.
_QUICKLY_READ = 64 * 1024
_REMEDY = 'send a case as one JSON object, or several as {"cases": […]}'
_MOST = 20_000
_Field = Annotated[str, Form(max_length=_MOST)]
_EXAMPLE = {
    "question": "Hi, I returned my headphones last week. When will I get my refund, and is there a fee?",
    "context": "Refunds are issued within 14 days of the return reaching us.\n\nReturns are free for members.",
    "reply": "Thanks for reaching out! Your refund will be issued within 30 days. Write to us if it is late.",
}


@router.post(
    "/score",
    openapi_extra=wanted(
        {"anyOf": [ref("ScoredCase"), ref("Batch")]},
        one={"summary": "One case", "value": CASE_EXAMPLE},
        batch={"summary": "Several cases", "value": {"cases": [CASE_EXAMPLE]}},
    ),
    response_class=Response,
    responses={
        200: {
            "description": "The case's Result, or `results` in the order of the cases.",
            "content": {
                "application/json": {"schema": {"anyOf": [ref("Result"), ref("Results")]}, "example": RESULT_EXAMPLE}
            },
        },
        **problems(400, 408, 413, 415, 422),
    },
)
async def score_replies(request: Request, caller: Viewer) -> Response:
    """Score one case or a batch.

    `decision` says whether the reply can be sent. Nothing is stored. In a batch, a case that cannot be read or scored
    is a result with `failures` in its place; a single case that cannot be read is a 422. A field that is not known
    makes a case one that cannot be read, so that no reply is judged without its sources unnoticed.
    """
    here = caller.service
    content = await read_json(request)
    if "cases" not in content:
        (entry,) = entries_of([content], here, is_strict=True)
        if isinstance(entry.case, Failure):
            raise Refusal(422, "invalid", entry.case.message)
        (judgement,) = await while_connected(request, judge([entry], here))
        return Response(judgement.body, media_type="application/json")
    if unknown := sorted(set(content) - {"cases"}):
        detail = f"{field_name(unknown[0])} beside 'cases' is not known: give it in each case, or in its 'metadata'"
        raise Refusal(422, "invalid", detail)
    entries = entries_of(count_cases(content["cases"], here), here, is_strict=True)
    here.rates.take(caller.user.key, cost=len(entries) - 1)
    bodies = [judgement.body for judgement in await while_connected(request, judge(entries, here))]
    return Response(b'{"results":[' + b",".join(bodies) + b"]}", media_type="application/json")


def count_cases(cases: Any, here: Service) -> list[Any]:
    """The cases of a batch; Refusal when there are none or too many."""
    if not isinstance(cases, list):
        raise Refusal(422, "invalid", f"'cases' is no list: {_REMEDY}")
    most = here.options.max_cases
    if not 1 <= len(cases) <= most:
        raise Refusal(
            422, "invalid", f"'cases' holds {len(cases)} cases, allowed are 1 to {most}: send several batches"
        )
    return cases


async def read_json(request: Request) -> dict[str, Any]:
    """The JSON object that a request's body is."""
    raw = await request.body()
    value = _parse(raw) if len(raw) <= _QUICKLY_READ else await asyncio.to_thread(_parse, raw)
    if isinstance(value, Failure):
        raise Refusal(400, "not-json", value.message)
    if not isinstance(value, dict):
        raise Refusal(422, "invalid", f"the body is no JSON object: {_REMEDY}")
    return value


def _parse(raw: bytes) -> object:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return Failure("read", "InvalidJson", f"the body is not UTF-8; {_REMEDY}")
    return parse_json(text, remedy=_REMEDY)


def entries_of(cases: list[Any], here: Service, *, is_strict: bool = False) -> list[Entry]:
    """The cases as they are scored; what is no case, or when `is_strict` not all of it, is a failure in its place."""
    rows = [Row("request", at, _content(case)) for at, case in enumerate(cases, 1)]
    return list(read_cases(rows, file="the request", columns=here.settings.columns, is_strict=is_strict))


def _content(case: Any) -> dict[str, Any] | Failure:
    return case if isinstance(case, dict) else unreadable("CaseError", "the case is no JSON object: send an object")


async def judge(entries: Sequence[Entry], here: Service) -> list[EncodedResult]:
    """Every entry's judgement, counted and told."""
    judgements = await here.scorer.score(entries)
    here.meters.scored(judgements)
    here.telemetry.scored(judgements)
    return judgements


@pages.get("")
def playground(caller: Viewer) -> Response:
    """The form with an example in it."""
    return caller.show("playground.html", given=_EXAMPLE, most=_MOST, explanation=None)


@pages.post("")
async def score_on_page(
    request: Request, caller: Viewer, *, question: _Field = "", context: _Field = "", reply: _Field = ""
) -> Response:
    """The result; nothing of it is stored."""
    given = {"question": question, "context": context, "reply": reply}
    template = "playground_part.html" if wants_part(request, "result") else "playground.html"
    if not reply.strip():
        return caller.show(template, given=given, most=_MOST, explanation=None)
    # A browser sends line breaks as CR LF; passages are set apart by an empty line.
    passages = [text.strip() for text in context.replace("\r\n", "\n").split("\n\n") if text.strip()]
    case = Case(
        id="playground",
        input=question,
        response=reply.replace("\r\n", "\n"),
        context=[Passage(text) for text in passages] if passages else None,
    )
    (judged,) = await while_connected(request, caller.service.scorer.score([Entry("request", 1, case)]))
    result = judged.decode()
    explanation, sources = explain(case, result, is_whole=False), sources_of(case, result)
    return caller.show(template, given=given, most=_MOST, explanation=explanation, sources=sources)
