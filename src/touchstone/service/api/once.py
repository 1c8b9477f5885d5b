"""A write that carries an Idempotency-Key -> carried out once; sent again, it gets the first answer."""

import hashlib
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Header
from starlette.responses import Response

from touchstone.core.codec import content_hash
from touchstone.service.api.answers import json_answer
from touchstone.service.auth.principal import Principal
from touchstone.service.clock import from_now, now
from touchstone.service.context import Service
from touchstone.service.problems import Refusal

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
