"""POST /v1/score over real HTTP."""

import json
import logging
import socket
import time
from contextlib import contextmanager

import pytest
from tests.service.conftest import running

import touchstone as ts
from touchstone.app.config import Settings
from touchstone.core.codec import case_from_dict, result_to_dict

CASE = {
    "id": "c-17",
    "input": "How long do I have to return my headphones?",
    "response": "You have 30 days to return your headphones.",
    "context": ["You have 14 days after delivery to return headphones."],
}


def problem(response):
    """The problem in an answer, checked for its form."""
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    assert found["status"] == response.status_code
    assert found["type"].startswith("urn:touchstone:problem:")
    return found


def test_a_case_gives_the_result_that_python_gives(client):
    response = client.post("/v1/score", json=CASE)
    assert response.status_code == 200
    assert response.json() == json.loads(json.dumps(result_to_dict(ts.score(case_from_dict(CASE)))))
    assert response.json()["decision"] == "block"


def test_a_batch_gives_results_in_order_and_a_bad_case_keeps_its_place(client):
    cases = [{**CASE, "id": f"c-{n}"} for n in range(20)]
    cases[3] = {"input": "no reply"}
    cases[5] = "no object"
    cases[7] = {**CASE, "id": "c-6"}
    results = client.post("/v1/score", json={"cases": cases}).json()["results"]
    assert len(results) == 20
    assert [r["id"] for r in results if not r["failures"]] == [f"c-{n}" for n in range(20) if n not in (3, 5, 7)]
    assert [(r["line"], r["failures"][0]["error"]) for r in results if r["failures"]] == [
        (4, "CaseError"),
        (6, "CaseError"),
        (8, "DuplicateId"),
    ]


def test_other_tools_column_names_are_understood(client):
    row = {"user_input": CASE["input"], "response": CASE["response"], "retrieved_contexts": CASE["context"]}
    assert client.post("/v1/score", json=row).json()["verdict"] == "FAIL"


def test_a_reply_that_is_too_long_is_a_failure_for_a_person(client):
    found = client.post("/v1/score", json={"response": "a " * 60_000}).json()
    assert found["decision"] == "review"
    assert found["failures"][0]["error"] == "ReplyTooLong"


@pytest.mark.parametrize(
    ("content", "headers", "status", "kind"),
    [
        (b"{", {}, 400, "not-json"),
        (b"", {}, 400, "not-json"),
        (b"\xff\xfe", {}, 400, "not-json"),
        (b'{"response": NaN}', {}, 400, "not-json"),
        (b'{"response": "a", "response": "b"}', {}, 400, "not-json"),
        (b'{"response": "\\ud800"}', {}, 400, "not-json"),
        (b"[" * 100_000, {}, 400, "not-json"),
        (b"[]", {}, 422, "invalid"),
        (b"{}", {}, 422, "invalid"),
        (b'{"response": 7}', {}, 422, "invalid"),
        (b'{"cases": []}', {}, 422, "invalid"),
        (json.dumps({"cases": [CASE] * 257}).encode(), {}, 422, "invalid"),
        (b'{"response": "' + b"a" * 5_000_000 + b'"}', {}, 413, "too-large"),
        (b'{"response": "a"}', {"content-type": "text/plain"}, 415, "media-type"),
        (b'{"response": "a"}', {"origin": "https://elsewhere.example"}, 403, "forbidden"),
        (b'{"response": "a"}', {"sec-fetch-site": "cross-site"}, 403, "forbidden"),
        (b'{"response": "a"}', {"host": "elsewhere.example"}, 403, "forbidden"),
        (b'{"response": "a"}', {"host": "[::1"}, 403, "forbidden"),
    ],
)
def test_what_cannot_be_scored_is_a_problem_that_says_why(client, content, headers, status, kind):
    response = client.post("/v1/score", content=content, headers={"content-type": "application/json", **headers})
    assert response.status_code == status
    found = problem(response)
    assert found["type"] == f"urn:touchstone:problem:{kind}"
    assert found["detail"]


def test_a_body_of_unknown_length_is_cut_off_where_it_gets_too_large(client):
    chunks = (b" " * 100_000 for _ in range(60))
    response = client.post("/v1/score", content=chunks, headers={"content-type": "application/json"})
    assert response.status_code == 413


def test_problems_quote_nothing_a_customer_wrote(client):
    response = client.post("/v1/score", json={"response": {"secret": "my card is 4111"}})
    assert "4111" not in response.text


HOSTILE = {"response": "1-" * 49_000}


@contextmanager
def hung_up_on(service, body):
    """A POST whose client is gone when the block ends, with no answer read."""
    raw = json.dumps(body).encode()
    port = int(service.address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as connection:
        head = f"POST /v1/score HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(raw)}\r\n\r\n".encode() + raw)
        yield


