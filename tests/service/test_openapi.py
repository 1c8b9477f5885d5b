"""The API against its own description."""

import json
import re
from pathlib import Path

import pytest
from tests.service.conftest import running
from tests.service.stored import add_run, row

from touchstone.service.problems import TITLES


def test_every_route_is_described_with_its_problems(client):
    described = client.get("/openapi.json").json()
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            assert operation.get("description"), (method, path)
            if path.startswith("/v1"):
                assert {"401", "403", "429", "503"} <= set(operation["responses"]), (method, path)


def test_every_answer_and_body_has_a_named_schema(client):
    described = client.get("/openapi.json").json()
    schemas = described["components"]["schemas"]
    assert set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described))) <= set(schemas)
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            for status, answer in operation["responses"].items():
                for kind, content in answer.get("content", {}).items():
                    each = content.get("schema", {})
                    named = each.get("anyOf", [each])
                    assert all(list(one) == ["$ref"] for one in named) or kind == "text/plain", (method, path, status)


def test_every_operation_has_a_name_of_its_own(client):
    paths = client.get("/openapi.json").json()["paths"]
    names = [operation["operationId"] for operations in paths.values() for operation in operations.values()]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)+", name) for name in names)
    assert {"score_replies", "list_runs", "submit_review"} <= set(names)


def test_the_description_says_who_may_ask(client):
    described = client.get("/openapi.json").json()
    schemes = described["components"]["securitySchemes"]
    assert schemes["token"] == {"type": "http", "scheme": "bearer", "description": schemes["token"]["description"]}
    assert (schemes["session"]["in"], schemes["session"]["name"]) == ("cookie", "touchstone_session")
    # Nobody has to sign in to a service without --auth.
    assert described["security"] == [{"token": []}, {"session": []}, {}]
    assert described["paths"]["/healthz"]["get"]["security"] == []


def test_every_write_takes_plain_json_alone(client):
    count = 0
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        for method in set(operations) - {"get"}:
            address = re.sub(r"{\w+}", "0", path)
            for changed in ({"content-type": "text/plain"}, {"content-encoding": "gzip"}):
                headers = {"content-type": "application/json", **changed}
                response = client.request(method, address, content=b"{}", headers=headers)
                assert (response.status_code, response.json()["type"][-10:]) == (415, "media-type"), (method, path)
                count += 1
    assert count > 25


def test_every_body_refuses_a_field_it_does_not_have(client):
    """All but drafts, which are whatever a form holds so far, and labels, whose names are anybody's."""
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    taken = [name for name in schemas if name.startswith(("New", "Changed", "Marked"))]
    assert len(taken) >= 7
    for name in (*taken, "Batch", "ScoredCase", "ProductionReplies"):
        assert schemas[name]["additionalProperties"] is False, name


def test_every_route_and_problem_is_documented(client):
    page = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        for method in operations:
            assert f"| `{method.upper()} {path}` |" in page
    for kind in TITLES:
        assert f"| `{kind}` |" in page


def test_every_body_has_an_example(client):
    described = client.get("/openapi.json").json()
    schemas = described["components"]["schemas"]
    for path, operations in described["paths"].items():
        for operation in operations.values():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content:
                schema = schemas.get(content["schema"].get("$ref", "").rpartition("/")[2], content["schema"])
                assert content.get("examples") or schema.get("examples"), path


def test_every_route_refuses_a_query_parameter_it_does_not_have(client):
    """A filter that is misspelt would else list everything."""
    count = 0
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        for method, operation in operations.items() if path.startswith("/v1/") else ():
            address = re.sub(r"{\w+}", "0", path)
            takes = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
            response = client.request(method, address, params={"out_come": "FAIL", **dict.fromkeys(takes, "1")})
            detail = response.json()["detail"]
            assert response.status_code == 422, (method, path)
            assert response.headers["content-type"] == "application/problem+json"
            assert detail.startswith("query parameter 'out_come' is not known"), (method, path)
            assert all(name in detail for name in takes) if takes else detail.endswith("takes none"), (method, path)
            count += 1
    assert count > 30


def test_a_misspelt_query_parameter_is_refused_with_the_nearest(client):
    detail = client.get("/v1/runs/latest/results", params={"outcom": "FAIL"}).json()["detail"]
    assert "nearest is 'outcome'" in detail
    assert client.get("/v1/runs", params={"limit": 1}).status_code == 200
    assert "e" * 100 not in client.get("/v1/runs", params={"e" * 1000: 1}).text


