"""Production replies sent over HTTP: scored, stored once, drawn from, and seen by overview and weekly report."""

import threading

import pytest
from tests.service.conftest import running
from tests.service.stored import add_run, add_user, row

from touchstone.app.config import Settings


@pytest.fixture(scope="module")
def team(either_place):
    with running(either_place, has_auth=True, workers=1, rate=100_000.0, max_cases=8) as started:
        tokens = {name: add_user(started.store, name, name, has_password=False) for name in ("viewer", "lead")}
        started.people = {
            name: started.client(headers={"Authorization": f"Bearer {token}"}) for name, token in tokens.items()
        }
        yield started
        for client in started.people.values():
            client.close()


def batch(*numbers, **fields):
    return {"cases": [row(n, is_good=n % 3 > 0) for n in numbers], **fields}


def add(team, run, body, **headers):
    return team.people["lead"].post(f"/v1/runs/{run}/results", json=body, headers=headers)


def test_batches_grow_a_run_that_a_queue_is_drawn_from_and_the_week_is_reported(team):
    first = add(team, "2026-W12", batch(0, 1, 2, labels={"version": "7"}))
    assert first.status_code == 201
    whole = {"run": "2026-W12", "repeated": 0, "failed": 0, "conflicts": []}
    assert first.json() == {**whole, "added": 3, "replies": 3}
    other = add(team, "2026-W12", batch(3, 4, labels={"version": "8"}))
    assert (other.status_code, other.json()["type"]) == (409, "urn:touchstone:problem:conflict")
    assert "has version=7, and these replies are labelled version=8: add them to another run" in other.json()["detail"]
    assert "has no label bot" in add(team, "2026-W12", batch(3, labels={"bot": "b"})).json()["detail"]
    assert add(team, "2026-W12", batch(0, labels={"version": "7"})).json() == {
        **whole,
        "added": 0,
        "repeated": 1,
        "replies": 3,
    }
    assert add(team, "2026-W12", batch(3, 4)).json() == {**whole, "added": 2, "replies": 5}
    lead = team.people["lead"]
    (run,) = lead.get("/v1/runs", params={"kind": "production"}).json()["runs"]
    assert (run["id"], run["labels"], run["finished"] is not None) == ("2026-W12", {"version": "7"}, True)
    results = lead.get("/v1/runs/2026-W12/results").json()["results"]
    assert [(each["position"], each["id"]) for each in results] == [(n, f"c-{n}") for n in range(5)]
    assert [each["outcome"] for each in results] == ["FAIL", "PASS", "PASS", "FAIL", "PASS"]
    assert "2026-W12" in lead.get("/runs").text
    queue = lead.post("/v1/queues", json={"name": "week 12", "size": 2}).json()
    assert (queue["run"], queue["population"]) == ("2026-W12", 5)
    assert lead.get(f"/v1/queues/{queue['id']}/weekly").json()["judged_pass_rate"] == 0.6
    late = add(team, "2026-W12", batch(5))
    assert (late.status_code, late.json()["type"]) == (409, "urn:touchstone:problem:conflict")
    assert "another run" in late.json()["detail"]
    acts = [entry.act for entry in team.store.audit.page()]
    assert acts.count("replies stored") == 3


def test_a_reply_is_scored_and_kept_as_the_command_line_does_it(team):
    add(team, "as-scored", batch(0, 1))
    add_run(team.store, "by-hand", rows=[row(0, is_good=False), row(1)])
    sent, made = (list(team.store.replies.scored(id)) for id in ("as-scored", "by-hand"))
    assert [(each.case, each.record, each.result) for each in sent] == [
        (each.case, each.record, each.result) for each in made
    ]


def test_a_batch_sent_again_is_there_once_with_a_key_or_without(team):
    key = {"Idempotency-Key": "night-1"}
    first, again = (add(team, "again", batch(1, 2), **key) for _ in range(2))
    assert first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
    assert add(team, "again", batch(1), **key).status_code == 422
    without = add(team, "again", batch(1, 2, 4)).json()
    assert (without["added"], without["repeated"], without["replies"]) == (1, 2, 3)


