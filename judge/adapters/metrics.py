"""What is counted for ops: a Journal that turns events into Prometheus metrics.

Every label comes from our own code or configuration, never from a caller, so that their number
is bounded and no word of a dispute can be read at `/metrics`.
"""

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

Fields = Mapping[str, str | float | bool]

LATENCY_BUCKETS_S = (0.005, 0.025, 0.1, 0.3, 1, 2, 3, 5, 8, 12, 20, 30, 60)
"""A verdict takes a model 2 to 12 s; what is refused takes milliseconds."""


class Metrics:
    """Counts the events that it hears of; `render` gives them all in Prometheus' text format.

    *directory* is where the processes of one server share their counts (the variable
    PROMETHEUS_MULTIPROC_DIR must name it before this module is imported); empty for one process.
    """

    def __init__(self, directory: str = "") -> None:
        self._directory = directory
        self._registry = CollectorRegistry()
        self._open_counters(self._registry)

    def _open_counters(self, registry: CollectorRegistry) -> None:
        def counter(name: str, meaning: str, *labels: str) -> Counter:
            return Counter(name, meaning, labels, registry=registry)

        self._events = counter("judge_events", "Everything that was logged.", "event")
        self._requests = counter(
            "judge_http_requests", "Requests answered.", "method", "route", "status"
        )
        self._latency = Histogram(
            "judge_http_request_seconds",
            "From the first byte of a request to the last of its reply.",
            ("route",),
            buckets=LATENCY_BUCKETS_S,
            registry=registry,
        )
        self._judgements = counter(
            "judge_judgements", "Verdicts given.", "domain", "evidence", "degraded"
        )
        self._defects = counter(
            "judge_reply_defects",
            "Rules that a model's reply broke.",
            "rule",
            "attempt",
            "severity",
        )
        self._calls = counter("judge_model_replies", "Replies of a model.", "model", "finish")
        self._tokens = counter("judge_model_tokens", "Tokens as the model counts them.", "kind")
        self._failures = counter(
            "judge_model_failures", "Times that a model could not be reached.", "outcome", "reason"
        )
        self._fetch_failures = counter(
            "judge_fetch_failures", "Pages that could not be fetched.", "reason"
        )
        self._cache_down = Gauge(
            "judge_cache_degraded",
            "1 while Redis is down and the cache inside the process stands in.",
            registry=registry,
            multiprocess_mode="livemax",
        )

        def newest(name: str, meaning: str) -> Gauge:
            return Gauge(name, meaning, registry=registry, multiprocess_mode="livemostrecent")

        self._tokens_today = newest(
            "judge_tokens_today", "Tokens spent since midnight UTC, by all workers."
        )
        self._daily_tokens = newest(
            "judge_daily_tokens_limit", "JUDGE_DAILY_TOKENS; 0 without a limit."
        )

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Count *event*; one without a counter of its own is only counted by its name."""
        self._events.labels(event).inc()
        match event:
            case "http.request":
                self._count_request(fields)
            case "judgement.finished":
                self._judgements.labels(*_texts(fields, "domain", "evidence", "degraded")).inc()
            case "reply.defect":
                severity = "hard" if fields["is_hard"] else "soft"
                self._defects.labels(*_texts(fields, "rule", "attempt"), severity).inc()
            case "model.replied" | "other_side.replied":
                self._count_reply(fields)
            case "model.retried" | "model.unavailable":
                outcome = event.removeprefix("model.")
                self._failures.labels(outcome, *_texts(fields, "reason")).inc()
            case "snippet.fetch_failed":
                self._fetch_failures.labels(*_texts(fields, "reason")).inc()
            case "budget.counted" | "budget.refused":
                self._tokens_today.set(float(fields["spent"]))
                self._daily_tokens.set(float(fields["limit"]))
            case "cache.down":
                self._cache_down.set(1)
            case "cache.back":
                self._cache_down.set(0)
            case _:
                pass

    def render(self) -> bytes:
        """All metrics, those of the other processes of this server included."""
        if not self._directory:
            return generate_latest(self._registry)
        shared = CollectorRegistry()
        MultiProcessCollector(shared, path=self._directory)  # type: ignore[no-untyped-call]
        return generate_latest(shared)

    def _count_request(self, fields: Fields) -> None:
        self._requests.labels(*_texts(fields, "method", "route", "status")).inc()
        self._latency.labels(*_texts(fields, "route")).observe(float(fields["ms"]) / 1000)

    def _count_reply(self, fields: Fields) -> None:
        self._calls.labels(*_texts(fields, "model", "finish")).inc()
        for kind in ("input", "output", "thinking"):
            self._tokens.labels(kind).inc(float(fields[f"{kind}_tokens"]))


def _texts(fields: Fields, *names: str) -> tuple[str, ...]:
    """The fields called *names* as label values; true and false in lower case."""
    values = (fields[name] for name in names)
    return tuple(str(v).lower() if isinstance(v, bool) else str(v) for v in values)
