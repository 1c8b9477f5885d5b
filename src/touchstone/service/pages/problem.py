"""What went wrong -> a page that says so and what to do."""

from fastapi import Request
from starlette.responses import Response

from touchstone.service.auth.principal import Principal
from touchstone.service.pages.render import show


def problem_page(request: Request, status: int, title: str, detail: str, *, who: Principal | None = None) -> Response:
    """The page of a refusal. A part of a page that could not be fetched is a line in its place."""
    template = "problem_part.html" if "hx-request" in request.headers else "problem.html"
    return show(request, template, who=who, status=status, title=title, detail=detail)
