"""Headers, health, figures and the log, over real HTTP."""

import logging
import re
import time

import pytest
from tests.service.conftest import running

from touchstone.service.edge import HEADERS


@pytest.mark.parametrize("path", ["/healthz", "/v1/runs", "/v1/nothing", "/openapi.json", "/metrics"])
def test_every_answer_carries_the_security_headers(client, path):
    response = client.get(path)
    assert {name: response.headers.get(name) for name in HEADERS} == HEADERS
    assert response.headers["cache-control"] == "no-store"
    assert "server" not in response.headers


def test_no_script_but_our_own_may_run():
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


def test_health_and_readiness(client):
    assert client.get("/healthz").json()["status"] == "ok"
    assert client.get("/readyz").json() == {"status": "ok", "scoring": "ok", "store": "ok"}


def test_figures_count_what_was_scored_and_hold_no_text(client):
    client.post("/v1/score", json={"id": "customer-jane-doe", "response": "My card is 4111 1111 1111 1111."})
    client.get("/v1/cases/customer-jane-doe")
    text = client.get("/metrics").text
    assert 'touchstone_requests_total{method="POST",route="/v1/score",status="200"}' in text
    assert "touchstone_scored_total" in text
    assert "touchstone_scorers 1.0" in text
    # Four digits alone may be part of a measured time.
    assert "1111 1111" not in text
    assert "11111111" not in text
    assert "jane" not in text


def test_the_log_holds_neither_text_nor_ids(client, caplog):
    with caplog.at_level(logging.DEBUG, logger="touchstone"):
        client.post("/v1/score", json={"id": "jane-doe", "response": "My card is 4111 1111 1111 1111."})
        client.get("/v1/cases/jane-doe?jane=1")
        client.post("/v1/score", json={"response": ["jane-doe"]})
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("touchstone")]
    assert any("/v1/score" in line for line in lines)
    assert not any("jane" in line or "1111 1111" in line for line in lines)


def test_an_unknown_path_and_method_are_problems(client):
    assert client.get("/v1/nothing").headers["content-type"] == "application/problem+json"
    assert client.delete("/v1/score").status_code == 405


def test_a_store_that_vanished_is_a_503_without_its_place_and_scoring_goes_on(tmp_path, caplog):
    place = tmp_path / "touchstone.db"
    with running(place, workers=1) as service, service.client() as client:
        place.rename(tmp_path / "elsewhere.db")
        assert client.get("/readyz").json()["store"] == "cannot be used"
        response = client.get("/v1/runs")
        assert (response.status_code, response.json()["type"]) == (503, "urn:touchstone:problem:store")
        assert "touchstone.db" not in response.text
        assert "Retry-After" in response.headers
        assert client.post("/v1/score", json={"response": "Yes."}).status_code == 200
        (tmp_path / "elsewhere.db").rename(place)
        assert client.get("/v1/runs").status_code == 200


def test_a_defect_is_logged_by_its_place_and_not_by_its_text(tmp_path, caplog):
    with running(tmp_path / "touchstone.db", workers=1, waits=False) as service, service.client() as client:

        def fails(**_):
            raise ValueError(f"my card is {4000 + 111}")

        service.store.page_runs = fails
        response = client.get("/v1/runs")
    assert (response.status_code, response.json()["type"]) == (500, "urn:touchstone:problem:defect")
    assert "4111" not in response.text + caplog.text
    assert "page_runs" in caplog.text


@pytest.mark.parametrize(
    ("path", "status"), [("/nothing", 404), ("/runs/nothing", 404), ("/review/nothing", 404), ("/runs?after=x", 200)]
)
def test_what_goes_wrong_with_a_page_is_a_page_with_the_ways_on(client, path, status):
    response = client.get(path)
    assert (response.status_code, response.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert '<nav aria-label="Pages">' in response.text


def test_a_defect_of_a_page_is_a_page_too_and_quotes_nothing(tmp_path):
    with running(tmp_path / "touchstone.db", workers=1, waits=False) as service, service.client() as client:

        def fails(**_):
            raise ValueError("my card is 4111")

        service.store.list_runs = fails
        response = client.get("/runs")
    assert (response.status_code, response.headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert "4111" not in response.text
    assert '<nav aria-label="Pages">' in response.text


@pytest.mark.parametrize("given", ["job-17.a_B", "", "two words", "x" * 65, "a\tb"])
def test_a_request_has_an_id_in_its_answer_its_problem_and_the_log(client, caplog, given):
    with caplog.at_level(logging.INFO, logger="touchstone.access"):
        response = client.get("/v1/runs/none", headers={"X-Request-ID": given} if given else {})
        id = response.headers["x-request-id"]
        # The line is written once the answer is sent.
        until = time.monotonic() + 10
        while time.monotonic() < until and not any(r.getMessage().endswith(f" ms {id}") for r in caplog.records):
            time.sleep(0.01)
    assert (id == given) == (given == "job-17.a_B")
    assert len(id) <= 64
    assert response.json()["request_id"] == id
    assert any(record.getMessage().endswith(f" ms {id}") for record in caplog.records)


def test_requests_have_ids_of_their_own(client):
    assert len({client.get("/healthz").headers["x-request-id"] for _ in range(3)}) == 3


def test_a_limited_route_says_how_much_may_still_be_asked(tmp_path):
    with running(tmp_path / "touchstone.db", waits=False, workers=1, rate=1.0) as service, service.client() as client:
        answers = [client.get("/v1/runs") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert {answer.headers["ratelimit-policy"] for answer in answers} == {'"cases";q=2;w=2'}
        assert [answer.headers["ratelimit"] for answer in answers] == [
            '"cases";r=1;t=1',
            '"cases";r=0;t=2',
            '"cases";r=0;t=2',
        ]
        assert int(answers[2].headers["retry-after"]) >= 1
        assert "ratelimit" not in client.get("/healthz").headers


def test_the_reference_loads_nothing_from_elsewhere(client):
    page = client.get("/docs").text
    assert not [
        address for address in re.findall(r'(?:src|href)="([^"]+)"', page) if not address.startswith(("/", "#"))
    ]
    for address in re.findall(r'(?:src|href)="(/assets/[^"]+)"', page):
        assert client.get(address).status_code == 200
