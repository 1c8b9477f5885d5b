"""Runs, results, cases and comparisons over real HTTP."""

import pytest
from tests.service.conftest import running
from tests.service.stored import add_run, row

from touchstone.runs.run import Terms


@pytest.fixture(scope="module")
def service(either_place):
    with running(either_place, workers=1, waits=False) as started:
        yield started


@pytest.fixture(scope="module", autouse=True)
def runs(service):
    add_run(service.store, "run-a", rows=[row(n, is_good=n < 3) for n in range(8)], started="2026-03-01T00:00:00+00:00")
    add_run(service.store, "run-b", rows=[row(n, is_good=n < 6) for n in range(8)], started="2026-03-02T00:00:00+00:00")


def test_runs_are_listed_page_by_page_the_newest_first(client):
    first = client.get("/v1/runs", params={"limit": 1}).json()
    assert [run["id"] for run in first["runs"]] == ["run-b"]
    second = client.get("/v1/runs", params={"limit": 1, "after": first["next"]}).json()
    assert [run["id"] for run in second["runs"]] == ["run-a"]
    assert second["next"] is None
    assert client.get("/v1/runs", params={"kind": "production"}).json()["runs"] == []


def test_a_run_is_found_by_id_by_its_beginning_and_as_latest(client):
    for name, id in (("run-a", "run-a"), ("run-b", "run-b"), ("latest", "run-b"), ("previous", "run-a")):
        assert client.get(f"/v1/runs/{name}").json()["run"]["id"] == id


def test_a_run_has_the_gate_it_was_held_by_as_it_counts_now(service, client):
    assert client.get("/v1/runs/run-b").json()["gate"] is None
    assert "by the rubric&#39;s targets" in client.get("/runs/run-b").text
    service.store.keep_terms("run-b", Terms(least_scored=0.5, baseline="run-a"))
    assert f"release gate: {client.get('/v1/runs/run-b').json()['gate']['standing']}" in client.get("/runs/run-b").text

    def safety():
        gate = client.get("/v1/runs/run-b").json()["gate"]
        return next(
            check["reason"] for check in gate["checks"] if "safety" in check["name"] and "base" in check["name"]
        )

    before = safety()
    violation = service.store.replies.at("run-a", 7).result.rubric.violations[0]
    waiver = {"kind": violation.kind, "start": violation.start, "end": violation.end, "reason": "allowed"}
    address = "/v1/runs/run-a/results/7/waivers"
    assert client.post(address, json=waiver).status_code == 201
    assert safety() != before
    assert client.post(address, json={**waiver, "withdrawn": True}).status_code == 201
    assert safety() == before


@pytest.mark.parametrize(
    "path",
    ["/v1/runs/none", "/v1/runs/run-", "/v1/runs/latest/results/99", "/v1/cases/none", "/v1/comparisons?before=none"],
)
def test_what_is_not_there_is_a_404_that_names_no_place_of_the_machine(client, path):
    response = client.get(path)
    assert response.status_code == 404
    assert "touchstone.db" not in response.text


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=201", "limit=x", "after=nonsense", "outcome=MAYBE", "after=WzEsIDJd"]
)
def test_wrong_filters_and_cursors_are_a_422(client, query):
    assert client.get(f"/v1/runs/latest/results?{query}").status_code == 422


def test_results_are_filtered_and_paged(client):
    seen, after = [], None
    while True:
        params = {"limit": 2, "outcome": "FAIL"} | ({"after": after} if after else {})
        page = client.get("/v1/runs/run-a/results", params=params).json()
        seen += [each["position"] for each in page["results"]]
        after = page["next"]
        if after is None:
            break
    assert seen == [3, 4, 5, 6, 7]
    found = client.get("/v1/runs/run-a/results", params={"search": "c-3"}).json()["results"]
    assert [each["id"] for each in found] == ["c-3"]


def test_one_reply_comes_with_its_case_and_result(client):
    found = client.get("/v1/runs/run-a/results/3").json()
    assert found["case"]["id"] == "c-3"
    assert found["result"]["decision"] == "block"
    assert found["waivers"] == []


def test_a_case_has_a_history(client):
    history = client.get("/v1/cases/c-4").json()["history"]
    assert [each["run"]["id"] for each in history] == ["run-b", "run-a"]


def test_two_runs_are_compared(client):
    found = client.get("/v1/comparisons").json()
    assert (found["before"], found["after"], found["pairs"]) == ("run-a", "run-b", 8)
    assert len(found["flips"]) == 3


def test_patterns_of_a_run(client):
    assert client.get("/v1/runs/run-a/patterns").json()["patterns"]


def test_labels_are_set_and_taken_away_and_noted(client, service):
    assert client.patch("/v1/runs/run-a/labels", json={"prompt": "v7"}).json()["labels"] == {"prompt": "v7"}
    assert [run["id"] for run in client.get("/v1/runs?label=prompt=v7").json()["runs"]] == ["run-a"]
    assert client.patch("/v1/runs/run-a/labels", json={"prompt": None}).json()["labels"] == {}
    assert {entry.act for entry in service.store.audit.page()} >= {"run labelled"}


def test_a_run_is_deleted_by_its_whole_id(client, service):
    add_run(service.store, "doomed", rows=[row(1)], started="2026-01-01T00:00:00+00:00")
    assert client.delete("/v1/runs/doom").status_code == 404
    assert client.delete("/v1/runs/doomed").status_code == 204
    assert client.get("/v1/runs/doomed").status_code == 404
