"""Whatever goes wrong in a request -> problem details (RFC 9457) that say what to do and quote no customer."""

import json
import logging
import traceback
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from touchstone.core.errors import CaseError, ConfigError, InputError, ReviewError, StoreError
from touchstone.report.plain import one_line
from touchstone.service.scoring.lanes import OverloadError

MEDIA_TYPE = "application/problem+json"
API = "/v1/"
# What a program can tell apart; the rest of a problem is for people.
TITLES: Mapping[str, str] = {
    "invalid": "Invalid request",
    "not-json": "The body is not JSON",
    "sign-in": "Sign in first",
    "forbidden": "Not allowed",
    "unknown": "Not found",
    "method": "Method not allowed",
    "conflict": "Conflict",
    "closed": "The queue is closed",
    "gone": "Client disconnected",
    "too-large": "Too large",
    "too-slow": "The body took too long",
    "media-type": "The body is not plain JSON",
    "too-many": "Too many requests",
    "overloaded": "Overloaded",
    "store": "Store unavailable",
    "defect": "Internal error",
}
_BY_STATUS = {400: "invalid", 401: "sign-in", 403: "forbidden", 404: "unknown", 405: "method", 409: "conflict"}
_REVIEW = {
    "invalid": (422, "invalid"),
    "unknown": (404, "unknown"),
    "conflict": (409, "conflict"),
    "forbidden": (403, "forbidden"),
}
_STORE_DETAIL = "the database is locked, full or gone: try again; the service's log says what is wrong"
LONGEST_DETAIL = 500
# What the request under way is called in its answer and in the log.
request_id: ContextVar[str] = ContextVar("request_id", default="")

log = logging.getLogger("touchstone.service")


class Refusal(HTTPException):
    """A request that is not carried out; `kind` is a key of TITLES."""

    def __init__(
        self, status: int, kind: str, detail: str, *, headers: Mapping[str, str] | None = None, **members: Any
    ) -> None:
        super().__init__(status, detail, headers)
        self.kind = kind
        self.members = members


def refusal_of(error: Exception) -> Refusal:
    """The refusal that an error amounts to."""
    match error:
        case Refusal():
            return error
        case HTTPException(status_code=status):
            return Refusal(status, _BY_STATUS.get(status, "invalid"), str(error.detail), headers=error.headers)
        case RequestValidationError():
            # Without the values: they are what customers wrote.
            errors = [{"at": ".".join(map(str, each["loc"])), "problem": each["msg"]} for each in error.errors()]
            return Refusal(422, "invalid", "see errors for each field that cannot be used", errors=errors)
        case OverloadError():
            detail = "more cases wait than are soon scored: try again in a second, or send fewer at once"
            return Refusal(503, "overloaded", detail, headers={"Retry-After": "1"})
        case ReviewError(kind=kind):
            status, name = _REVIEW.get(kind, (409, "closed"))
            return Refusal(status, name, str(error))
        case CaseError() | ConfigError() | InputError():
            return Refusal(422, "invalid", str(error))
        case StoreError():
            # Its text names a path or a server, which is nobody's business on the other side.
            log.error("%s", one_line(str(error)))
            return Refusal(503, "store", _STORE_DETAIL, headers={"Retry-After": "5"})
        case _:
            return defect(error)


def defect(error: BaseException) -> Refusal:
    """A defect: where it is goes to the log, its text, which may quote a customer, nowhere."""
    log.error(
        "a defect in %s, %s:\n%s",
        request_id.get() or "no request",
        type(error).__name__,
        "".join(traceback.format_tb(error.__traceback__)),
    )
    return Refusal(500, "defect", "the request met a defect: please report it with the lines in the service's log")


def problem_response(refusal: Refusal) -> Response:
    """The refusal as problem details."""
    body = {
        "type": f"urn:touchstone:problem:{refusal.kind}",
        "title": TITLES[refusal.kind],
        "status": refusal.status_code,
        "detail": one_line(str(refusal.detail))[:LONGEST_DETAIL],
        **({"request_id": request_id.get()} if request_id.get() else {}),
        **refusal.members,
    }
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, refusal.status_code, headers=refusal.headers, media_type=MEDIA_TYPE)
