"""Waivers over real HTTP: every answer and page follows them, also one that was asked for before."""

import pytest
from tests.service.conftest import running
from tests.service.stored import add_user
from tests.store.review_samples import RUBRIC_TEXT
from tests.store.samples import RECEIPT
from tests.store.waiver_samples import LEAK, PROMISE, reply_with

from touchstone.runs.run import Run
from touchstone.store.runs import open_store

WHY = "the price list says so"
PASSED = {"accuracy": 4, "completeness": 4, "tone": 4, "actionability": 4, "safety": 4}


@pytest.fixture(scope="module")
def team(either_place):
    with running(either_place, has_auth=True, workers=1, waits=False, rate=100_000.0) as started:
        store = started.store
        for id, started_at, replies in (
            ("week-1", "2026-01-01T10:00:00+00:00", [reply_with(0), reply_with(1), reply_with(2)]),
            ("week-2", "2026-01-08T10:00:00+00:00", [reply_with(0, LEAK, PROMISE), reply_with(1), reply_with(2)]),
        ):
            run = Run(id=id, started=started_at, receipt=RECEIPT, kind="production")
            store.create_run(run, rubric=RUBRIC_TEXT)
            store.replies.add(id, replies)
            store.finish_run(id, finished=started_at, seconds=1.0)
        people = {"vera": "viewer", "ada": "reviewer", "lea": "lead"}
        tokens = {name: add_user(store, name, role, has_password=False) for name, role in people.items()}
        started.people = {
            name: started.client(headers={"Authorization": f"Bearer {token}"}) for name, token in tokens.items()
        }
        made = started.people["lea"].post(
            "/v1/queues", json={"name": "week 2", "run": "week-2", "size": 3, "reviewers": ["lea"]}
        )
        assert made.status_code == 201, made.text
        queue = made.json()
        started.queue = queue["id"]
        item = next(each for each in store.queues.items(queue["id"]) if each.result == 0)
        path = f"/v1/queues/{queue['id']}/items/{item.position}/reviews"
        assert started.people["lea"].post(path, json={"grades": PASSED}).status_code == 201
        yield started
        for client in started.people.values():
            client.close()


def waive(client, violation, **values):
    place = {"kind": violation.kind, "start": violation.start, "end": violation.end}
    return client.post("/v1/runs/week-2/results/0/waivers", json={**place, "reason": WHY, **values})


def seen(team):
    """What the service says of the run, by its API and on its pages."""
    vera = team.people["vera"]

    def get(path):
        answer = vera.get(path)
        assert answer.status_code == 200, path
        return answer

    run, reply = get("/v1/runs/week-2").json(), get("/v1/runs/week-2/results/0").json()["result"]
    measures = {each["name"]: each["value"] for each in run["summary"]["measures"]}
    weekly = get(f"/v1/queues/{team.queue}/weekly").json()
    return {
        "pass rate": measures["pass_rate"],
        "unsafe": measures["safety_failures"],
        "violations": run["summary"]["violations"],
        "decisions": run["summary"]["decisions"],
        "patterns": [each["name"] for each in get("/v1/runs/week-2/patterns").json()["patterns"]],
        "actions on": [each["name"] for each in get("/v1/patterns?run=week-2").json()["patterns"]],
        "waived": [each["violation"] for each in run["waived"]],
        "reply": [reply["decision"], reply["rubric"]["outcome"], reply["rubric"]["criteria"]["safety"]["grade"]],
        "passed": [each["id"] for each in get("/v1/runs/week-2/results?outcome=PASS").json()["results"]],
        "sent": [each["id"] for each in get("/v1/runs/week-2/results?decision=send").json()["results"]],
        "history": [each.get("outcome") for each in get("/v1/cases/c-0").json()["history"]],
        "flips": len(get("/v1/comparisons?before=week-1&after=week-2").json()["flips"]),
        "weekly": [weekly["judged_pass_rate"], weekly["judged_violation_rate"], len(weekly["patterns"])],
        "corrected": weekly["pass_rate"]["rate"],
        "agreement": weekly["agreement"]["judge"]["outcome"]["exact"],
        "fails on pages": [
            ">FAIL<" in get("/runs/week-2/replies/0").text,
            "/runs/week-2/replies/0" in get("/runs/week-2?outcome=FAIL").text,
            "c-0" in get("/compare?before=week-1&after=week-2").text,
            "66.7\xa0%" in get("/runs").text,
        ],
        "said on the page": f"because {WHY}" in get("/runs/week-2/replies/0").text,
    }


