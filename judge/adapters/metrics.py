"""A Journal that turns events into Prometheus metrics.

Every label value comes from our own code or configuration, never from a caller, so that their
number is bounded and no word of a dispute can be read at `/metrics`.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from judge.adapters.files.whole_file import write_whole
from judge.errors import ConfigurationError

LATENCY_BUCKETS_S = (0.005, 0.025, 0.1, 0.3, 1, 2, 3, 5, 8, 12, 20, 30, 60)
"""A verdict takes 2 to 12 s of a model; a refused request takes milliseconds."""

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

GAUGES: Mapping[str, tuple[str, Literal["livemax", "livemostrecent"]]] = {
    "judge_cache_degraded": (
        "1 while Redis is down and the cache inside the process stands in.",
        "livemax",
    ),
    "judge_tokens_today": ("Tokens spent since midnight UTC, by all workers.", "livemostrecent"),
    "judge_daily_tokens_limit": ("JUDGE_DAILY_TOKENS; 0 without a limit.", "livemostrecent"),
}
"""The help text of each, and which process's value counts where there are several."""


RESERVED_BYTES = 64 * 1024
"""The size of each file in which a process shares its counts; about twice of what they need."""


class Metrics:
    """Counts the events noted; `render` writes all metrics in Prometheus' text format.

    *directory* is where the processes of one server share their counts (the variable
    PROMETHEUS_MULTIPROC_DIR must name it before this module is imported); empty for one process.
    """

    def __init__(self, directory: str = "") -> None:
        self._directory = directory
        if directory:
            _reserve_files(Path(directory))
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
            buckets=LATENCY_BUCKETS_S,
            registry=registry,
        )

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Count *event*; an event without a counter of its own is only counted by name."""
        self._count("judge_events", event=event)
        match event:
            case "http.request":
                self._count("judge_http_requests", **fields)
                self._latency.labels(fields["route"]).observe(float(fields["ms"]) / 1000)
            case "judgement.finished":
                self._count("judge_judgements", **fields)
            case "reply.defect":
                self._count("judge_reply_defects", **fields)
            case "model.replied" | "other_side.replied" | "support.replied":
                self._count("judge_model_replies", **fields)
                for kind in ("input", "output", "thinking"):
                    self._count("judge_model_tokens", float(fields[f"{kind}_tokens"]), kind=kind)
            case "model.retried" | "model.unavailable":
                outcome = event.removeprefix("model.")
                self._count("judge_model_failures", outcome=outcome, **fields)
            case "snippet.fetch_failed":
                self._count("judge_fetch_failures", **fields)
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
    """Add what an ended process counted to what all ended ones did, and remove its files.

    So a server whose workers are replaced for months has no more files than processes.
    """
    mark_process_dead(pid, directory)  # type: ignore[no-untyped-call]
    for kind in ("counter", "histogram"):
        own = Path(directory) / f"{kind}_{pid}.db"
        if own.exists():
            kept = MmapedDict(str(own.with_name(f"{kind}_ended.db")))  # type: ignore[no-untyped-call]
            counted = MmapedDict(str(own))  # type: ignore[no-untyped-call]
            for key, value, moment in counted.read_all_values():  # type: ignore[no-untyped-call]
                before, _ = kept.read_value(key)  # type: ignore[no-untyped-call]
                kept.write_value(key, before + value, moment)  # type: ignore[no-untyped-call]
            kept.close()  # type: ignore[no-untyped-call]
            counted.close()  # type: ignore[no-untyped-call]
            own.unlink()


def _reserve_files(directory: Path) -> None:
    """Write this process's files in full; raises ConfigurationError if they cannot be.

    prometheus_client would map files of holes, and the system kills a process that writes into a
    hole on a full disk.
    """
    try:
        for kind in ("counter", "histogram", "gauge_livemax", "gauge_livemostrecent"):
            path = directory / f"{kind}_{os.getpid()}.db"
            if not path.exists():  # An ended process may have had the same id.
                write_whole(path, bytes(RESERVED_BYTES))
    except OSError as error:
        raise ConfigurationError(
            f"The counts that workers share cannot be kept in {directory} ({error.strerror}). "
            "Make room there, or set TMPDIR to another folder."
        ) from error
