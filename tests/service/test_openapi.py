"""The API against its own description."""

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


def _given(operation):
    from hypothesis import given

    return given(case=operation.as_strategy())
