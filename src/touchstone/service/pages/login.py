"""The form to sign in; what it sends is taken by `service.auth.routes`."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from touchstone.service.auth.routes import own_path
from touchstone.service.context import Here
from touchstone.service.pages.render import go_to, show

router = APIRouter(include_in_schema=False)
_PROBLEMS = {
    "wrong": "The name or the password is wrong.",
    "wait": "Too many attempts: wait a few minutes and try again.",
}


@router.get("/login")
def login(
    request: Request,
    here: Here,
    *,
    next: str = "/",
    problem: Annotated[str, Query(max_length=50)] = "",
) -> Response:
    """The form; without --auth there is nobody to sign in."""
    if not here.options.has_auth:
        return go_to("/")
    said = _PROBLEMS.get(problem, "It did not work: try again." if problem else "")
    return show(request, "login.html", who=None, next=own_path(next), problem=said)
