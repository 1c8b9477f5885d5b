"""Every route of the application and every role: who is let in, and who is not."""

import re

import pytest
from starlette.routing import Route
from tests.service.conftest import running
from tests.service.stored import add_user

# Open to everybody: they tell nothing, or are where one signs in.
OPEN = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/openapi.json"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("GET", "/invite/{secret}"),
    ("POST", "/invite/{secret}"),
    ("GET", "/assets/{version}/{name}"),
}
# The least role of each route of the API.
NEEDS = {
    ("POST", "/v1/score"): "viewer",
    ("GET", "/v1/runs"): "viewer",
    ("GET", "/v1/runs/{run}"): "viewer",
    ("GET", "/v1/runs/{run}/patterns"): "viewer",
    ("GET", "/v1/runs/{run}/results"): "viewer",
    ("POST", "/v1/runs/{run}/results"): "lead",
    ("GET", "/v1/runs/{run}/results/{position}"): "viewer",
    ("PATCH", "/v1/runs/{run}/labels"): "lead",
    ("DELETE", "/v1/runs/{run}"): "lead",
    ("GET", "/v1/comparisons"): "viewer",
    ("GET", "/v1/cases/{case:path}"): "viewer",
    ("GET", "/v1/queues"): "viewer",
    ("POST", "/v1/queues"): "lead",
    ("GET", "/v1/queues/{queue}"): "viewer",
    ("GET", "/v1/queues/{queue}/items"): "viewer",
    ("POST", "/v1/queues/{queue}/close"): "lead",
    ("POST", "/v1/queues/{queue}/reopen"): "lead",
    ("GET", "/v1/queues/{queue}/agreement"): "lead",
    ("GET", "/v1/queues/{queue}/weekly"): "viewer",
    ("POST", "/v1/queues/{queue}/items/{position}/skip"): "reviewer",
    ("POST", "/v1/queues/{queue}/next"): "reviewer",
    ("GET", "/v1/queues/{queue}/items/{position}"): "reviewer",
    ("POST", "/v1/queues/{queue}/items/{position}/reviews"): "reviewer",
    ("GET", "/v1/queues/{queue}/reviews"): "reviewer",
    ("POST", "/v1/queues/{queue}/reviews/{review}/withdraw"): "reviewer",
    ("GET", "/v1/queues/{queue}/items/{position}/draft"): "reviewer",
    ("PUT", "/v1/queues/{queue}/items/{position}/draft"): "reviewer",
    ("POST", "/v1/queues/{queue}/items/{position}/ruling"): "lead",
    ("GET", "/v1/patterns"): "viewer",
    ("GET", "/v1/actions"): "viewer",
    ("POST", "/v1/actions"): "lead",
    ("PUT", "/v1/actions/{action}"): "lead",
    ("POST", "/v1/runs/{run}/results/{position}/waivers"): "reviewer",
    ("PUT", "/v1/runs/{run}/results/{position}/promotion"): "reviewer",
    ("DELETE", "/v1/runs/{run}/results/{position}/promotion"): "reviewer",
    ("GET", "/v1/audit"): "lead",
    ("GET", "/metrics"): "viewer",
    ("POST", "/logout"): "viewer",
}
# The least role of each page, and of what its forms do.
PAGES = {
    ("GET", "/"): "viewer",
    ("GET", "/docs"): "viewer",
    ("GET", "/compare"): "viewer",
    ("GET", "/playground"): "viewer",
    ("POST", "/playground"): "viewer",
    ("GET", "/overview"): "viewer",
    ("POST", "/demo"): "lead",
    ("GET", "/queues"): "viewer",
    ("POST", "/queues"): "lead",
    ("POST", "/queues/upload"): "lead",
    ("GET", "/queues/upload/{id}"): "lead",
    ("POST", "/queues/upload/{id}"): "lead",
    ("POST", "/queues/upload/{id}/score"): "lead",
    ("POST", "/queues/upload/{id}/cancel"): "lead",
    ("GET", "/connect"): "lead",
    ("POST", "/connect"): "lead",
    ("GET", "/queues/{id}"): "lead",
    ("POST", "/queues/{id}/close"): "lead",
    ("POST", "/queues/{id}/promote"): "lead",
    ("GET", "/queues/{id}/goldset.jsonl"): "lead",
    ("POST", "/queues/{id}/calibrate"): "lead",
    ("GET", "/queues/{id}/differences"): "lead",
    ("GET", "/queues/{id}/items/{position}"): "lead",
    ("POST", "/queues/{id}/items/{position}"): "lead",
    ("POST", "/queues/{id}/reopen"): "lead",
    ("GET", "/review"): "reviewer",
    ("GET", "/review/{queue}"): "reviewer",
    ("GET", "/review/{queue}/{position}"): "reviewer",
    ("POST", "/review/{queue}/{position}"): "reviewer",
    ("POST", "/review/{queue}/{position}/draft"): "reviewer",
    ("POST", "/review/{queue}/{position}/skip"): "reviewer",
    ("POST", "/review/{queue}/{position}/undo"): "reviewer",
    ("GET", "/rubrics"): "viewer",
    ("GET", "/runs"): "viewer",
    ("GET", "/runs/{id}"): "viewer",
    ("GET", "/runs/{id}/cases"): "viewer",
    ("GET", "/runs/{id}/replies/{position}"): "viewer",
    ("POST", "/runs/{id}/replies/{position}/promote"): "reviewer",
    ("POST", "/runs/{id}/replies/{position}/waive"): "reviewer",
    ("GET", "/users"): "lead",
    ("POST", "/users"): "lead",
    ("POST", "/users/access"): "lead",
    ("POST", "/users/password"): "lead",
    ("POST", "/users/invite"): "lead",
    ("POST", "/users/role"): "lead",
    ("POST", "/users/tokens"): "lead",
    ("POST", "/users/tokens/revoke"): "lead",
    ("GET", "/weekly"): "viewer",
    ("GET", "/weekly/{id}"): "viewer",
    ("POST", "/weekly/{id}/actions"): "lead",
    ("GET", "/weekly/{id}/export.{format}"): "viewer",
}
# For whoever signed in with a password, and for no token.
SESSION = {("GET", "/account"), ("POST", "/account/password"), ("POST", "/account/sessions")}
ROLES = ("viewer", "reviewer", "lead")


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    place = tmp_path_factory.mktemp("matrix") / "touchstone.db"
    with running(place, has_auth=True, workers=1, rate=100_000.0) as started:
        started.tokens = {role: add_user(started.store, role, role, has_password=False) for role in ROLES}
        yield started


