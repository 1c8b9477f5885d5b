"""One's own password and sessions, and the link that begins an account, over real HTTP."""

import re

import pytest
from tests.service.conftest import running
from tests.service.stored import PASSWORD, add_user

from touchstone.app.audit import from_now, now
from touchstone.app.users import fingerprint
from touchstone.service.context import COOKIE

NEW = "another handful of words"


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    with running(
        tmp_path_factory.mktemp("account") / "touchstone.db", has_auth=True, workers=1, waits=False
    ) as started:
        yield started


@pytest.fixture(autouse=True)
def browsers(team):
    team.browsers = []
    yield
    for each in team.browsers:
        each.close()


def signed_in(team, name, password=PASSWORD):
    """A browser; whether it was let in shows in its cookies."""
    client = team.client()
    team.browsers.append(client)
    client.post("/login", data={"name": name, "password": password})
    return client


def send(team, client, path, **fields):
    csrf = team.store.sessions.get(fingerprint(client.cookies[COOKIE])).csrf
    return client.post(path, data={"csrf_token": csrf, **fields})


def acts(team, name):
    return [each.act for each in team.store.audit.page(who=name)]


def test_a_person_changes_their_password_and_other_sessions_end(team):
    add_user(team.store, "ada", "viewer")
    here, elsewhere = signed_in(team, "ada"), signed_in(team, "ada")
    before = here.cookies[COOKIE]
    response = send(team, here, "/account/password", current=PASSWORD, password=NEW)
    assert (response.status_code, response.headers["location"]) == (303, "/account?done=password")
    assert here.cookies[COOKIE] != before
    assert "Your password is changed" in here.get("/account?done=password").text
    assert elsewhere.get("/account").status_code == 303
    assert COOKIE not in signed_in(team, "ada").cookies
    assert COOKIE in signed_in(team, "ada", NEW).cookies
    assert "password set" in acts(team, "ada")


@pytest.mark.parametrize(
    ("current", "password", "said"),
    [
        ("wrong words", NEW, "current password is wrong"),
        (PASSWORD, "0123456789", "tried first"),
        (PASSWORD, "x", "10 to"),
    ],
)
def test_a_wrong_current_or_a_weak_new_password_changes_nothing(team, current, password, said):
    name = f"bob-{len(current)}-{len(password)}"
    add_user(team.store, name, "viewer")
    client = signed_in(team, name)
    response = send(team, client, "/account/password", current=current, password=password)
    assert response.status_code == 422
    assert said in response.text
    assert client.get("/account").status_code == 200
    assert COOKIE in signed_in(team, name).cookies


def test_the_current_password_cannot_be_guessed_from_an_open_session(team):
    add_user(team.store, "cleo", "viewer")
    client = signed_in(team, "cleo")
    for _ in range(5):
        send(team, client, "/account/password", current="wrong words", password=NEW)
    said = send(team, client, "/account/password", current=PASSWORD, password=NEW)
    assert (said.status_code, "Too many attempts" in said.text) == (422, True)
    team.store.logins.expire(from_now(60), successes=from_now(60))


def test_a_person_signs_out_everywhere_else(team):
    add_user(team.store, "dan", "viewer")
    here, elsewhere = signed_in(team, "dan"), signed_in(team, "dan")
    assert send(team, here, "/account/sessions").status_code == 303
    assert here.get("/account").status_code == 200
    assert elsewhere.get("/account").status_code == 303
    assert "signed out elsewhere" in acts(team, "dan")


def invited(team, name, **fields):
    """The path of the link that a lead makes."""
    if team.store.users.get("a-lead") is None:
        add_user(team.store, "a-lead", "lead")
    response = send(team, signed_in(team, "a-lead"), "/users/invite", name=name, **fields)
    assert response.status_code == 200
    return re.search(re.escape(team.address) + r"(/invite/[\w-]+)<", response.text)[1]


def test_an_invite_lets_a_new_person_choose_a_password_once(team):
    path = invited(team, "eva", role="reviewer")
    with team.client() as client:
        assert "Welcome, <bdi>eva</bdi>" in client.get(path).text
        assert client.post(path, data={"password": "x" * 12}).status_code == 422
        response = client.post(path, data={"password": NEW})
        assert (response.status_code, response.headers["location"]) == (303, "/")
        assert "eva</bdi>, reviewer" in client.get("/account").text
        assert client.get(path).status_code == 404
        assert client.post(path, data={"password": NEW}).status_code == 404
    assert COOKIE in signed_in(team, "eva", NEW).cookies
    assert "invite accepted" in acts(team, "eva")
    assert {"user added as reviewer", "user invited"} <= set(acts(team, "a-lead"))


def test_an_invite_ends_with_time_with_a_newer_one_and_with_the_access(team):
    first = invited(team, "finn", role="viewer")
    second = invited(team, "finn")
    with team.client() as client:
        assert (client.get(first).status_code, client.get(second).status_code) == (404, 200)
        hash = fingerprint(second.rpartition("/")[2])
        assert team.store.invites.user(hash, now=from_now(6.9 * 86_400)) == "finn"
        assert team.store.invites.user(hash, now=from_now(7.1 * 86_400)) is None
        team.store.users.disable("finn")
        team.store.users.enable("finn")
        assert client.get(second).status_code == 404
        assert client.get("/invite/nothing").status_code == 404


def test_the_store_keeps_no_invite_as_it_is(team):
    secret = invited(team, "gus", role="viewer").rpartition("/")[2]
    assert team.store.invites.user(fingerprint(secret), now=now()) == "gus"
    assert team.store.invites.user(secret, now=now()) is None


def test_without_logins_nobody_has_an_account(client):
    assert client.get("/account").status_code == 403
