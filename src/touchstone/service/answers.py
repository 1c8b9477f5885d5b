"""Values -> JSON answers; what is asked for but is not there -> 404, or in a way no route knows -> 422.

A write that carries an Idempotency-Key is carried out once; sent again, it gets the first answer.
"""

import hashlib
import json
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Query, Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import ParamTypes
from starlette.responses import Response

from touchstone.app.audit import from_now, now
from touchstone.core.codec import content_hash
from touchstone.core.errors import StoreError
from touchstone.io.rows import field_name
from touchstone.runs.run import Kind, Run
from touchstone.service.context import Caller
from touchstone.service.problems import API, Refusal
from touchstone.store.runs import Store

MOST_LISTED = 200
_LONGEST_NAME = 60
KEPT_SECONDS = 24 * 3600.0
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many at most.")]
After = Annotated[str | None, Query(max_length=2000, description="`next` of the page before.")]
_Key = Annotated[
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
T = TypeVar("T")


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


def listed(
    name: str, found: Sequence[T], limit: int, *, row: Callable[[T], Any], cursor: Callable[[T], Any], **head: Any
) -> Response:
    """One page of a list as JSON. `found` has one more than `limit` where another page follows."""
    page = found[:limit]
    more = cursor(page[-1]) if len(found) > limit else None
    return json_answer({**head, name: [row(each) for each in page], "next": more})


def find_run(caller: Caller, name: str, *, kind: Kind = "goldset") -> Run:
    """The run of this id, beginning of an id, `latest` or `previous`; the last two are of the kind."""
    with asking(caller.store, f"there is no run '{name}', or several begin so: GET /v1/runs lists them"):
        return caller.store.find_run(name, kind=kind)


@contextmanager
def asking(store: Store, detail: str, *, status: int = 404, kind: str = "unknown") -> Iterator[None]:
    """What the store cannot give although it can be used is a refusal with this detail; else its error goes on."""
    try:
        yield
    except StoreError:
        store.check()
        raise Refusal(status, kind, detail) from None


@dataclass(frozen=True, slots=True)
class Write:
    """A write, carried out once however often it is sent with its Idempotency-Key, and its answer.

    What it makes gets an id that follows from the key, so that a write whose process died before it was noted as done
    is stored once even when it is carried out again. Answers that are kept hold ids and states, no text of a customer.
    """

    key: str | None
    route: str
    body: bytes

    def once(self, caller: Caller, do: Callable[[str], Any]) -> Response:
        """What `do` gives, as JSON; it is told the id of what it makes."""
        if self.key is None:
            return json_answer(do(secrets.token_hex(8)), status=201)
        key, route, kept_answers = self.key, self.route, caller.store.idempotency
        id = hashlib.sha256("\n".join((caller.name, route, key)).encode()).hexdigest()[:16]
        with _alone(id):
            kept_answers.expire(from_now(-KEPT_SECONDS))
            asked = content_hash(json.loads(self.body or b"null"))
            kept = kept_answers.claim(key, who=caller.name, route=route, request_hash=asked, at=now())
            if kept is not None and kept.request_hash != asked:
                raise Refusal(422, "invalid", "the Idempotency-Key was used for another request: give each its own")
            if kept is not None and kept.done:
                replayed = {"Idempotency-Replayed": "true"}
                return Response(kept.body, kept.status or 201, headers=replayed, media_type="application/json")
            try:
                answer = json_answer(do(id), status=201)
            except BaseException:
                kept_answers.abandon(key, who=caller.name, route=route)
                raise
            kept_answers.finish(key, who=caller.name, route=route, status=201, body=bytes(answer.body).decode())
            return answer


async def find_write(request: Request, key: _Key = None) -> Write:
    """The write that a request asks for."""
    return Write(key, route=request.scope["path"].removeprefix(API), body=await request.body())


Writing = Annotated[Write, Depends(find_write)]


@contextmanager
def _alone(id: str) -> Iterator[None]:
    """One request of a key at a time. A claim that nobody here is working on was left by a process that died."""
    with _lock:
        if id in _under_way:
            detail = "the same request is being carried out: wait a moment and send it again"
            raise Refusal(409, "conflict", detail, headers={"Retry-After": "1"})
        _under_way.add(id)
    try:
        yield
    finally:
        with _lock:
            _under_way.discard(id)
