"""Runs and their results: listed, shown, filtered, labelled, deleted; two runs compared; a case in every run."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query
from starlette.responses import Response

from touchstone.core.codec import case_to_dict, result_to_dict
from touchstone.report.comparison import comparison_to_dict
from touchstone.report.run import run_to_dict
from touchstone.runs.run import Run
from touchstone.service.api.answers import After, Limit, asking, find_run, json_answer
from touchstone.service.api.examples import problems
from touchstone.service.auth.guard import Lead, Viewer
from touchstone.service.blind import WHY, veil_of, visible_page, visible_record, visible_run
from touchstone.service.context import Here, note
from touchstone.service.problems import Refusal
from touchstone.store.pages import NO_CURSOR, Filters

router = APIRouter(prefix="/v1/runs", tags=["runs"])
comparisons = APIRouter(prefix="/v1/comparisons", tags=["comparisons"])
cases = APIRouter(prefix="/v1/cases", tags=["cases"])
_NAMES = "A run's id, its beginning, `latest` or `previous`."
RunName = Annotated[str, Path(max_length=200, description=_NAMES)]
_Compared = Annotated[str, Query(max_length=200, description=_NAMES)]
_Text = Annotated[str | None, Query(max_length=500)]
_Labels = Annotated[
    dict[Annotated[str, Body(max_length=100)], Annotated[str, Body(max_length=500)] | None],
    Body(examples=[{"prompt": "v7", "old": None}]),
]


@router.get("", responses=problems(404, 422))
def list_runs(
    here: Here,
    who: Viewer,
    *,
    kind: Annotated[Literal["goldset", "production"] | None, Query()] = None,
    label: Annotated[list[str] | None, Query(max_length=10, description="KEY=VALUE; repeatable.")] = None,
    limit: Limit = 50,
    after: After = None,
) -> Response:
    """Runs, the newest first; `next` is the `after` of the next page, null at the end."""
    labels = dict(each.partition("=")[::2] for each in label or ())
    with asking(here, NO_CURSOR, status=422, kind="invalid"):
        page = here.store.page_runs(labels=labels, kind=kind, after=after, limit=limit)
    return json_answer({"runs": [run_row(run) for run in page.items], "next": page.next})


@router.get("/{run}", responses=problems(404, 422))
def show_run(here: Here, who: Viewer, run: RunName) -> Response:
    """The run, its summary against targets, patterns and examples: what `touchstone report --format json` gives."""
    found = find_run(here, run)
    return json_answer(visible_run(run_to_dict(here.views.run(found)), veil_of(here, who, found.id)))


@router.get("/{run}/patterns", responses=problems(404, 422))
def show_patterns(here: Here, who: Viewer, run: RunName) -> Response:
    """What goes wrong in the run, how often, where more than elsewhere, and who could cure it."""
    found = find_run(here, run)
    shown = visible_run(run_to_dict(here.views.run(found)), veil_of(here, who, found.id))
    return json_answer({"run": found.id, "patterns": shown["patterns"]})


@router.get("/{run}/results", responses=problems(404, 422))
def list_results(
    here: Here,
    who: Viewer,
    run: RunName,
    *,
    outcome: Annotated[Literal["PASS", "FAIL", "open"] | None, Query(description="`open`: without one.")] = None,
    decision: Annotated[Literal["send", "review", "block"] | None, Query()] = None,
    category: _Text = None,
    tag: _Text = None,
    search: Annotated[str | None, Query(max_length=200, description="How a case's id begins.")] = None,
    limit: Limit = 50,
    after: After = None,
) -> Response:
    """The replies of a run in order, as they are counted, without their texts.

    Of one that you have still to grade it says `blind` and which it is; filters on the judge's word leave it out.
    """
    found = find_run(here, run)
    veil = veil_of(here, who, found.id)
    filters = Filters(outcome=outcome, decision=decision, category=category, tag=tag, search=search)
    with asking(here, NO_CURSOR, status=422, kind="invalid"):
        page = visible_page(here, veil, found.id, filters, after=after, limit=limit)
    rows = [
        {"position": each.position, **visible_record(each.record, is_blind=each.position in veil.positions)}
        for each in page.items
    ]
    return json_answer({"run": found.id, "results": rows, "next": page.next})


@router.get("/{run}/results/{position}", responses=problems(404, 422))
def show_result(here: Here, who: Viewer, run: RunName, position: Annotated[int, Path(ge=0, lt=2**31)]) -> Response:
    """One reply: the case, its result and the waivers of its violations; null while it is yours to grade."""
    found = find_run(here, run)
    with asking(here, f"run {found.id} has no reply at position {position}: its results list them"):
        scored = here.store.replies.at(found.id, position)
    is_blind = position in veil_of(here, who, found.id).positions
    case = None if scored.case is None else case_to_dict(scored.case)
    answer: dict[str, Any] = {
        "run": found.id,
        "position": position,
        "draft": scored.record.draft,
        "blind": is_blind,
        "case": without_labels(case) if is_blind and case else case,
        "result": None if is_blind else result_to_dict(scored.result),
        "waivers": None if is_blind else [asdict(waiver) for waiver in here.store.marks.waivers(found.id, position)],
    }
    return json_answer({**answer, "why": WHY} if is_blind else answer)


def without_labels(case: dict[str, Any]) -> dict[str, Any]:
    """A case without what others said about the reply before."""
    return {name: value for name, value in case.items() if name != "labels"}


@router.patch("/{run}/labels", responses=problems(404, 415, 422))
def label_run(here: Here, who: Lead, run: RunName, labels: _Labels) -> Response:
    """Set labels; null takes one away. Saying it twice changes nothing more."""
    labelled = here.store.label_run(find_run(here, run).id, labels)
    note(here, who, "run labelled", labelled.id)
    return json_answer(run_row(labelled))


@router.delete("/{run}", status_code=204, responses=problems(404, 409, 422))
def delete_run(here: Here, who: Lead, run: RunName) -> Response:
    """Delete a run with its results. Its id has to be given in full."""
    if find_run(here, run).id != run:
        raise Refusal(404, "unknown", f"there is no run with the id '{run}': give it in full")
    kept = "people have reviewed replies of this run, and their work is kept: erase texts with touchstone store forget"
    with asking(here, kept, status=409, kind="conflict"):
        here.store.delete_run(run)
    here.views.forget()
    note(here, who, "run deleted", run)
    return Response(status_code=204)


@comparisons.get("", responses=problems(404, 422))
def compare_runs(here: Here, who: Viewer, *, before: _Compared = "previous", after: _Compared = "latest") -> Response:
    """Every change with its interval and p-value, and the cases whose outcome flipped."""
    first, second = find_run(here, before), find_run(here, after)
    found = comparison_to_dict(here.views.comparison(first, second))
    hidden = veil_of(here, who, first.id).cases | veil_of(here, who, second.id).cases
    return json_answer({**found, "flips": [each for each in found["flips"] if each["id"] not in hidden]})


@cases.get("/{case:path}", responses=problems(404, 422))
def show_case(
    here: Here,
    who: Viewer,
    case: Annotated[str, Path(max_length=500, description="The case's id.")],
    *,
    limit: Limit = 50,
    after: After = None,
) -> Response:
    """The case's results in every run, the newest first."""
    with asking(here, NO_CURSOR, status=422, kind="invalid"):
        found = here.store.replies.history(case, after=after, limit=limit + 1)
    past = found[:limit]
    if not past and after is None:
        raise Refusal(404, "unknown", f"no run holds the case '{case}': GET /v1/runs/latest/results lists ids")
    veils = {id: veil_of(here, who, id) for id in {each.run.id for each in past}}
    rows = [
        {
            "run": run_row(each.run),
            "position": each.position,
            **visible_record(each.record, is_blind=each.position in veils[each.run.id].positions),
        }
        for each in past
    ]
    return json_answer({"id": case, "history": rows, "next": past[-1].cursor if len(found) > limit else None})


def run_row(run: Run) -> dict[str, Any]:
    """A run as lists show it."""
    return {
        "id": run.id,
        "kind": run.kind,
        "started": run.started,
        "finished": run.finished,
        "goldset": run.receipt.goldset,
        "rubric": f"{run.receipt.rubric} {run.receipt.rubric_version}",
        "labels": dict(run.labels),
    }