def test_an_id_with_another_text_is_named_and_left_out(team):
    add(team, "conflict", batch(1))
    other = {**row(1), "response": "Another reply."}
    found = add(team, "conflict", {"cases": [other, row(2)]}).json()
    assert (found["added"], found["conflicts"]) == (1, ["c-1"])
    assert team.store.replies.result("conflict", "c-1").case.response == row(1)["response"]


def test_many_at_once_are_all_there_once(team):
    def send(first):
        add(team, "at-once", batch(*range(first, first + 4)))

    threads = [threading.Thread(target=send, args=(first,)) for first in (0, 0, 2, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = [each.record.id for each in team.store.replies.listed("at-once")]
    assert sorted(kept) == [f"c-{n}" for n in range(8)]
    assert [each.position for each in team.store.replies.listed("at-once")] == list(range(8))


GOOD = row(1)
REFUSED = [
    ("bad name!", {"cases": [GOOD]}, 422, "cannot be a run's name"),
    ("latest", {"cases": [GOOD]}, 422, "cannot be a run's name"),
    ("gold", {"cases": [GOOD]}, 409, "one of a gold set"),
    ("w", {"cases": []}, 422, "allowed are 1 to 8"),
    ("w", {"cases": [GOOD] * 9}, 422, "allowed are 1 to 8"),
    ("w", {"cases": {}}, 422, "no list"),
    ("w", {}, 422, "no list"),
    ("w", {"cases": [GOOD], "label": {}}, 422, "allowed are cases and labels"),
    ("w", {"cases": [GOOD], "labels": {"n": 7}}, 422, "labels"),
    ("w", {"cases": [GOOD, {"input": "Hi"}]}, 422, "1 of 2 cases cannot be read"),
    ("w", {"cases": [GOOD, GOOD]}, 422, "1 of 2 cases cannot be read"),
]


@pytest.mark.parametrize(("run", "body", "status", "detail"), REFUSED)
def test_what_cannot_be_stored_is_a_problem_that_says_why_and_nothing_is(team, run, body, status, detail):
    if run == "gold" and team.store.get_run("gold") is None:
        add_run(team.store, "gold", rows=[row(1)])
    answer = add(team, run, body)
    assert (answer.status_code, detail in answer.json()["detail"]) == (status, True), answer.text
    assert team.store.get_run("w") is None


def test_a_case_that_cannot_be_read_is_named(team):
    errors = add(team, "w", {"cases": [GOOD, {"input": "Hi"}]}).json()["errors"]
    assert [each["at"] for each in errors] == ["cases.1"]
    assert "response" in errors[0]["problem"]


def test_other_bodies_are_refused_as_everywhere(team):
    post = team.people["lead"].post
    assert post("/v1/runs/w/results", content=b"{", headers={"Content-Type": "application/json"}).status_code == 400
    assert post("/v1/runs/w/results", content=b"a,b").status_code == 415
    assert team.people["viewer"].post("/v1/runs/w/results", json={"cases": [GOOD]}).status_code == 403


def test_a_run_graded_otherwise_takes_no_more(tmp_path):
    from dataclasses import replace

    settings = Settings(store=str(tmp_path / "touchstone.db"))
    for thresholds, status in ((settings.plan, 201), (replace(settings.plan, relevance_fail=0.3), 409)):
        with (
            running(tmp_path / "touchstone.db", settings=replace(settings, plan=thresholds), workers=1) as started,
            started.client() as client,
        ):
            answer = client.post("/v1/runs/week/results", json={"cases": [row(1 if status == 201 else 2)]})
            assert answer.status_code == status
    assert "another plan" in answer.json()["detail"]


def test_whatever_else_comes_with_a_reply_is_kept_as_metadata(team):
    case = {**row(0), "customer": 17, "documents": ["a"], "metadata": {"team": "north"}}
    assert add(team, "2026-W30", {"cases": [case]}).status_code == 201
    kept = team.people["lead"].get("/v1/runs/2026-W30/results/0").json()["case"]
    assert (kept["customer"], kept["documents"], kept["metadata"]) == (17, ["a"], {"team": "north"})
