"""Style, scripts and the mark of the pages, each under a name that changes with its content, so browsers keep it."""

import gzip
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources

from fastapi import APIRouter, Request
from starlette.responses import Response

from touchstone.service.problems import Refusal

router = APIRouter(include_in_schema=False)

_STATIC = ("touchstone.service.pages", "static")
# The report's own style comes first: the pages speak the same language of colours, charts and tables.
_FILES = {
    "style.css": (("touchstone.report", "templates/page.css"), (_STATIC[0], "static/pages.css")),
    "app.js": ((_STATIC[0], "static/app.js"),),
    "grading.js": ((_STATIC[0], "static/grading.js"),),
    "htmx.js": ((_STATIC[0], "static/htmx.min.js"),),
    "mark.svg": ((_STATIC[0], "static/mark.svg"),),
}
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_A_YEAR = "public, max-age=31536000, immutable"


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
    parts = (resources.files(package).joinpath(path).read_bytes() for package, path in _FILES[name])
    content = b"\n".join(parts)
    ending = name[name.rindex(".") :]
    return Asset(content, gzip.compress(content, mtime=0), _TYPES[ending], sha256(content).hexdigest()[:12])


def address(name: str) -> str:
    """Where a page finds the file."""
    return f"/assets/{asset(name).version}/{name}"


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
