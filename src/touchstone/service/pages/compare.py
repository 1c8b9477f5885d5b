"""Two runs -> what changed from one to the other."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from touchstone.app.runs import open_run, view_comparison
from touchstone.report.comparison import MOST_FLIPS, comparison_groups
from touchstone.report.plain import one_line
from touchstone.service.api.answers import find_run
from touchstone.service.auth.guard import Viewer
from touchstone.service.blind import veil_of
from touchstone.service.context import Here
from touchstone.service.pages.overview import run_name
from touchstone.service.pages.render import show

router = APIRouter(include_in_schema=False)
_Name = Annotated[str, Query(max_length=200)]
_SHOWN = min(MOST_FLIPS, 200)


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
    hidden = {one_line(case) for case in waiting}
    return show(
        request,
        "compare.html",
        who=who,
        runs=runs,
        chosen={"before": first.run.id, "after": second.run.id},
        view=view,
        groups=comparison_groups(view),
        flips=[each for each in view.flips if each.id not in hidden][:_SHOWN],
    )
