"""A run -> its page: figures, patterns and its replies, filtered and turned over page by page. Two -> what changed."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from touchstone.app.runs import open_run, view_comparison
from touchstone.core.errors import StoreError
from touchstone.report.comparison import MOST_FLIPS
from touchstone.report.run import RunReport
from touchstone.runs.run import Run
from touchstone.service.api.answers import asking, find_run
from touchstone.service.auth.guard import Viewer
from touchstone.service.blind import Veil, veil_of, visible_page
from touchstone.service.context import Here
from touchstone.service.pages.figures import Figures, choices_of, figures_of, outline_of, standing_of
from touchstone.service.pages.overview import run_name
from touchstone.service.pages.render import query_of, show, wants_part
from touchstone.store.pages import Filters
from touchstone.store.runs import Store

router = APIRouter(include_in_schema=False)
_PAGE = 50
_LIST = 100
_FLIPS = min(MOST_FLIPS, 200)
OUTCOMES = {"PASS": "PASS", "FAIL": "FAIL", "open": "not scored"}
DECISIONS = ("send", "review", "block")
_Text = Annotated[str, Query(max_length=500)]
_Name = Annotated[str, Query(max_length=200)]


@router.get("/runs")
def list_runs(request: Request, here: Here, who: Viewer) -> Response:
    """All runs, the newest first; two of them can be compared from here."""
    runs = here.store.list_runs(limit=_LIST)
    lines = [(run, run_name(run), outline_of(run, store=here.store)) for run in runs]
    return show(request, "runs.html", who=who, lines=lines, most=_LIST)


@router.get("/runs/{id}")
def show_run(
    request: Request,
    here: Here,
    who: Viewer,
    id: str,
    *,
    outcome: _Text = "",
    category: _Text = "",
    decision: _Text = "",
    tag: _Text = "",
    search: _Text = "",
    after: _Text = "",
) -> Response:
    """The run, or only its replies or more of them when the page is open already."""
    run = find_run(here, id)
    chosen = {"outcome": outcome, "category": category, "decision": decision, "tag": tag, "search": search}
    veil = veil_of(here, who, run.id)
    replies = _replies(run, chosen, after=after, here=here, veil=veil)
    if wants_part(request, "replies") or wants_part(request, "more"):
        part = "replies_more.html" if wants_part(request, "more") else "replies_part.html"
        return show(request, part, who=who, run=run, **replies)
    found, choices = figures_of(run, store=here.store), choices_of(run, store=here.store)
    standing = standing_of(found, store=here.store)
    view = RunReport(run, found.summary, found.patterns, standing)
    return show(
        request,
        "run_page.html",
        who=who,
        run=run,
        name=run_name(run),
        view=view,
        examples=_examples(found, store=here.store, veil=veil),
        others=[(each, run_name(each)) for each in here.store.list_runs(kind=run.kind, limit=20) if each.id != run.id],
        categories=choices.categories,
        tags=choices.tags,
        outcomes=OUTCOMES,
        decisions=DECISIONS,
        **replies,
    )


@router.get("/compare")
def compare(request: Request, here: Here, who: Viewer, *, before: _Name = "", after: _Name = "") -> Response:
    """The comparison; without two runs, the form that asks for them."""
    runs = [(run, run_name(run)) for run in here.store.list_runs(limit=100) if run.finished]
    chosen = {"before": before, "after": after}
    if not before or not after:
        return show(request, "compare.html", who=who, runs=runs, chosen=chosen, view=None)
    first, second = (open_run(find_run(here, name).id, store=here.store) for name in (before, after))
    view = view_comparison(first, second)
    waiting = veil_of(here, who, first.run.id).cases | veil_of(here, who, second.run.id).cases
    return show(
        request,
        "compare.html",
        who=who,
        runs=runs,
        chosen={"before": first.run.id, "after": second.run.id},
        view=view,
        flips=[each for each in view.flips if each.id not in waiting][:_FLIPS],
    )


def _replies(run: Run, chosen: dict[str, str], *, after: str, here: Here, veil: Veil) -> dict[str, Any]:
    """One page of the replies that are wanted, and the address of the next."""
    wanted = {name: value or None for name, value in chosen.items()}
    with asking(here, "there is no such page of this list: begin at its first", status=422, kind="invalid"):
        page = visible_page(here, veil, run.id, Filters(**wanted), after=after or None, limit=_PAGE)
    criteria = [criterion.name for criterion in here.settings.rubric.criteria]
    if page.items:
        criteria = list(page.items[0].record.grades) or criteria
    return {
        "rows": [(each.position, each.record) for each in page.items],
        "hidden": veil.positions,
        "criteria": criteria,
        "chosen": chosen,
        "is_filtered": any(chosen.values()),
        "next": f"/runs/{run.id}{query_of({**chosen, 'after': page.next})}" if page.next else None,
        "is_first": not after,
    }


def _examples(found: Figures, *, store: Store, veil: Veil) -> dict[str, list[tuple[str, str, str]]]:
    """For each pattern its examples: id, what is wrong as the store has it now, and a link to the reply."""
    seen: dict[str, list[tuple[str, str, str]]] = {}
    for pattern in found.patterns:
        for id in (id for id, _ in pattern.examples if id not in veil.cases):
            try:
                scored = store.replies.result(found.run.id, id)
            except StoreError:
                continue
            detail = next((tag.detail for tag in scored.record.tags if tag.name == pattern.name), "")
            seen.setdefault(pattern.name, []).append((id, detail, f"/runs/{found.run.id}/replies/{scored.position}"))
    return seen