def wait_until(holds):
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_batch_of_hostile_replies_keeps_no_single_case_waiting_and_goes_with_its_client(tmp_path, caplog):
    with running(tmp_path / "touchstone.db", workers=2) as service, service.client() as client:
        scorer = service.app.state.service.scorer
        with caplog.at_level(logging.INFO, logger="touchstone"):
            with hung_up_on(service, {"cases": [HOSTILE] * 40}):
                wait_until(lambda: scorer.waiting == 40)
                for _ in range(3):
                    assert client.post("/v1/score", json=CASE).json()["decision"] == "block"
                # At most one of them was scored meanwhile: the single cases did not wait for more.
                assert scorer.waiting >= 38
            wait_until(lambda: scorer.waiting == 0)
            wait_until(lambda: "/v1/score 499" in caplog.text)
        assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_service_that_is_behind_says_so_and_again_when_it_is_not(tmp_path):
    with running(tmp_path / "touchstone.db", workers=1, ready_seconds=0.5) as service, service.client() as client:
        assert client.get("/readyz").json()["scoring"] == "ok"
        with hung_up_on(service, HOSTILE):
            wait_until(lambda: client.get("/readyz").json()["scoring"] == "behind")
            assert client.get("/readyz").status_code == 503
        wait_until(lambda: client.get("/readyz").json()["scoring"] == "ok")


UNKNOWN = [
    ("documents", ["You have 14 days."], "context"),
    ("messages", [{"role": "user", "content": "How long?"}], "input"),
    ("contxt", ["You have 14 days."], "context"),
    ("retrieved_context", ["You have 14 days."], "context"),
    ("reply", "You have 30 days.", "response"),
]


@pytest.mark.parametrize(("name", "value", "likely"), UNKNOWN)
def test_a_field_that_would_not_count_is_refused_with_the_one_that_does(client, name, value, likely):
    response = client.post("/v1/score", json={**CASE, name: value})
    assert response.status_code == 422
    detail = problem(response)["detail"]
    assert detail.startswith(f"field '{name}' is not known; nearest is '{likely}'")
    assert "expected_output" in detail
    assert "'metadata'" in detail


def test_a_name_like_no_field_is_refused_with_what_is_allowed(client):
    detail = problem(client.post("/v1/score", json={**CASE, "x" * 1000: 1}))["detail"]
    assert "nearest" not in detail
    assert "x" * 100 not in detail
    assert "input (the customer's message or chat turns)" in detail


def test_in_a_batch_an_unknown_field_costs_only_its_case(client):
    cases = [{**CASE, "id": "a"}, {**CASE, "id": "b", "documents": []}, {**CASE, "id": "c"}]
    first, second, third = client.post("/v1/score", json={"cases": cases}).json()["results"]
    assert (first["id"], first["decision"], third["id"], third["failures"]) == ("a", "block", "c", [])
    assert (second["decision"], second["line"], second["failures"][0]["error"]) == ("review", 2, "CaseError")
    assert "'documents'" in second["failures"][0]["message"]


def test_an_unknown_key_beside_the_cases_is_refused(client):
    detail = problem(client.post("/v1/score", json={"cases": [CASE], "documents": []}))["detail"]
    assert "'documents'" in detail
    assert "metadata" in detail
    assert "'cases' is no list" in problem(client.post("/v1/score", json={"cases": {}}))["detail"]


def test_metadata_is_an_object_that_changes_nothing(client):
    plain = client.post("/v1/score", json=CASE).json()
    assert client.post("/v1/score", json={**CASE, "metadata": {"documents": ["30 days"], "input": 7}}).json() == plain
    assert client.post("/v1/score", json={**CASE, "metadata": None}).json() == plain
    for value, kind in (("ticket 4711", "a string"), ([], "a list")):
        refused = client.post("/v1/score", json={**CASE, "metadata": value})
        assert problem(refused)["detail"] == f"field 'metadata' is {kind}, allowed is an object"


def test_a_reference_date_counts_beside_the_fields(client):
    dated = {"response": "It arrives tomorrow.", "context": ["It arrives on 16 November 2026."]}
    for name in ("reference_date", "created_at"):
        found = client.post("/v1/score", json={**dated, name: "2026-11-15"}).json()
        assert [anchor["status"] for anchor in found["metrics"]["hallucination"]["anchors"][:1]] == ["supported"]


def test_a_column_that_the_settings_map_is_a_field(tmp_path):
    settings = Settings(store=str(tmp_path / "touchstone.db"), columns={"documents": "context"})
    with running(tmp_path / "touchstone.db", settings=settings, workers=1) as service, service.client() as client:
        renamed = {"documents" if name == "context" else name: value for name, value in CASE.items()}
        assert client.post("/v1/score", json=renamed).json() == client.post("/v1/score", json=CASE).json()
