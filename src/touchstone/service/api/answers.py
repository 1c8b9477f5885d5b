"""Values -> JSON answers; what is asked for but is not there -> 404, or in a way no route knows -> 422.

A write that carries an Idempotency-Key is carried out once; sent again, it gets the first answer.
"""

import hashlib
import json
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Annotated, Any

from fastapi import Header, Query, Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import ParamTypes
from starlette.responses import Response

from touchstone.core.codec import content_hash
from touchstone.core.errors import StoreError
from touchstone.io.rows import field_name
from touchstone.runs.run import Kind, Run
from touchstone.service.auth.principal import Principal
from touchstone.service.context import Service, from_now, now
from touchstone.service.problems import Refusal

MOST_LISTED = 200
_LONGEST_NAME = 60
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many at most.")]
After = Annotated[str | None, Query(max_length=2000, description="`next` of the page before.")]
KEPT_SECONDS = 24 * 3600.0
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[!-~]+$",
        description="Any text of your own; a request sent again with it is not carried out again.",
    ),
]
_under_way: set[str] = set()
_lock = threading.Lock()


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


def carry_out(
    here: Service,
    who: Principal,
    key: str | None,
    do: Callable[[str], Any],
    *,
    route: str,
    content: Any,
    status: int = 201,
) -> Response:
    """What `do` gives, as JSON; it is told the id of what it makes.

    The id follows from the key, so that a write whose process died before it was noted as done is stored once even
    when it is carried out again. Answers that are kept hold ids and states, and no text of a customer.
    """
    if key is None:
        return json_answer(do(secrets.token_hex(8)), status=status)
    with _alone(_id(key, who.name, route)) as id:
        store = here.store.idempotency
        store.expire(from_now(-KEPT_SECONDS))
        asked = content_hash(content)
        kept = store.claim(key, who=who.name, route=route, request_hash=asked, at=now())
        if kept is not None and kept.request_hash != asked:
            raise Refusal(422, "invalid", "the Idempotency-Key was used for another request: give each its own")
        if kept is not None and kept.done:
            replayed = {"Idempotency-Replayed": "true"}
            return Response(kept.body, kept.status or status, headers=replayed, media_type="application/json")
        try:
            answer = json_answer(do(id), status=status)
        except BaseException:
            store.abandon(key, who=who.name, route=route)
            raise
        store.finish(key, who=who.name, route=route, status=status, body=bytes(answer.body).decode())
        return answer


@contextmanager
def _alone(id: str) -> Iterator[str]:
    """One request of a key at a time. A claim that nobody here is working on was left by a process that died."""
    with _lock:
        if id in _under_way:
            detail = "the same request is being carried out: wait a moment and send it again"
            raise Refusal(409, "conflict", detail, headers={"Retry-After": "1"})
        _under_way.add(id)
    try:
        yield id
    finally:
        with _lock:
            _under_way.discard(id)


def _id(key: str, who: str, route: str) -> str:
    return hashlib.sha256("\n".join((who, route, key)).encode()).hexdigest()[:16]