def test_every_answer_and_page_follows_waivers_and_their_withdrawal(team):
    before = seen(team)
    assert (before["pass rate"], before["unsafe"]) == (2 / 3, 1 / 3)
    assert (before["reply"], before["passed"]) == (["block", "FAIL", 0], ["c-1", "c-2"])
    assert before["fails on pages"] == [True, True, True, True]
    for violation in (LEAK, PROMISE):
        assert waive(team.people["ada"], violation).status_code == 201
    after = seen(team)
    line = f"waived by ada because {WHY}"
    assert after == {
        "pass rate": 1.0,
        "unsafe": 0.0,
        "violations": {},
        # What the judge found is waived, and so is the probability that rested on it: people decide.
        "decisions": {"review": 1, "send": 2},
        "patterns": [],
        "actions on": [],
        "waived": [f"pii leakage {line}", f"unauthorized promise {line}"],
        "reply": ["review", "PASS", 4],
        "passed": ["c-0", "c-1", "c-2"],
        "sent": ["c-1", "c-2"],
        "history": ["PASS", "PASS"],
        "flips": 0,
        "weekly": [1.0, 0.0, 0],
        # About the judge's own word, which people's grades correct.
        "corrected": before["corrected"],
        "agreement": before["agreement"],
        "fails on pages": [False, False, False, False],
        "said on the page": True,
    }
    for violation in (LEAK, PROMISE):
        place = {"kind": violation.kind, "start": violation.start, "end": violation.end, "withdrawn": "yes"}
        assert team.people["ada"].post("/runs/week-2/replies/0/waive", data=place).status_code in (200, 303)
    assert seen(team) == before


def test_one_violation_left_still_fails_the_reply(team):
    assert waive(team.people["ada"], LEAK).status_code == 201
    found = seen(team)
    assert (found["reply"], found["violations"]) == (["block", "FAIL", 0], {"unauthorized_promise": 1})
    page = team.people["ada"].get("/runs/week-2/replies/0").text
    assert f"Waived by ada because {WHY}" in page
    assert (page.count("This is no violation"), page.count("Take the waiver back")) == (1, 1)
    assert waive(team.people["ada"], LEAK, withdrawn=True, reason="").status_code == 201


def test_a_waiver_is_for_reviewers_and_noted_with_who_gave_it_and_took_it_back(team):
    assert waive(team.people["vera"], LEAK).status_code == 403
    assert waive(team.people["ada"], LEAK).status_code == 201
    assert waive(team.people["lea"], LEAK, withdrawn=True, reason="").status_code == 201
    entries = team.people["lea"].get("/v1/audit?limit=2").json()["entries"]
    assert [(each["who"], each["act"], each["subject"]) for each in entries] == [
        ("lea", "waiver withdrawn", "week-2/0"),
        ("ada", "violation waived", "week-2/0"),
    ]
    words = team.people["vera"].get("/v1/runs/week-2/results/0").json()["waivers"]
    assert [(each["by"], each["reason"], each["withdrawn"]) for each in words[-2:]] == [
        ("ada", WHY, False),
        ("lea", "", True),
    ]


def test_what_is_erased_elsewhere_is_no_longer_shown_from_memory(team, either_place):
    """`touchstone store forget` works on the store while the service runs."""
    paths = ("/v1/runs/week-2", "/v1/comparisons?before=week-1&after=week-2", "/runs/week-2", "/runs/week-2/replies/0")
    vera = team.people["vera"]
    assert "free forever" in "".join(vera.get(path).text for path in paths)
    with open_store(str(either_place)) as store:
        store.forget(cases=["c-0"], at="2026-01-09T10:00:00+00:00")
    for path in paths:
        answer = vera.get(path)
        assert (answer.status_code, "free forever" in answer.text) == (200, False), path
