"""Whatever goes wrong in a request -> problem details (RFC 9457) that say what to do and quote no customer."""

import json
import logging
import traceback
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from touchstone.core.errors import CaseError, ConfigError, InputError, ReviewError, StoreError, TouchstoneError
from touchstone.report.plain import one_line
from touchstone.service.scoring.lanes import OverloadError

MEDIA_TYPE = "application/problem+json"
API = "/v1/"
# What a program can tell apart; the rest of a problem is for people.
TITLES: Mapping[str, str] = {
    "invalid": "What was sent cannot be used",
    "not-json": "The body is not JSON",
    "sign-in": "Sign in first",
    "forbidden": "Not allowed",
    "unknown": "There is no such thing",
    "method": "Not possible here",
    "conflict": "Something newer is there",
    "closed": "The queue is closed",
    "gone": "Nobody waits for the answer",
    "too-large": "Too large",
    "too-slow": "The body did not arrive",
    "media-type": "The body must be JSON",
    "too-many": "Too many requests",
    "overloaded": "Too much to do",
    "store": "The store cannot be used now",
    "defect": "A defect in Touchstone",
}
_BY_STATUS = {400: "invalid", 401: "sign-in", 403: "forbidden", 404: "unknown", 405: "method", 409: "conflict"}
_REVIEW = {"invalid": (422, "invalid"), "unknown": (404, "unknown"), "conflict": (409, "conflict")}
_STORE_DETAIL = "the database is locked, full or gone: try again; the service's log says what is wrong"
_LONGEST = 500
_NO_PAGES = frozenset({"/healthz", "/readyz", "/metrics", "/openapi.json"})

log = logging.getLogger("touchstone.service")


class Refusal(HTTPException):
    """A request that is not carried out; `kind` is a key of TITLES."""

    def __init__(
        self, status: int, kind: str, detail: str, *, headers: Mapping[str, str] | None = None, **members: Any
    ) -> None:
        super().__init__(status, detail, headers)
        self.kind = kind
        self.members = members


def install_problems(app: FastAPI) -> None:
    """Have every error of a route answered as a problem."""
    for error in (HTTPException, RequestValidationError, TouchstoneError, OverloadError):
        app.add_exception_handler(error, _answer)


async def _answer(request: Request, error: Exception) -> Response:
    return await refusal_response(request, refusal_of(error))


async def refusal_response(request: Request, refusal: Refusal) -> Response:
    """The refusal as whoever asked can read it: a program gets problem details, a person a page."""
    if request.url.path.startswith(API) or request.url.path in _NO_PAGES:
        return problem_response(refusal)
    return await _page(request, refusal)


def refusal_of(error: Exception) -> Refusal:
    """The refusal that an error amounts to."""
    match error:
        case Refusal():
            return error
        case HTTPException(status_code=status):
            return Refusal(status, _BY_STATUS.get(status, "invalid"), str(error.detail), headers=error.headers)
        case RequestValidationError():
            # Without the values: they are what customers wrote.
            errors = [{"at": _place(each["loc"]), "problem": each["msg"]} for each in error.errors()]
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
    log.error("a defect, %s:\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
    return Refusal(500, "defect", "the request met a defect: please report it with the lines in the service's log")


def problem_response(refusal: Refusal) -> Response:
    """The refusal as problem details."""
    body = {
        "type": f"urn:touchstone:problem:{refusal.kind}",
        "title": TITLES[refusal.kind],
        "status": refusal.status_code,
        "detail": one_line(str(refusal.detail))[:_LONGEST],
        **refusal.members,
    }
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, refusal.status_code, headers=refusal.headers, media_type=MEDIA_TYPE)


async def _page(request: Request, refusal: Refusal) -> Response:
    """The pages' own form of a refusal, with the ways on for those who are signed in; what leads to the login goes as
    it is."""
    from touchstone.service.auth.guard import find_principal
    from touchstone.service.pages.render import problem_page

    if refusal.kind == "sign-in":
        return problem_response(refusal)
    try:
        who = await find_principal(request, request.app.state.service)
    except StoreError:
        # The page says that the store cannot be used; who asked for it is in there.
        who = None
    errors = "; ".join(f"{each['at']}: {each['problem']}" for each in refusal.members.get("errors", ()))
    detail = one_line(errors or str(refusal.detail))[:_LONGEST]
    return problem_page(request, refusal.status_code, TITLES[refusal.kind], detail, who=who)


def _place(where: tuple[Any, ...]) -> str:
    return ".".join(map(str, where))
