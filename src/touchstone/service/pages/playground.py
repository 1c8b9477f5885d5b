"""A question, context and a reply as somebody types them -> what Touchstone says of the reply, at once."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from touchstone.core.case import Case, Passage
from touchstone.report.explain import explain
from touchstone.service.auth.guard import Viewer
from touchstone.service.context import Here
from touchstone.service.limits import while_connected
from touchstone.service.pages.render import show, wants_part
from touchstone.service.pages.sources import sources_of

router = APIRouter(include_in_schema=False)
_MOST = 20_000
_Field = Annotated[str, Form(max_length=_MOST)]
_EXAMPLE = {
    "question": "Hi, I returned my headphones last week. When will I get my refund, and is there a fee?",
    "context": "Refunds are issued within 14 days of the return reaching us.\n\nReturns are free for members.",
    "reply": "Thanks for reaching out! Your refund will be issued within 30 days. Write to us if it is late.",
}


@router.get("/playground")
def playground(request: Request, here: Here, who: Viewer) -> Response:
    """The form with an example in it."""
    return show(request, "playground.html", who=who, given=_EXAMPLE, most=_MOST, explanation=None)


@router.post("/playground")
async def score(
    request: Request, here: Here, who: Viewer, *, question: _Field = "", context: _Field = "", reply: _Field = ""
) -> Response:
    """The result; nothing of it is stored."""
    given = {"question": question, "context": context, "reply": reply}
    part = wants_part(request, "result")
    template = "playground_part.html" if part else "playground.html"
    if not reply.strip():
        return show(request, template, who=who, given=given, most=_MOST, explanation=None)
    # A browser sends line breaks as CR LF; passages are set apart by an empty line.
    passages = [text.strip() for text in context.replace("\r\n", "\n").split("\n\n") if text.strip()]
    case = Case(
        id="playground",
        input=question,
        response=reply.replace("\r\n", "\n"),
        context=[Passage(text) for text in passages] if passages else None,
    )
    result = await while_connected(request, here.scorer.result(case))
    explanation = explain(case, result, is_whole=False)
    sources = sources_of(case, result)
    return show(request, template, who=who, given=given, most=_MOST, explanation=explanation, sources=sources)