def test_pages_ignore_a_query_parameter_they_do_not_have(client):
    assert client.get("/runs", params={"utm_source": "mail"}).status_code == 200


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_whatever_the_description_allows_is_answered_as_it_says(tmp_path):
    import schemathesis
    from hypothesis import HealthCheck, Phase, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

    with running(tmp_path / "touchstone.db", workers=1) as service:
        add_run(service.store, "run-a", rows=[row(n, is_good=n < 3) for n in range(6)], kind="production")
        add_run(service.store, "run-b", rows=[row(n, is_good=n < 3) for n in range(6)])
        schema = schemathesis.openapi.from_url(f"{service.address}/openapi.json")
        checks = [not_a_server_error, content_type_conformance, response_schema_conformance]
        count = 0
        for operation in schema.get_all_operations():

            @settings(
                max_examples=25,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.explicit, Phase.generate],
            )
            @_given(operation.ok())
            def probe(case):
                response = case.call(base_url=service.address, timeout=60)
                # A refusal for want of room is no error of the server.
                if response.status_code != 503:
                    case.validate_response(response, checks=checks)

            probe()
            count += 1
        assert count > 30


@pytest.mark.slow
def test_answers_with_content_are_what_the_description_says(tmp_path):
    """Over a week that people reviewed: what the probe above sends seldom finds a queue."""
    import jsonschema

    with running(tmp_path / "touchstone.db", workers=1) as service, service.client() as client:
        described = client.get("/openapi.json").json()
        assert client.post("/demo").status_code == 303

        def ask(method, path, *, json=None, **ids):
            response = client.request(method, path.format(**ids), json=json)
            assert response.status_code in (200, 201), (path, response.text)
            answer = described["paths"][path][method.lower()]["responses"][str(response.status_code)]
            schema = {**answer["content"]["application/json"]["schema"], "components": described["components"]}
            jsonschema.validate(response.json(), schema)
            return response.json()

        run = ask("GET", "/v1/runs")["runs"][0]["id"]
        for part in ("", "/patterns", "/results"):
            found = ask("GET", "/v1/runs/{run}" + part, run=run)
        ask("GET", "/v1/cases/{case}", case=found["results"][0]["id"])
        ask("GET", "/v1/runs/{run}/results/{position}", run=run, position=0)
        ask("PATCH", "/v1/runs/{run}/labels", run=run, json={"prompt": "v7"})
        weeks = [each["id"] for each in ask("GET", "/v1/queues")["queues"]]
        for queue in weeks:
            for part in ("", "/items", "/agreement", "/weekly", "/reviews", "/items/{position}/draft"):
                ask("GET", "/v1/queues/{queue}" + part, queue=queue, position=0)
            for item in client.get(f"/v1/queues/{queue}/items").json()["items"][:5]:
                ask("GET", "/v1/queues/{queue}/items/{position}", queue=queue, position=item["position"])
        queue = ask("POST", "/v1/queues", json={"size": 2, "run": run})["id"]
        taken = ask("POST", "/v1/queues/{queue}/next", queue=queue)["position"]
        grades = {"accuracy": 3, "completeness": 3, "tone": 4, "actionability": 3, "safety": 4}
        place = "/v1/queues/{queue}/items/{position}"
        ask("POST", place + "/reviews", queue=queue, position=taken, json={"grades": grades})
        assert ask("GET", place, queue=queue, position=taken)["reviews"]
        assert ask("GET", "/v1/queues/{queue}/reviews", queue=queue)["reviews"]
        ask("POST", "/v1/queues/{queue}/close", queue=queue)
        wanted = {"pattern": "wrong value", "owner": "retrieval", "text": "index it", "run": run}
        made = ask("POST", "/v1/actions", json=wanted)
        changed = {"revision": 1, "owner": "retrieval", "text": "done", "state": "done"}
        ask("PUT", "/v1/actions/{action}", action=made["id"], json=changed)
        for path in ("/v1/actions", "/v1/audit", "/healthz", "/readyz"):
            ask("GET", path)


def _given(operation):
    from hypothesis import given

    return given(case=operation.as_strategy())
