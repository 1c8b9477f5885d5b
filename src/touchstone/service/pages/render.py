"""A template and values -> a page. Whatever is no `Markup` is escaped, and a name the template lacks is an error."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi import Request
from jinja2 import Environment
from starlette.responses import HTMLResponse, RedirectResponse, Response

from touchstone.report.html import REPORT, environment
from touchstone.service.auth.principal import Principal
from touchstone.service.pages.assets import address


def show(request: Request, template: str, *, who: Principal | None, status: int = 200, **values: Any) -> Response:
    """The page for this person."""
    text = _environment().get_template(template).render(who=who, path=request.url.path, **values)
    # A lone surrogate in what a customer wrote is nothing UTF-8 can say.
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def problem_page(request: Request, status: int, title: str, detail: str, *, who: Principal | None = None) -> Response:
    """The page of a refusal. A part of a page that could not be fetched is a line in its place."""
    template = "problem_part.html" if "hx-request" in request.headers else "problem.html"
    return show(request, template, who=who, status=status, title=title, detail=detail)


def wants_part(request: Request, target: str) -> bool:
    """Whether the request is for one part of a page that is open, and not for the page on the way back to it."""
    headers = request.headers
    return headers.get("hx-target") == target and headers.get("hx-history-restore-request") != "true"


def go_to(path: str) -> Response:
    """To another page, after something was changed."""
    return RedirectResponse(path, 303)


def query_of(values: Mapping[str, str | None]) -> str:
    """The values that are given, as the end of an address."""
    from urllib.parse import urlencode

    given = {name: value for name, value in values.items() if value}
    return f"?{urlencode(given)}" if given else ""


@cache
def _environment() -> Environment:
    """The service's own templates, and the report's where it has none of that name."""
    made = environment("touchstone.service.pages", REPORT)
    made.globals["asset"] = address
    return made
