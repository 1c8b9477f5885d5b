"""What happens in the service -> Prometheus figures, and OpenTelemetry's GenAI evaluation events where configured.

Figures are counts and times, never a text or a name. One `gen_ai.evaluation.result` event goes out for each metric,
criterion and the decision, with values and labels and without explanations: those quote what customers wrote.
"""

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from touchstone.service.scoring.worker import EncodedResult

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import LoggerProvider

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
EVENT = "gen_ai.evaluation.result"
# The variables of OpenTelemetry itself; the exporter reads its other settings from them too.
ENDPOINTS = ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")

log = logging.getLogger("touchstone.service")


class Meters:
    """The figures of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        histogram = partial(Histogram, registry=self._registry, buckets=_SECONDS)
        self._requests = counter("touchstone_requests", "Requests answered.", ("method", "route", "status"))
        self._times = histogram("touchstone_request_seconds", "Time from a request to its answer.", ("route",))
        self._scored = counter("touchstone_scored", "Replies scored.", ("decision", "verdict", "outcome"))
        self._failed = counter("touchstone_failed", "Replies that could not be scored.")
        self._violations = counter("touchstone_violations", "Violations found.", ("kind",))
        self._scoring = histogram("touchstone_scoring_seconds", "Time a process took to score a reply.")
        self._reviews = counter("touchstone_reviews", "Reviews submitted.")
        self._logins = counter("touchstone_logins", "Attempts to sign in.", ("result",))
        self._answered: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def watch(self, name: str, help: str, value: Callable[[], float]) -> None:
        """Show a number that is asked for whenever the figures are read."""
        Gauge(name, help, registry=self._registry).set_function(value)

    def answered(self, *, method: str, route: str, status: int, seconds: float) -> None:
        key = (method, route, status)
        if key not in self._answered:
            # To look a figure up by its labels takes longer than to count.
            self._answered[key] = (self._requests.labels(method, route, str(status)), self._times.labels(route))
        requests, times = self._answered[key]
        requests.inc()
        times.observe(seconds)

    def scored(self, judgements: Sequence[EncodedResult]) -> None:
        for each in judgements:
            self._scored.labels(each.decision, each.verdict or "none", each.outcome or "none").inc()
            self._scoring.observe(each.seconds)
            self._failed.inc(each.failed)
            for kind in each.violations:
                self._violations.labels(kind).inc()

    def reviewed(self) -> None:
        self._reviews.inc()

    def signed_in(self, result: str) -> None:
        self._logins.labels(result).inc()

    def text(self) -> bytes:
        """All of it, in Prometheus's text format."""
        return generate_latest(self._registry)


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
