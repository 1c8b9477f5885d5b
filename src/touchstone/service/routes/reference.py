"""The API's description, with named schemas and who may ask, and the page that shows it and tries it."""

from typing import Any

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from touchstone.service.answers import json_answer
from touchstone.service.context import SAFE_METHODS, Here, Viewer
from touchstone.service.problems import API
from touchstone.service.schemas import COMPONENTS, SECURITY, problems

pages = APIRouter(include_in_schema=False)
_OPEN = ("/healthz", "/readyz")


@pages.get("/openapi.json")
def description(request: Request, here: Here) -> Response:
    """The description of every route. Open to everybody."""
    return json_answer(describe(request.app, has_auth=here.options.has_auth))


@pages.get("/docs")
def reference(caller: Viewer) -> Response:
    """The description to read and to try."""
    return caller.show("reference.html")


def describe(app: FastAPI, *, has_auth: bool) -> dict[str, Any]:
    """What FastAPI says of the routes, with our schemas; it is made once."""
    found = app.openapi()
    components = found.setdefault("components", {})
    if "securitySchemes" in components:
        return found
    components["schemas"] = dict(sorted((COMPONENTS | components.get("schemas", {})).items()))
    components["securitySchemes"] = SECURITY
    schemes: list[dict[str, list[str]]] = [{name: []} for name in SECURITY]
    found["security"] = schemes if has_auth else [*schemes, {}]
    unread = {str(status): answer for status, answer in problems(415).items() if status == 415}
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            if path in _OPEN:
                operation["security"] = []
            if path.startswith(API) and method.upper() not in SAFE_METHODS:
                operation["responses"] |= unread
    return found
