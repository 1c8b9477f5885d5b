"""Queues, blind reviews, undo, rulings, waivers and actions over real HTTP, by people with roles."""

import pytest
from tests.service.conftest import running
from tests.service.stored import add_run, add_user, row

RIGHT = {"accuracy": 4, "completeness": 4, "tone": 4, "actionability": 4, "safety": 4}
POOR = {**RIGHT, "accuracy": 0, "completeness": 1}


@pytest.fixture(scope="module")
def team(either_place):
    with running(either_place, has_auth=True, workers=1, waits=False, rate=100_000.0) as started:
        add_run(started.store, "week-1", rows=[row(n, is_good=n % 3 > 0) for n in range(12)], kind="production")
        # No queue is drawn from it, so that reviewers see what the judge says.
        add_run(
            started.store, "earlier", rows=[row(0, is_good=False)], kind="production", started="2026-01-01T00:00:00"
        )
        people = {"vera": "viewer", "ada": "reviewer", "ben": "reviewer", "lea": "lead"}
        tokens = {name: add_user(started.store, name, role, has_password=False) for name, role in people.items()}
        clients = {name: started.client(headers={"Authorization": f"Bearer {token}"}) for name, token in tokens.items()}
        started.people = clients
        yield started
        for client in clients.values():
            client.close()


@pytest.fixture
def queue(team):
    """A double-scored queue of four."""
    made = team.people["lea"].post("/v1/queues", json={"name": "week 1", "size": 4, "needed": 2})
    assert made.status_code == 201
    return made.json()["id"]


def submit(client, queue, position, grades=RIGHT, **fields):
    return client.post(f"/v1/queues/{queue}/items/{position}/reviews", json={"grades": grades, **fields})


def test_a_queue_is_drawn_and_listed_with_its_progress(team, queue):
    found = team.people["vera"].get(f"/v1/queues/{queue}").json()
    assert (found["run"], found["needed"], found["progress"]["waiting"]) == ("week-1", 2, 4)
    assert queue in [each["id"] for each in team.people["vera"].get("/v1/queues").json()["queues"]]
    items = team.people["vera"].get(f"/v1/queues/{queue}/items", params={"limit": 3}).json()
    assert [each["position"] for each in items["items"]] == [0, 1, 2]
    rest = team.people["vera"].get(f"/v1/queues/{queue}/items", params={"after": items["next"]}).json()
    assert [each["position"] for each in rest["items"]] == [3]


def test_how_likely_an_item_was_drawn_is_for_leads(team, queue):
    assert "inclusion" not in team.people["ada"].get(f"/v1/queues/{queue}/items").json()["items"][0]
    assert "inclusion" in team.people["lea"].get(f"/v1/queues/{queue}/items").json()["items"][0]


def test_an_item_is_blind_until_the_own_review_is_submitted(team, queue):
    ada, ben = team.people["ada"], team.people["ben"]
    taken = ada.post(f"/v1/queues/{queue}/next").json()
    hidden = ("result", "reviews", "differences", "ruling", "waivers")
    assert taken["blind"]
    assert all(taken[name] is None for name in hidden)
    assert "labels" not in taken["case_content"]
    position = taken["position"]
    assert submit(ada, queue, position).json()["state"] == "partly"
    assert ben.get(f"/v1/queues/{queue}/items/{position}").json()["reviews"] is None
    assert team.people["lea"].get(f"/v1/queues/{queue}/items/{position}").json()["blind"]
    seen = ada.get(f"/v1/queues/{queue}/items/{position}").json()
    assert not seen["blind"]
    assert seen["result"]["rubric"]
    assert [each["reviewer"] for each in seen["reviews"]] == ["ada"]


def test_people_who_differ_are_settled_by_a_lead(team, queue):
    ada, ben, lea = (team.people[name] for name in ("ada", "ben", "lea"))
    submit(ada, queue, 0)
    assert submit(ben, queue, 0, POOR).json()["state"] == "differs"
    assert lea.get(f"/v1/queues/{queue}/items/0").json()["differences"]
    ruling = lea.post(f"/v1/queues/{queue}/items/0/ruling", json={"grades": POOR, "reason": "see the policy"})
    assert (ruling.status_code, ruling.json()["state"]) == (201, "settled")
    assert lea.get(f"/v1/queues/{queue}/agreement").status_code == 200
    assert team.people["vera"].get(f"/v1/queues/{queue}/weekly").status_code == 200