def routes(app):
    """Method and path of every route, however deep it is included."""
    found = set()
    waiting = list(app.routes)
    while waiting:
        route = waiting.pop()
        if isinstance(route, Route):
            found |= {(method, route.path) for method in route.methods or () if method != "HEAD"}
        inner = getattr(route, "original_router", None) or getattr(route, "app", None)
        waiting += getattr(inner, "routes", ())
    return found


def path_of(pattern):
    """A path that fits the pattern; a whole number fits wherever a name does."""
    return re.sub(r"\{[^}]+\}", "7", pattern)


def answer(team, method, pattern, role):
    headers = {"Authorization": f"Bearer {team.tokens[role]}"} if role else {}
    with team.client(headers=headers) as client:
        return client.request(method, path_of(pattern))


def test_every_route_is_in_the_table(team):
    assert routes(team.app) == OPEN | SESSION | set(NEEDS) | set(PAGES)


def test_whatever_can_be_got_can_be_asked_for_its_headers(team):
    for pattern in sorted(path for method, path in routes(team.app) if method == "GET"):
        asked, got = (answer(team, method, pattern, "lead") for method in ("HEAD", "GET"))
        assert (asked.status_code, asked.content) == (got.status_code, b""), pattern
        assert asked.headers["content-type"] == got.headers["content-type"] if got.content else True, pattern


def test_nobody_who_is_not_signed_in_gets_anywhere_but_where_all_may(team):
    for method, pattern in sorted(routes(team.app) - OPEN):
        status = answer(team, method, pattern, None).status_code
        assert status in (401, 303), (method, pattern, status)


def test_a_token_reaches_nobodys_account(team):
    assert {answer(team, *route, "lead").status_code for route in SESSION} == {403}


@pytest.mark.parametrize("role", ROLES)
def test_each_role_is_let_in_where_it_may_be_and_nowhere_else(team, role):
    for (method, pattern), least in (NEEDS | PAGES).items():
        response = answer(team, method, pattern, role)
        is_refused = response.status_code == 403
        assert is_refused == (ROLES.index(role) < ROLES.index(least)), (method, pattern, response.status_code)
        assert response.status_code not in (401, 500), (method, pattern)
