"""Values -> JSON answers, and what is asked for but is not there -> 404."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from touchstone.core.errors import StoreError
from touchstone.runs.run import Kind, Run
from touchstone.service.context import Service
from touchstone.service.problems import Refusal

MOST_LISTED = 200
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many at most.")]
After = Annotated[str | None, Query(max_length=2000, description="`next` of the page before.")]


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
