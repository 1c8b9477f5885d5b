"""Results -> OpenTelemetry's GenAI evaluation events, when an endpoint is configured and the extra is installed.

One `gen_ai.evaluation.result` event for each metric, criterion and the decision, with values and labels and without
explanations: those quote what customers wrote.
"""

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from touchstone.service.scoring.worker import EncodedResult

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import LoggerProvider

EVENT = "gen_ai.evaluation.result"
# The variables of OpenTelemetry itself; the exporter reads its other settings from them too.
ENDPOINTS = ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")

log = logging.getLogger("touchstone.service")


class Telemetry:
    """Sends events through a provider; without one it does nothing."""

    def __init__(self, provider: "LoggerProvider | None" = None) -> None:
        self._provider = provider
        self._logger = provider.get_logger("touchstone") if provider else None

    def scored(self, judgements: Sequence[EncodedResult]) -> None:
        """Tell of results."""
        if self._logger is None:
            return
        for judgement in judgements:
            for attributes in evaluation_events(json.loads(judgement.body)):
                self._logger.emit(event_name=EVENT, attributes=attributes)

    def close(self) -> None:
        """Send what is still held back."""
        if self._provider is not None:
            self._provider.shutdown()


def open_telemetry() -> Telemetry:
    """Telemetry as the environment configures it."""
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return Telemetry()
    try:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
        from opentelemetry.sdk.resources import Resource
    except ImportError:
        log.warning("no events are sent to OpenTelemetry: pip install 'touchstone-eval[otel]'")
        return Telemetry()
    named = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", "touchstone")})
    provider = LoggerProvider(named)
    provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    return Telemetry(provider)


def evaluation_events(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The attributes of each event that a result gives; what could not be scored gives none."""
    shared = {"gen_ai.response.id": result["id"]} if result["id"] else {}
    if result["failures"]:
        yield {**shared, "gen_ai.evaluation.name": "decision", "error.type": result["failures"][0]["error"]}
        return
    yield {
        **shared,
        "gen_ai.evaluation.name": "decision",
        "gen_ai.evaluation.score.label": result["decision"],
    }
    for name, score in (result["metrics"] or {}).items():
        if score["score"] is not None:
            yield _event(shared, name, score["score"], score["flag"])
    for name, grade in ((result["rubric"] or {}).get("criteria") or {}).items():
        if grade["grade"] is not None:
            yield _event(shared, f"rubric.{name}", grade["grade"], None)


def _event(shared: Mapping[str, Any], name: str, value: float, label: str | None) -> dict[str, Any]:
    flagged = {"gen_ai.evaluation.score.label": label} if label else {}
    return {**shared, "gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": float(value), **flagged}
