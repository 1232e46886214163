"""A Journal that turns events into Prometheus metrics.

Every label value comes from our own code or configuration, never from a caller, so that their
number is bounded and no word of a dispute can be read at `/metrics`.
"""

from collections.abc import Mapping
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

COUNTERS: Mapping[str, tuple[str, ...]] = {
    "judge_events": ("Everything that was logged.", "event"),
    "judge_http_requests": ("Requests answered.", "method", "route", "status"),
    "judge_judgements": ("Verdicts given.", "domain", "evidence", "degraded"),
    "judge_reply_defects": ("Rules that a model's reply broke.", "rule", "attempt", "severity"),
    "judge_model_replies": ("Replies of a model.", "model", "finish"),
    "judge_model_tokens": ("Tokens as the model counts them.", "kind"),
    "judge_model_failures": ("Times that a model could not be reached.", "outcome", "reason"),
    "judge_fetch_failures": ("Pages that could not be fetched.", "reason"),
}
"""The help text and labels of each; most labels are fields of an event."""

COUNTED = {
    "http.request": "judge_http_requests",
    "judgement.finished": "judge_judgements",
    "reply.defect": "judge_reply_defects",
    "snippet.fetch_failed": "judge_fetch_failures",
}
"""The counter of an event."""

GAUGES: Mapping[str, tuple[str, Literal["livemax", "livemostrecent"]]] = {
    "judge_cache_degraded": (
        "1 while Redis is down and the cache inside the process stands in.",
        "livemax",
    ),
    "judge_tokens_today": ("Tokens spent since midnight UTC, by all workers.", "livemostrecent"),
    "judge_daily_tokens_limit": ("JUDGE_DAILY_TOKENS; 0 without a limit.", "livemostrecent"),
}
"""The help text of each, and which process's value counts where there are several."""


class Metrics:
    """Counts the events noted; `render` writes all metrics in Prometheus' text format.

    *directory* is where the processes of one server share their counts (the variable
    PROMETHEUS_MULTIPROC_DIR must name it before this module is imported); empty for one process.
    """

    def __init__(self, directory: str = "") -> None:
        self._directory = directory
        self._registry = registry = CollectorRegistry()
        self._counters = {
            name: Counter(name, meaning, labels, registry=registry)
            for name, (meaning, *labels) in COUNTERS.items()
        }
        self._gauges = {
            name: Gauge(name, meaning, registry=registry, multiprocess_mode=mode)
            for name, (meaning, mode) in GAUGES.items()
        }
        self._latency = Histogram(
            "judge_http_request_seconds",
            "From the first byte of a request to the last of its reply.",
            ("route",),
            # A verdict takes 2 to 12 s of a model; a refused request takes milliseconds.
            buckets=(0.005, 0.025, 0.1, 0.3, 1, 2, 3, 5, 8, 12, 20, 30, 60),
            registry=registry,
        )

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Count *event*; an event without a counter of its own is only counted by name."""
        self._count("judge_events", event=event)
        if event in COUNTED:
            self._count(COUNTED[event], **fields)
        match event:
            case "http.request":
                self._latency.labels(fields["route"]).observe(float(fields["ms"]) / 1000)
            case "model.replied" | "other_side.replied" | "support.replied":
                self._count("judge_model_replies", **fields)
                for kind in ("input", "output", "thinking"):
                    self._count("judge_model_tokens", float(fields[f"{kind}_tokens"]), kind=kind)
            case "model.retried" | "model.unavailable":
                outcome = event.removeprefix("model.")
                self._count("judge_model_failures", outcome=outcome, **fields)
            case "budget.counted" | "budget.refused":
                self._gauges["judge_tokens_today"].set(float(fields["spent"]))
                self._gauges["judge_daily_tokens_limit"].set(float(fields["limit"]))
            case "cache.down" | "cache.back":
                self._gauges["judge_cache_degraded"].set(event == "cache.down")

    def render(self) -> bytes:
        """All metrics, those of the other processes of this server included."""
        if not self._directory:
            return generate_latest(self._registry)
        shared = CollectorRegistry()
        MultiProcessCollector(shared, path=self._directory)  # type: ignore[no-untyped-call]
        return generate_latest(shared)

    def _count(self, counter: str, amount: float = 1, /, **fields: str | float | bool) -> None:
        """Add *amount* under the *fields* that are labels; booleans become `true` and `false`."""
        values = (fields[label] for label in COUNTERS[counter][1:])
        texts = [str(value).lower() if isinstance(value, bool) else value for value in values]
        self._counters[counter].labels(*texts).inc(amount)


def keep_counts_of(pid: int, directory: str) -> None:
    """Drop the gauges of an ended process; what it counted stays."""
    mark_process_dead(pid, directory)  # type: ignore[no-untyped-call]
