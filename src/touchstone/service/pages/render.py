"""A template and values -> a page; and style, scripts and mark, each under a name that changes with its content."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from jinja2 import Environment
from starlette.responses import HTMLResponse, RedirectResponse, Response

from touchstone.report.html import REPORT, environment
from touchstone.service.problems import Refusal

if TYPE_CHECKING:
    from touchstone.service.context import Principal

_OURS = "touchstone.service.pages"
# The report's own style comes first: the pages speak the same language of colours, charts and tables.
_FILES = {
    "style.css": ((REPORT, "templates/page.css"), (_OURS, "static/pages.css")),
    "app.js": ((REPORT, "templates/theme.js"), (_OURS, "static/app.js")),
    "grading.js": ((_OURS, "static/grading.js"),),
    "htmx.js": ((_OURS, "static/htmx.min.js"),),
    "reference.js": ((_OURS, "static/reference.js"),),
    "swagger-ui.css": ((_OURS, "static/swagger-ui.css"),),
    "swagger-ui.js": ((_OURS, "static/swagger-ui.min.js"),),
    "mark.svg": ((_OURS, "static/mark.svg"),),
}
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_A_YEAR = "public, max-age=31536000, immutable"

router = APIRouter(include_in_schema=False)


def show(request: Request, template: str, *, user: "Principal | None", status: int = 200, **values: Any) -> Response:
    """The page for this person."""
    text = _environment().get_template(template).render(user=user, path=request.url.path, **values)
    # A lone surrogate in what a customer wrote is nothing UTF-8 can say.
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def wants_part(request: Request, target: str) -> bool:
    """Whether the request is for one part of a page that is open, and not for the page on the way back to it."""
    headers = request.headers
    return headers.get("hx-target") == target and headers.get("hx-history-restore-request") != "true"


def go_to(path: str) -> Response:
    """To another page, after something was changed."""
    return RedirectResponse(path, 303)


def query_of(values: Mapping[str, str | None]) -> str:
    """The values that are given, as the end of an address."""
    given = {name: value for name, value in values.items() if value}
    return f"?{urlencode(given)}" if given else ""


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent."""

    content: bytes
    zipped: bytes
    media_type: str
    version: str


@cache
def asset(name: str) -> Asset:
    """The file of that name; KeyError when there is none."""
    content = b"\n".join(resources.files(package).joinpath(path).read_bytes() for package, path in _FILES[name])
    ending = name[name.rindex(".") :]
    return Asset(content, gzip.compress(content, mtime=0), _TYPES[ending], sha256(content).hexdigest()[:12])


@router.get("/assets/{version}/{name}")
def send(request: Request, version: str, name: str) -> Response:
    """The file; an old version's address gives the present one, which is not to be kept then."""
    if name not in _FILES:
        raise Refusal(404, "unknown", "there is no such file")
    found = asset(name)
    headers = {"Cache-Control": _A_YEAR if version == found.version else "no-store", "Vary": "Accept-Encoding"}
    takes_gzip = "gzip" in request.headers.get("accept-encoding", "")
    if takes_gzip:
        headers["Content-Encoding"] = "gzip"
    return Response(found.zipped if takes_gzip else found.content, media_type=found.media_type, headers=headers)


def _address(name: str) -> str:
    """Where a page finds the file."""
    return f"/assets/{asset(name).version}/{name}"


@cache
def _environment() -> Environment:
    """The service's own templates, and the report's where it has none of that name."""
    made = environment(_OURS, REPORT)
    made.globals["asset"] = _address
    return made
