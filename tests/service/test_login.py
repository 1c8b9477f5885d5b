"""Signing in and out, sessions, tokens, CSRF and throttling, over real HTTP."""

import html
import re

import pytest
from tests.service.conftest import running
from tests.service.stored import MADE, PASSWORD, add_user

from touchstone.app.audit import from_now, now
from touchstone.app.users import fingerprint
from touchstone.service.context import COOKIE
from touchstone.service.login import MOST_OF_PAIR, own_path
from touchstone.store.users import ApiToken


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    place = tmp_path_factory.mktemp("team") / "touchstone.db"
    with running(place, has_auth=True, workers=1, waits=False) as started:
        started.tokens = {role: add_user(started.store, f"a-{role}", role) for role in ("viewer", "reviewer", "lead")}
        yield started


@pytest.fixture
def client(team):
    team.store.logins.expire(from_now(60), successes=from_now(60))
    with team.client() as opened:
        yield opened


def sign_in(client, name="a-lead", password=PASSWORD, **fields):
    return client.post("/login", data={"name": name, "password": password, **fields})


def csrf(team, client):
    return team.store.sessions.get(fingerprint(client.cookies[COOKIE])).csrf


def test_without_signing_in_the_api_says_401_and_a_page_leads_to_the_login(client):
    response = client.get("/v1/runs")
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json()["type"] == "urn:touchstone:problem:sign-in"


def test_a_session_begins_and_ends(team, client):
    response = sign_in(client, next="/weekly")
    assert (response.status_code, response.headers["location"]) == (303, "/weekly")
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert client.get("/v1/runs").status_code == 200
    assert client.post("/logout", data={"csrf_token": csrf(team, client)}).status_code == 303
    client.cookies.set(COOKIE, response.cookies[COOKIE])
    assert client.get("/v1/runs").status_code == 401


def test_an_error_page_keeps_the_ways_on_of_whoever_is_signed_in_and_tells_nobody_else_of_them(client):
    assert "<nav" not in client.get("/nothing").text
    sign_in(client, "a-reviewer")
    for path, status in (("/nothing", 404), ("/users", 403)):
        page = client.get(path)
        assert page.status_code == status
        assert 'href="/queues"' in page.text
        assert 'href="/users"' not in page.text
        assert "Sign out" in page.text


def test_the_store_holds_no_secret_as_it_is(team, client):
    sign_in(client)
    raw = b"".join(path.read_bytes() for path in _files(team))
    assert client.cookies[COOKIE].encode() not in raw
    assert PASSWORD.encode() not in raw
    assert team.tokens["lead"].encode() not in raw


def _files(team):
    from pathlib import Path

    return Path(team.store.place).parent.glob("touchstone.db*")


def test_a_change_by_session_needs_its_token_in_header_or_form(team, client):
    sign_in(client)
    assert client.patch("/v1/runs/none/labels", json={}).status_code == 403
    assert client.patch("/v1/runs/none/labels", json={}, headers={"X-CSRF-Token": "guess"}).status_code == 403
    right = {"X-CSRF-Token": csrf(team, client)}
    assert client.patch("/v1/runs/none/labels", json={}, headers=right).status_code == 404
    assert client.post("/logout").status_code == 403


def test_a_change_by_bearer_token_needs_no_csrf_token(team, client):
    bearer = {"Authorization": f"Bearer {team.tokens['lead']}"}
    assert client.patch("/v1/runs/none/labels", json={}, headers=bearer).status_code == 404


@pytest.mark.parametrize("header", ["Bearer x", "Basic abc", "bearer", "Bearer ts_" + "a" * 5000])
def test_a_wrong_token_is_a_401(client, header):
    assert client.get("/v1/runs", headers={"Authorization": header}).status_code == 401


def test_a_token_that_ran_out_or_was_revoked_is_a_401(team, client):
    team.store.tokens.add(ApiToken(id="old", user="a-lead", label="", made=MADE, expires=MADE), hash=fingerprint("old"))
    team.store.tokens.add(ApiToken(id="gone", user="a-lead", label="", made=MADE), hash=fingerprint("gone"))
    assert client.get("/v1/runs", headers={"Authorization": "Bearer gone"}).status_code == 200
    team.store.tokens.revoke("gone", at=now())
    for secret in ("old", "gone"):
        assert client.get("/v1/runs", headers={"Authorization": f"Bearer {secret}"}).status_code == 401


def test_a_disabled_user_is_out_at_once(team, client):
    token = add_user(team.store, "leaver", "lead")
    sign_in(client, "leaver")
    assert client.get("/v1/runs").status_code == 200
    team.store.users.disable("leaver")
    assert client.get("/v1/runs").status_code == 401
    assert client.get("/v1/runs", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert sign_in(client, "leaver").headers["location"] == "/login?problem=wrong"


@pytest.mark.parametrize(
    ("name", "password"), [("a-lead", "wrong"), ("nobody", PASSWORD), ("", ""), ("\x00", "x" * 9999)]
)
def test_a_wrong_name_and_a_wrong_password_look_the_same(client, name, password):
    response = sign_in(client, name, password)
    assert (response.status_code, response.headers["location"]) == (303, "/login?problem=wrong")
    assert COOKIE not in response.cookies


def test_guessing_is_slowed_down_and_the_right_password_does_not_help_then(client):
    for _ in range(MOST_OF_PAIR):
        assert sign_in(client, password="wrong").headers["location"] == "/login?problem=wrong"
    assert sign_in(client).headers["location"] == "/login?problem=wait"
    assert sign_in(client, "a-viewer").headers["location"] == "/"


@pytest.mark.parametrize("problem", ["wrong", "wait"])
def test_a_second_try_leads_where_the_first_one_would_have(client, problem):
    asked = client.get("/queues/q-1?state=differs&note=a%20b")
    wanted = _next_in(client.get(asked.headers["location"]))
    assert wanted == "/queues/q-1?state=differs&note=a%20b"
    for _ in range(MOST_OF_PAIR + 1 if problem == "wait" else 1):
        refused = sign_in(client, password="wrong", next=wanted)
    assert f"problem={problem}" in refused.headers["location"]
    form = client.get(refused.headers["location"])
    assert 'role="alert"' in form.text
    assert sign_in(client, "a-viewer", next=_next_in(form)).headers["location"] == wanted


def _next_in(form):
    """Where the form of a login leads."""
    return html.unescape(re.search(r'name="next" value="([^"]*)"', form.text)[1])


@pytest.mark.parametrize("path", ["//elsewhere.example", "https://elsewhere.example", "/\\elsewhere.example"])
def test_a_mistyped_password_keeps_no_way_to_another_site(client, path):
    assert sign_in(client, password="wrong", next=path).headers["location"] == "/login?problem=wrong"
    assert _next_in(client.get("/login", params={"next": path, "problem": "wrong"})) == "/"


def test_logins_are_in_the_audit_log(team, client):
    sign_in(client)
    sign_in(client, password="wrong")
    acts = [(entry.who, entry.act) for entry in team.store.audit.page(limit=2)]
    assert acts == [("a-lead", "login refused"), ("a-lead", "login")]


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/weekly?x=1", "/weekly?x=1"),
        ("//elsewhere.example", "/"),
        ("/\\elsewhere.example", "/"),
        ("https://elsewhere.example", "/"),
        ("/a\nSet-Cookie: x", "/"),
        ("/" + "a" * 2_000, "/"),
        ("", "/"),
    ],
)
def test_a_login_leads_to_our_own_pages_only(path, kept):
    assert own_path(path) == kept