def test_a_review_sent_twice_counts_once(team, queue):
    ada = team.people["ada"]
    headers = {"Idempotency-Key": f"once-{queue}"}
    path, body = f"/v1/queues/{queue}/items/1/reviews", {"grades": RIGHT, "note": "fine"}
    first, again = (ada.post(path, json=body, headers=headers) for _ in range(2))
    assert first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
    assert ada.post(path, json={"grades": POOR}, headers=headers).status_code == 422
    assert len(team.store.reviews.of_item(queue, 1)) == 1


def test_a_claim_that_a_dead_process_left_is_carried_out(team, queue):
    ada = team.people["ada"]
    body = {"grades": RIGHT}
    headers = {"Idempotency-Key": f"died-{queue}"}
    made = ada.post(f"/v1/queues/{queue}/items/1/reviews", json=body, headers=headers).json()
    route = f"queues/{queue}/items/1/reviews"
    team.store.idempotency.finish(f"died-{queue}", who="ada", route=route, status=None, body=None)
    assert ada.post(f"/v1/queues/{queue}/items/1/reviews", json=body, headers=headers).json() == made
    assert len(team.store.reviews.of_item(queue, 1)) == 1


def test_a_queue_is_made_once_also_when_the_process_died_before_it_answered(team):
    lea = team.people["lea"]
    headers, body = {"Idempotency-Key": "queue-1"}, {"name": "once", "size": 3}
    made = lea.post("/v1/queues", json=body, headers=headers)
    assert made.status_code == 201
    team.store.idempotency.finish("queue-1", who="lea", route="queues", status=None, body=None)
    again = lea.post("/v1/queues", json=body, headers=headers)
    assert (again.status_code, again.json()) == (201, made.json())
    assert "idempotency-replayed" not in again.headers
    assert [queue.name for queue in team.store.queues.list()].count("once") == 1


def test_a_second_review_without_naming_the_first_is_a_conflict_and_an_edit_is_kept_beside_it(team, queue):
    ada = team.people["ada"]
    first = submit(ada, queue, 2).json()["id"]
    assert submit(ada, queue, 2, POOR).status_code == 409
    assert submit(ada, queue, 2, POOR, supersedes=first).status_code == 201
    assert len(team.store.reviews.of_item(queue, 2)) == 2
    assert [each["grades"] for each in ada.get(f"/v1/queues/{queue}/reviews").json()["reviews"]] == [POOR]


def test_a_review_is_taken_back_by_its_author_alone(team, queue):
    ada, ben = team.people["ada"], team.people["ben"]
    review = submit(ada, queue, 3).json()["id"]
    assert ben.post(f"/v1/queues/{queue}/reviews/{review}/withdraw").status_code == 403
    assert ada.post(f"/v1/queues/{queue}/reviews/{review}/withdraw").json()["state"] == "waiting"


def test_drafts_are_kept_for_their_author(team, queue):
    ada, path = team.people["ada"], f"/v1/queues/{queue}/items/0/draft"
    assert ada.put(path, json={"grades": {"tone": 3}}).status_code == 204
    assert ada.get(path).json() == {"draft": {"grades": {"tone": 3}}}
    assert team.people["ben"].get(path).json() == {"draft": None}
    assert ada.put(path, json={"note": "a" * 200_000}).status_code == 422


def test_a_closed_queue_takes_no_review_until_it_is_opened_again(team, queue):
    lea, ada = team.people["lea"], team.people["ada"]
    assert lea.post(f"/v1/queues/{queue}/close").json()["closed"]
    assert submit(ada, queue, 0).status_code == 409
    assert ada.post(f"/v1/queues/{queue}/next").status_code == 409
    assert lea.post(f"/v1/queues/{queue}/reopen").json()["closed"] is None
    assert submit(ada, queue, 0).status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        {"grades": {**RIGHT, "tone": 7}},
        {"grades": {**RIGHT, "safety": 2}},
        {"grades": {"tone": 4}},
        {"grades": {**RIGHT, "charm": 4}},
        {"grades": RIGHT, "violations": [{"kind": "hallucination", "start": 0, "end": 10**6}]},
        {"grades": RIGHT, "unknown": 1},
        {},
    ],
)
def test_a_review_that_does_not_fit_is_a_422(team, queue, body):
    assert team.people["ada"].post(f"/v1/queues/{queue}/items/0/reviews", json=body).status_code == 422


