"""Two runs -> what changed from one to the other, and whether it could be chance."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from touchstone.report.comparison import comparison_to_dict
from touchstone.service.api.answers import find_run, json_answer
from touchstone.service.api.examples import problems
from touchstone.service.auth.guard import Viewer
from touchstone.service.blind import veil_of
from touchstone.service.context import Here

router = APIRouter(prefix="/v1/comparisons", tags=["comparisons"])
_Name = Annotated[str, Query(max_length=200, description="A run's id, its beginning, `latest` or `previous`.")]


@router.get("", responses=problems(404, 422))
def compare_runs(here: Here, who: Viewer, *, before: _Name = "previous", after: _Name = "latest") -> Response:
    """Every change with its interval and p-value, and the cases whose outcome flipped."""
    first, second = find_run(here, before), find_run(here, after)
    found = comparison_to_dict(here.views.comparison(first, second))
    hidden = veil_of(here, who, first.id).cases | veil_of(here, who, second.id).cases
    return json_answer({**found, "flips": [each for each in found["flips"] if each["id"] not in hidden]})
