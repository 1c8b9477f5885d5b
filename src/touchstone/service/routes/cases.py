"""One reply of a run as a page: the conversation, what was found in it and why, its history; waivers and promotion."""

import secrets
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Query
from starlette.responses import Response

from touchstone.report.explain import explain
from touchstone.service import commands
from touchstone.service.answers import After, Limit, Writing, asking, find_run, listed
from touchstone.service.blind import WHY, veil_of, visible_record
from touchstone.service.context import Caller, Reviewer, Viewer
from touchstone.service.pages.render import go_to
from touchstone.service.pages.sources import cut_reply, sources_of
from touchstone.service.problems import Refusal
from touchstone.service.routes.runs import Position, RunName, run_name, run_row
from touchstone.service.schemas import answers, problems
from touchstone.service.shapes import NewWaiver, form_of
from touchstone.store.pages import NO_CURSOR
from touchstone.store.replies import Past

router = APIRouter(prefix="/v1/cases", tags=["cases"])
marks = APIRouter(prefix="/v1/runs/{run}/results/{position}", tags=["patterns"])
pages = APIRouter(include_in_schema=False)
_MOST_METADATA = 20
_Field = Annotated[str, Form()]


@router.get("/{case:path}", responses=answers("History", 404, 422))
def show_case(
    caller: Viewer,
    case: Annotated[str, Path(max_length=500, description="The case's id.")],
    *,
    limit: Limit = 50,
    after: After = None,
) -> Response:
    """The case's results in every run, the newest first."""
    with asking(caller.store, NO_CURSOR, status=422, kind="invalid"):
        found = caller.store.replies.history(case, after=after, limit=limit + 1)
    if not found and after is None:
        raise Refusal(404, "unknown", f"no run holds the case '{case}': GET /v1/runs/latest/results lists ids")
    blind = _blind_places(caller, found[:limit])

    def row(each: Past) -> dict[str, Any]:
        record = visible_record(each.record, is_blind=(each.run.id, each.position) in blind)
        return {"run": run_row(each.run), "position": each.position, **record}

    return listed("history", found, limit, row=row, cursor=lambda each: each.cursor, id=case)


@marks.post("/waivers", status_code=201, responses=answers("WaiverKept", 404, 409, 422, status=201))
def waive_violation(
    caller: Reviewer, run: RunName, position: Position, *, content: NewWaiver, write: Writing
) -> Response:
    """Waive a violation that is none, with a reason, or take that back; outcome, decision and figures follow."""
    found = find_run(caller, run).id

    def keep(id: str) -> dict[str, Any]:
        commands.waive(caller, found, position, content, id=id)
        return {"id": id, "run": found, "position": position}

    return write.once(caller, keep)


@marks.put("/promotion", status_code=204, responses=problems(404, 422))
def promote_case(caller: Reviewer, run: RunName, position: Position) -> Response:
    """Mark a case for the gold set; touchstone review export --what promoted writes them."""
    commands.set_promoted(caller, find_run(caller, run).id, position, promoted=True)
    return Response(status_code=204)


@marks.delete("/promotion", status_code=204, responses=problems(404, 422))
def demote_case(caller: Reviewer, run: RunName, position: Position) -> Response:
    """Take the mark away."""
    commands.set_promoted(caller, find_run(caller, run).id, position, promoted=False)
    return Response(status_code=204)


@pages.get("/runs/{id}/cases")
def find_case(caller: Viewer, id: str, case: Annotated[str, Query(alias="id", max_length=2_000)]) -> Response:
    """The reply to the case of that id."""
    with asking(caller.store, "the run has no reply to this case"):
        return go_to(f"/runs/{id}/replies/{caller.store.replies.result(id, case).position}")


@pages.get("/runs/{id}/replies/{position}")
def case_page(caller: Viewer, id: str, position: int, *, full: bool = False) -> Response:
    """The reply with everything that is known of it."""
    run = find_run(caller, id)
    with asking(caller.store, f"the run has no reply {position + 1}"):
        scored = caller.store.replies.at(run.id, position)
    case, result, record = scored.case, scored.result, scored.record
    common: dict[str, Any] = {"run": run, "run_name": run_name(run), "position": position, "row": record}
    if case is None:
        failures = [failure.message for failure in result.failures]
        return caller.show("case_missing.html", failures=failures, **common)
    if position in veil_of(caller, run.id).positions:
        common |= {"why": WHY, "has_context": case.context is not None, **cut_reply(case.response, is_whole=full)}
        return caller.show("case_blind.html", sources=sources_of(case, None, is_whole=full), **common)
    return caller.show(
        "case.html",
        explanation=explain(case, result, is_whole=full),
        sources=sources_of(case, result, is_whole=full),
        has_context=case.context is not None,
        is_full=full,
        draft=record.draft,
        history=_history(caller, record.id),
        is_promoted=caller.store.marks.is_promoted(run.id, position),
        confidence=case.confidence,
        metadata=list(case.metadata.items())[:_MOST_METADATA],
        **common,
    )


@pages.post("/runs/{id}/replies/{position}/waive")
def waive_on_page(
    caller: Reviewer, id: str, position: int, waiver: Annotated[NewWaiver, form_of(NewWaiver)], *, back: _Field = ""
) -> Response:
    """Note that a violation is none, and why; or take that back."""
    commands.waive(caller, find_run(caller, id).id, position, waiver, id=secrets.token_hex(8))
    return go_to(_back(back, id, position))


@pages.post("/runs/{id}/replies/{position}/promote")
def promote_on_page(caller: Reviewer, id: str, position: int, *, back: _Field = "") -> Response:
    """Put the case among those that are to enter a gold set, or take it out again."""
    run = find_run(caller, id).id
    commands.set_promoted(caller, run, position, promoted=not caller.store.marks.is_promoted(run, position))
    return go_to(_back(back, id, position))


def _back(path: str, run: str, position: int) -> str:
    """The review that somebody came from, or the case's own page."""
    return path if path.startswith("/review/") and path.isprintable() else f"/runs/{run}/replies/{position}"


def _history(caller: Caller, case: str) -> list[dict[str, object]]:
    found = caller.store.replies.history(case, limit=20)
    blind = _blind_places(caller, found)
    past = [each for each in found if (each.run.id, each.position) not in blind]
    return [
        {"run": each.run, "name": run_name(each.run), "position": each.position, "row": each.record} for each in past
    ]


def _blind_places(caller: Caller, found: Sequence[Past]) -> set[tuple[str, int]]:
    """Runs and positions of replies that are still theirs to grade."""
    return {(id, position) for id in {each.run.id for each in found} for position in veil_of(caller, id).positions}
