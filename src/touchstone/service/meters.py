"""What happens in the service -> Prometheus figures: counts and times, never a text or a name."""

from collections.abc import Callable, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from touchstone.service.scoring.worker import EncodedResult

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Meters:
    """The figures of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "touchstone_requests", "Requests answered.", ("method", "route", "status"), registry=self._registry
        )
        self._times = Histogram(
            "touchstone_request_seconds",
            "Time from a request to its answer.",
            ("route",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._scored = Counter(
            "touchstone_scored", "Replies scored.", ("decision", "verdict", "outcome"), registry=self._registry
        )
        self._failed = Counter("touchstone_failed", "Replies that could not be scored.", registry=self._registry)
        self._violations = Counter("touchstone_violations", "Violations found.", ("kind",), registry=self._registry)
        self._scoring = Histogram(
            "touchstone_scoring_seconds",
            "Time a process took to score a reply.",
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._reviews = Counter("touchstone_reviews", "Reviews submitted.", registry=self._registry)
        self._answered: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._logins = Counter("touchstone_logins", "Attempts to sign in.", ("result",), registry=self._registry)

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
