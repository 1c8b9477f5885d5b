"""One reply of a run -> its page: the conversation, what was found in the reply and why, and its history."""

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from touchstone.core.case import Case
from touchstone.core.result import ViolationKind
from touchstone.report.explain import explain
from touchstone.report.plain import plain
from touchstone.service import commands
from touchstone.service.api.answers import asking, find_run
from touchstone.service.auth.guard import Reviewer, Viewer
from touchstone.service.auth.principal import Principal
from touchstone.service.blind import WHY, veil_of
from touchstone.service.context import Here
from touchstone.service.pages.overview import run_name
from touchstone.service.pages.render import go_to, show
from touchstone.service.pages.sources import MOST_REPLY, sources_of
from touchstone.service.shapes import NewWaiver, filled

router = APIRouter(include_in_schema=False)
_Field = Annotated[str, Form()]
_Place = Annotated[int, Form(ge=0, lt=2**31)]


@router.get("/runs/{id}/cases")
def find_case(here: Here, who: Viewer, id: str, case: Annotated[str, Query(alias="id", max_length=2_000)]) -> Response:
    """The reply to the case of that id."""
    with asking(here, "the run has no reply to this case"):
        return go_to(f"/runs/{id}/replies/{here.store.replies.result(id, case).position}")


@router.get("/runs/{id}/replies/{position}")
def show_case(request: Request, here: Here, who: Viewer, id: str, position: int, *, full: bool = False) -> Response:
    """The reply with everything that is known of it."""
    run = find_run(here, id)
    with asking(here, f"the run has no reply {position + 1}"):
        scored = here.store.replies.at(run.id, position)
    common: dict[str, Any] = {
        "run": run,
        "run_name": run_name(run),
        "position": position,
        "row": scored.record,
    }
    if scored.case is not None and position in veil_of(here, who, run.id).positions:
        return show(request, "case_blind.html", who=who, **_blind(scored.case, is_whole=full), **common)
    if scored.case is None:
        failures = [failure.message for failure in scored.result.failures]
        return show(request, "case_missing.html", who=who, failures=failures, **common)
    return show(
        request,
        "case.html",
        who=who,
        explanation=explain(scored.case, scored.result, is_whole=full),
        sources=sources_of(scored.case, scored.result, is_whole=full),
        has_context=scored.case.context is not None,
        is_full=full,
        draft=scored.record.draft,
        history=_history(scored.record.id, here=here, who=who),
        is_promoted=here.store.marks.is_promoted(run.id, position),
        confidence=scored.case.confidence,
        metadata=[(name, value) for name, value in scored.case.metadata.items()][:20],
        **common,
    )


@router.post("/runs/{id}/replies/{position}/waive")
def waive(
    here: Here,
    who: Reviewer,
    id: str,
    position: int,
    *,
    kind: Annotated[ViolationKind, Form()],
    start: _Place,
    end: _Place,
    reason: _Field = "",
    withdrawn: _Field = "",
    back: _Field = "",
) -> Response:
    """Note that a violation is none, and why; or take that back."""
    run = find_run(here, id)
    waiver = filled(NewWaiver, kind=kind, start=start, end=end, reason=reason, withdrawn=bool(withdrawn))
    commands.waive(here, who, run.id, position, waiver, id=secrets.token_hex(8))
    return go_to(_back(back, id, position))


@router.post("/runs/{id}/replies/{position}/promote")
def promote(here: Here, who: Reviewer, id: str, position: int, *, back: _Field = "") -> Response:
    """Put the case among those that are to enter a gold set, or take it out again."""
    run = find_run(here, id).id
    change = commands.demote if here.store.marks.is_promoted(run, position) else commands.promote
    change(here, who, run, position)
    return go_to(_back(back, id, position))


def _back(path: str, run: str, position: int) -> str:
    """The review that somebody came from, or the case's own page."""
    return path if path.startswith("/review/") and path.isprintable() else f"/runs/{run}/replies/{position}"


def _blind(case: Case, *, is_whole: bool) -> dict[str, Any]:
    """What is shown of a reply that is to be graded: its text and sources, and why there is no more."""
    most = len(case.response) if is_whole else MOST_REPLY
    return {
        "why": WHY,
        "reply": plain(case.response[:most]),
        "is_cut": len(case.response) > most,
        "sources": sources_of(case, None, is_whole=is_whole),
        "has_context": case.context is not None,
    }


def _history(case: str, *, here: Here, who: Principal) -> list[dict[str, object]]:
    found = here.store.replies.history(case, limit=20)
    veils = {id: veil_of(here, who, id) for id in {each.run.id for each in found}}
    past = [each for each in found if each.position not in veils[each.run.id].positions]
    return [
        {"run": each.run, "name": run_name(each.run), "position": each.position, "row": each.record} for each in past
    ]