def test_a_violation_is_waived_with_a_reason(team):
    ada = team.people["ada"]
    reply = ada.get("/v1/runs/earlier/results/0").json()
    violation = reply["result"]["rubric"]["violations"][0]
    place = {name: violation[name] for name in ("kind", "start", "end")}
    path = "/v1/runs/earlier/results/0/waivers"
    assert ada.post(path, json={**place, "reason": ""}).status_code == 422
    assert ada.post(path, json={**place, "end": 0, "reason": "none"}).status_code == 404
    assert ada.post(path, json={**place, "reason": "the new policy says so"}).status_code == 201
    assert len(ada.get("/v1/runs/earlier/results/0").json()["waivers"]) == 1


def test_a_case_is_promoted_once_and_taken_back(team):
    ada, path = team.people["ada"], "/v1/runs/week-1/results/1/promotion"
    for _ in range(2):
        assert ada.put(path).status_code == 204
    assert [each.result for each in team.store.marks.promoted(run="week-1")] == [1]
    assert ada.delete(path).status_code == 204
    assert team.store.marks.promoted(run="week-1") == ()


def test_an_action_is_made_changed_and_protected_from_a_slower_change(team):
    lea = team.people["lea"]
    new = {"pattern": "wrong value", "owner": "retrieval", "text": "index it", "run": "week-1"}
    made = lea.post("/v1/actions", json=new).json()
    change = {"revision": 1, "owner": "retrieval", "text": "indexed", "state": "done"}
    assert lea.put(f"/v1/actions/{made['id']}", json=change).json()["revision"] == 2
    assert lea.put(f"/v1/actions/{made['id']}", json=change).status_code == 409
    assert made["id"] in [each["id"] for each in lea.get("/v1/actions?state=done").json()["actions"]]
    assert lea.get("/v1/patterns?run=week-1").json()["patterns"]


def walk(client, path, name):
    """Everything on a list, read two by two, and the number of its pages."""
    found, pages, after = [], 0, None
    while pages == 0 or after is not None:
        page = client.get(path, params={"limit": 2, **({} if after is None else {"after": after})}).json()
        assert len(page[name]) <= 2
        found, pages, after = [*found, *page[name]], pages + 1, page["next"]
    return found, pages


def test_every_list_is_walked_page_by_page_and_nothing_is_left_out(team):
    lea, ada = team.people["lea"], team.people["ada"]
    queue = [lea.post("/v1/queues", json={"run": "week-1", "size": 5}).json()["id"] for _ in range(3)][-1]
    for position in range(5):
        assert submit(ada, queue, position).status_code == 201
    for number in range(3):
        add_run(team.store, f"again-{number}", rows=[row(0)], kind="production", started="2026-01-02T00:00:00")
    for path, name in (
        ("/v1/runs", "runs"),
        ("/v1/runs/week-1/results", "results"),
        ("/v1/queues", "queues"),
        (f"/v1/queues/{queue}/items", "items"),
        (f"/v1/queues/{queue}/reviews", "reviews"),
        ("/v1/cases/c-0", "history"),
        ("/v1/audit", "entries"),
    ):
        whole = ada if name == "reviews" else lea
        walked, pages = walk(whole, path, name)
        assert pages > 1
        first = whole.get(path, params={"limit": 200}).json()
        assert (walked, first["next"]) == (first[name], None)
        assert whole.get(path, params={"after": "nonsense"}).status_code == 422


def test_reviews_are_walked_past_one_that_is_taken_back_meanwhile(team, queue):
    ada = team.people["ada"]
    ids = [submit(ada, queue, position).json()["id"] for position in range(3)]
    page = ada.get(f"/v1/queues/{queue}/reviews", params={"limit": 1}).json()
    assert ada.post(f"/v1/queues/{queue}/reviews/{page['next']}/withdraw").status_code == 201
    rest = ada.get(f"/v1/queues/{queue}/reviews", params={"after": page["next"]}).json()
    assert [each["id"] for each in rest["reviews"]] == [ids[1], ids[0]]


def test_a_run_that_people_reviewed_is_not_deleted(team, queue):
    response = team.people["lea"].delete("/v1/runs/week-1")
    assert response.status_code == 409
    assert "store forget" in response.json()["detail"]


def test_the_audit_log_is_read_page_by_page(team, queue):
    lea = team.people["lea"]
    first = lea.get("/v1/audit", params={"limit": 1, "person": "lea"}).json()
    assert first["entries"][0]["act"] == "queue made"
    assert lea.get("/v1/audit", params={"after": first["next"]}).status_code == 200
    assert lea.get("/v1/queues", params={"after": "none"}).status_code == 422
