"""Runs and their results: listed, shown, filtered, labelled, deleted; two runs compared."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query
from starlette.responses import Response

from touchstone.core.codec import case_to_dict, result_to_dict
from touchstone.core.errors import StoreError
from touchstone.report.comparison import MOST_FLIPS, comparison_to_dict
from touchstone.report.plain import one_line
from touchstone.report.run import RunReport
from touchstone.runs.run import Run
from touchstone.service.answers import After, Limit, asking, find_run, json_answer
from touchstone.service.blind import WHY, Veil, veil_of, visible_page, visible_record, visible_run
from touchstone.service.context import Lead, Viewer
from touchstone.service.figures import Figures
from touchstone.service.pages.render import query_of, wants_part
from touchstone.service.problems import Refusal
from touchstone.service.schemas import answers, problems
from touchstone.store.pages import NO_CURSOR, Filters

router = APIRouter(prefix="/v1/runs", tags=["runs"])
comparisons = APIRouter(prefix="/v1/comparisons", tags=["comparisons"])
pages = APIRouter(include_in_schema=False)
_PAGE = 50
_LIST = 100
_FLIPS = min(MOST_FLIPS, 200)
_OUTCOMES = {"PASS": "PASS", "FAIL": "FAIL", "open": "not scored"}
_DECISIONS = ("send", "review", "block")
_TABS = {
    "overview": "Overview", "patterns": "What goes wrong", "replies": "Replies", "judge": "Judge", "facts": "Facts"
}  # fmt: skip
# What the sections of each tab were called when a run was one long page: of the list's entry and of its link.
_ANCHORS = {
    "patterns": ("patterns", "patterns-h"), "replies": ("replies", "replies-h"), "judge": ("scores", "scores-h"),
    "facts": ("receipt", "receipt-h"),
}  # fmt: skip
_NAMES = "A run's id, its beginning, `latest` or `previous`."
RunName = Annotated[str, Path(max_length=200, description=_NAMES)]
Position = Annotated[int, Path(ge=0, lt=2**31)]
_Compared = Annotated[str, Query(max_length=200, description=_NAMES)]
_Name = Annotated[str, Query(max_length=200)]
_Text = Annotated[str | None, Query(max_length=500)]
_Tab = Literal["overview", "patterns", "replies", "judge", "facts"]
_Labels = Annotated[
    dict[Annotated[str, Body(max_length=100)], Annotated[str, Body(max_length=500)] | None],
    Body(examples=[{"prompt": "v7", "old": None}]),
]


@router.get("", responses=answers("Runs", 404, 422))
def list_runs(
    caller: Viewer,
    *,
    kind: Annotated[Literal["goldset", "production"] | None, Query()] = None,
    label: Annotated[list[str] | None, Query(max_length=10, description="KEY=VALUE; repeatable.")] = None,
    limit: Limit = 50,
    after: After = None,
) -> Response:
    """Runs, the newest first; `next` is the `after` of the next page, null at the end."""
    labels = dict(each.partition("=")[::2] for each in label or ())
    with asking(caller.store, NO_CURSOR, status=422, kind="invalid"):
        page = caller.store.page_runs(labels=labels, kind=kind, after=after, limit=limit)
    return json_answer({"runs": [run_row(run) for run in page.items], "next": page.next})


@router.get("/{run}", responses=answers("RunReport", 404, 422))
def show_run(caller: Viewer, run: RunName) -> Response:
    """The run, its summary against targets, patterns and examples: what `touchstone report --format json` gives."""
    return json_answer(visible_run(caller, find_run(caller, run)))


@router.get("/{run}/patterns", responses=answers("Patterns", 404, 422))
def show_patterns(caller: Viewer, run: RunName) -> Response:
    """What goes wrong in the run, how often, where more than elsewhere, and who could cure it."""
    found = find_run(caller, run)
    return json_answer({"run": found.id, "patterns": visible_run(caller, found)["patterns"]})


@router.get("/{run}/results", responses=answers("ResultRows", 404, 422))
def list_results(
    caller: Viewer,
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
    found = find_run(caller, run)
    veil = veil_of(caller, found.id)
    filters = Filters(outcome=outcome, decision=decision, category=category, tag=tag, search=search)
    with asking(caller.store, NO_CURSOR, status=422, kind="invalid"):
        page = visible_page(caller, veil, found.id, filters, after=after, limit=limit)
    rows = [
        {"position": each.position, **visible_record(each.record, is_blind=each.position in veil.positions)}
        for each in page.items
    ]
    return json_answer({"run": found.id, "results": rows, "next": page.next})


@router.get("/{run}/results/{position}", responses=answers("StoredReply", 404, 422))
def show_result(caller: Viewer, run: RunName, position: Position) -> Response:
    """One reply: the case, its result and the waivers of its violations; null while it is yours to grade."""
    found = find_run(caller, run)
    with asking(caller.store, f"run {found.id} has no reply at position {position}: its results list them"):
        scored = caller.store.replies.at(found.id, position)
    is_blind = position in veil_of(caller, found.id).positions
    case = None if scored.case is None else case_to_dict(scored.case)
    answer: dict[str, Any] = {
        "run": found.id,
        "position": position,
        "draft": scored.record.draft,
        "blind": is_blind,
        "case": without_labels(case) if is_blind and case else case,
        "result": None if is_blind else result_to_dict(scored.result),
        "waivers": None if is_blind else [asdict(each) for each in caller.store.marks.waivers(found.id, position)],
    }
    return json_answer({**answer, "why": WHY} if is_blind else answer)


@router.patch("/{run}/labels", responses=answers("Run", 404, 415, 422))
def label_run(caller: Lead, run: RunName, labels: _Labels) -> Response:
    """Set labels; null takes one away. Saying it twice changes nothing more."""
    labelled = caller.store.label_run(find_run(caller, run).id, labels)
    caller.note("run labelled", labelled.id)
    return json_answer(run_row(labelled))


@router.delete("/{run}", status_code=204, responses=problems(404, 409, 422))
def delete_run(caller: Lead, run: RunName) -> Response:
    """Delete a run with its results. Its id has to be given in full."""
    if find_run(caller, run).id != run:
        raise Refusal(404, "unknown", f"there is no run with the id '{run}': give it in full")
    kept = "people have reviewed replies of this run, and their work is kept: erase texts with touchstone store forget"
    with asking(caller.store, kept, status=409, kind="conflict"):
        caller.store.delete_run(run)
    caller.service.cache.forget()
    caller.note("run deleted", run)
    return Response(status_code=204)


@comparisons.get("", responses=answers("Comparison", 404, 422))
def compare_runs(caller: Viewer, *, before: _Compared = "previous", after: _Compared = "latest") -> Response:
    """Every change with its interval and p-value, and the cases whose outcome flipped."""
    first, second = find_run(caller, before), find_run(caller, after)
    found = comparison_to_dict(caller.service.cache.comparison(first, second))
    hidden = veil_of(caller, first.id).cases | veil_of(caller, second.id).cases
    return json_answer({**found, "flips": [each for each in found["flips"] if each["id"] not in hidden]})


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


def run_name(run: Run) -> str:
    """What a run is called in a list: its labels, else what it was made from."""
    labels = " ".join(f"{name}={value}" for name, value in run.labels.items())
    return one_line(labels or run.receipt.goldset)


def without_labels(case: dict[str, Any]) -> dict[str, Any]:
    """A case without what others said about the reply before."""
    return {name: value for name, value in case.items() if name != "labels"}


@pages.get("/runs")
def runs_page(caller: Viewer) -> Response:
    """All runs, the newest first; two of them can be compared from here."""
    runs = caller.store.list_runs(limit=_LIST)
    lines = [(run, run_name(run), caller.service.cache.outline(run)) for run in runs]
    return caller.show("runs.html", lines=lines, most=_LIST)


@pages.get("/runs/{id}")
def run_page(
    caller: Viewer,
    id: str,
    *,
    tab: _Tab | None = None,
    outcome: _Text = None,
    category: _Text = None,
    decision: _Text = None,
    tag: _Text = None,
    search: _Text = None,
    after: _Text = None,
) -> Response:
    """A tab of the run: a filter leads to its replies. Only these or more of them when the page is open already."""
    run = find_run(caller, id)
    # A field of the form that was left empty filters nothing.
    chosen = {"outcome": outcome, "category": category, "decision": decision, "tag": tag, "search": search}
    filters = Filters(**{name: value or None for name, value in chosen.items()})
    veil = veil_of(caller, run.id)
    with asking(caller.store, "there is no such page of this list: begin at its first", status=422, kind="invalid"):
        page = visible_page(caller, veil, run.id, filters, after=after or None, limit=_PAGE)
    graded = list(page.items[0].record.grades) if page.items else []
    replies = {
        "rows": [(each.position, each.record) for each in page.items],
        "criteria": graded or [criterion.name for criterion in caller.service.settings.rubric.criteria],
        "hidden": veil.positions,
        "chosen": {name: value or "" for name, value in chosen.items()},
        "is_filtered": any(chosen.values()),
        "next": f"/runs/{run.id}{query_of({'tab': 'replies', **chosen, 'after': page.next})}" if page.next else None,
    }
    if wants_part(caller.request, "replies") or wants_part(caller.request, "more"):
        part = "replies_more.html" if wants_part(caller.request, "more") else "replies_part.html"
        return caller.show(part, run=run, **replies)
    cache = caller.service.cache
    found = cache.figures(run)
    shown = tab or ("replies" if after or any(chosen.values()) else "overview")
    gate = cache.gate(found) if shown == "overview" else None
    view = RunReport(run, found.summary, found.patterns, cache.standing(found), gate=gate)
    return caller.show(
        "run_page.html",
        run=run,
        name=run_name(run),
        view=view,
        tab=shown,
        tabs=_TABS,
        named=_ANCHORS,
        examples=_examples(found, caller, veil=veil) if shown == "patterns" else {},
        others=[
            (each, run_name(each)) for each in caller.store.list_runs(kind=run.kind, limit=20) if each.id != run.id
        ],
        categories=cache.categories(run),
        tags=cache.tags(run),
        outcomes=_OUTCOMES,
        decisions=_DECISIONS,
        **replies,
    )


@pages.get("/compare")
def comparison_page(caller: Viewer, *, before: _Name = "", after: _Name = "") -> Response:
    """The comparison; without two runs, the form that asks for them."""
    runs = [(run, run_name(run)) for run in caller.store.list_runs(limit=100) if run.finished]
    if not before or not after:
        return caller.show("compare.html", runs=runs, chosen={"before": before, "after": after}, view=None)
    first, second = find_run(caller, before), find_run(caller, after)
    view = caller.service.cache.comparison(first, second)
    hidden = veil_of(caller, first.id).cases | veil_of(caller, second.id).cases
    return caller.show(
        "compare.html",
        runs=runs,
        chosen={"before": first.id, "after": second.id},
        view=view,
        flips=[each for each in view.flips if each.id not in hidden][:_FLIPS],
    )


def _examples(found: Figures, caller: Viewer, *, veil: Veil) -> dict[str, list[tuple[str, str, str]]]:
    """For each pattern its examples: id, what is wrong as the store has it now, and a link to the reply."""
    seen: dict[str, list[tuple[str, str, str]]] = {}
    for pattern in found.patterns:
        for id in (id for id, _ in pattern.examples if id not in veil.cases):
            try:
                scored = caller.store.replies.result(found.run.id, id)
            except StoreError:
                continue
            detail = next((tag.detail for tag in scored.record.tags if tag.name == pattern.name), "")
            seen.setdefault(pattern.name, []).append((id, detail, f"/runs/{found.run.id}/replies/{scored.position}"))
    return seen
