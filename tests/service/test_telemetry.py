"""Results as OpenTelemetry's evaluation events."""

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from tests.service.conftest import running

import touchstone as ts
from touchstone.core.result import Failure
from touchstone.runs.evaluate import failed
from touchstone.service.scoring.worker import judgement
from touchstone.service.telemetry import ENDPOINTS, EVENT, Telemetry, open_telemetry


@pytest.fixture
def sent():
    """What a result's events are, as they are sent."""
    exporter = InMemoryLogRecordExporter()
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    telemetry = Telemetry(provider)

    def send(result):
        exporter.clear()
        telemetry.scored([judgement(result)])
        records = [each.log_record for each in exporter.get_finished_logs()]
        assert {record.event_name for record in records} == {EVENT}
        return {record.attributes["gen_ai.evaluation.name"]: dict(record.attributes) for record in records}

    yield send
    telemetry.close()


def test_a_result_gives_its_decision_metrics_and_grades_and_no_text(sent):
    case = ts.Case(id="c-1", input="When?", response="Jane, it is due on 4 May.", context=["Due on 3 May."])
    events = sent(ts.score(case))
    assert events["decision"]["gen_ai.evaluation.score.label"] == "review"
    assert events["hallucination"]["gen_ai.evaluation.score.value"] > 0.5
    assert "rubric.safety" in events
    assert {event["gen_ai.response.id"] for event in events.values()} == {"c-1"}
    assert "Jane" not in str(events)


def test_a_case_that_could_not_be_scored_gives_its_error(sent):
    events = sent(failed("c-1", Failure("score", "ReplyTooLong", "too long")))
    assert events["decision"]["error.type"] == "ReplyTooLong"


def test_nothing_is_sent_unless_an_endpoint_is_configured(monkeypatch):
    for name in ENDPOINTS:
        monkeypatch.delenv(name, raising=False)
    telemetry = open_telemetry()
    telemetry.scored([judgement(ts.score(ts.Case(response="Yes.")))])
    telemetry.close()


def test_the_framework_sends_nothing_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    exporter = InMemoryLogRecordExporter()
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    monkeypatch.setattr("opentelemetry._logs.get_logger_provider", lambda: provider)
    with running(tmp_path / "touchstone.db", workers=1, waits=False) as service, service.client() as client:
        assert client.patch("/v1/runs/latest/labels", json={"jane": 4111}).status_code == 422
    assert exporter.get_finished_logs() == ()
    provider.shutdown()
