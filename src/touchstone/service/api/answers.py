"""Values -> JSON answers; what is asked for but is not there -> 404, or in a way no route knows -> 422."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import ParamTypes
from starlette.responses import Response

from touchstone.core.errors import StoreError
from touchstone.io.json_text import field_name
from touchstone.runs.run import Kind, Run
from touchstone.service.context import Service
from touchstone.service.problems import Refusal

MOST_LISTED = 200
_LONGEST_NAME = 60
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many at most.")]
After = Annotated[str | None, Query(max_length=2000, description="`next` of the page before.")]


async def check_query(request: Request) -> None:
    """Refusal for a query parameter that the route does not have: a misspelt filter would list everything."""
    if not request.query_params:
        return
    fields = get_flat_params(request.scope["route"].dependant)
    allowed = [field.alias for field in fields if getattr(field.field_info, "in_", None) is ParamTypes.query]
    unknown = next((name for name in request.query_params if name not in allowed), None)
    if unknown is None:
        return
    near = get_close_matches(unknown[:_LONGEST_NAME], allowed, n=1)
    hint = f"; nearest is '{near[0]}'" if near else ""
    known = f"allowed are {', '.join(allowed)}" if allowed else "this route takes none"
    raise Refusal(422, "invalid", f"query parameter {field_name(unknown)} is not known{hint}; {known}")


def json_answer(value: Any, *, status: int = 200) -> Response:
    """The value as JSON; half a surrogate pair, which a file may hold, becomes a question mark."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), status, media_type="application/json")


def find_run(here: Service, name: str, *, kind: Kind = "goldset") -> Run:
    """The run of this id, beginning of an id, `latest` or `previous`; the last two are of the kind."""
    with asking(here, f"there is no run '{name}', or several begin so: GET /v1/runs lists them"):
        return here.store.find_run(name, kind=kind)


@contextmanager
def asking(here: Service, detail: str, *, status: int = 404, kind: str = "unknown") -> Iterator[None]:
    """What the store cannot give although it can be used is a refusal with this detail; else its error goes on."""
    try:
        yield
    except StoreError:
        here.store.check()
        raise Refusal(status, kind, detail) from None
