"""POST /v1/score over real HTTP."""

import json
import logging
import socket
import time
from contextlib import contextmanager

import pytest
from tests.service.conftest import running

import touchstone as ts
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
