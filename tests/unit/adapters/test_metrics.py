import subprocess
import sys

import pytest

from judge.adapters.metrics import Metrics, keep_counts_of

FIELDS = {
    "http.request": {"method": "GET", "route": "/x", "status": 200, "ms": 12.5},
    "judgement.finished": {"domain": "tenancy", "evidence": "none", "degraded": True},
    "reply.defect": {"rule": "citation", "attempt": 1, "severity": "soft"},
    "model.replied": {
        "model": "m",
        "finish": "stop",
        "input_tokens": 3,
        "output_tokens": 2,
        "thinking_tokens": 1,
    },
    "model.unavailable": {"reason": "http", "status": 503, "hint": "words of a server"},
    "model.retried": {"reason": "http", "status": 503, "hint": "words of a server"},
    "snippet.fetch_failed": {"host": "a.example", "reason": "timeout"},
    "sources.reloaded": {},
}


def samples(metrics: Metrics) -> list[str]:
    return metrics.render().decode().splitlines()


@pytest.mark.parametrize(
    ("event", "sample"),
    [
        (
            "http.request",
            'judge_http_requests_total{method="GET",route="/x",status="200"} 1.0',
        ),
        ("http.request", 'judge_http_request_seconds_sum{route="/x"} 0.0125'),
        (
            "judgement.finished",
            'judge_judgements_total{degraded="true",domain="tenancy",evidence="none"} 1.0',
        ),
        (
            "reply.defect",
            'judge_reply_defects_total{attempt="1",rule="citation",severity="soft"} 1.0',
        ),
        ("model.replied", 'judge_model_replies_total{finish="stop",model="m"} 1.0'),
        ("model.replied", 'judge_model_tokens_total{kind="thinking"} 1.0'),
        (
            "model.unavailable",
            'judge_model_failures_total{outcome="unavailable",reason="http"} 1.0',
        ),
        ("model.retried", 'judge_model_failures_total{outcome="retried",reason="http"} 1.0'),
        ("snippet.fetch_failed", 'judge_fetch_failures_total{reason="timeout"} 1.0'),
        ("sources.reloaded", 'judge_events_total{event="sources.reloaded"} 1.0'),
    ],
)
def test_each_event_increments_its_metric(event, sample):
    metrics = Metrics()
    metrics.note(event, **FIELDS[event])
    assert sample in samples(metrics)
    assert "words of a server" not in metrics.render().decode()


def test_the_cache_is_shown_as_degraded_until_redis_is_back():
    metrics = Metrics()
    assert "judge_cache_degraded 0.0" in samples(metrics)
    metrics.note("cache.down", reason="refused")
    assert "judge_cache_degraded 1.0" in samples(metrics)
    metrics.note("cache.back", down_s=1.0)
    assert "judge_cache_degraded 0.0" in samples(metrics)


@pytest.mark.parametrize("event", ["budget.counted", "budget.refused"])
def test_the_tokens_of_the_day_are_shown_beside_their_limit(event):
    metrics = Metrics()
    assert "judge_daily_tokens_limit 0.0" in samples(metrics)
    metrics.note(event, spent=70, limit=100)
    assert "judge_tokens_today 70.0" in samples(metrics)
    assert "judge_daily_tokens_limit 100.0" in samples(metrics)


COUNTING = """
import os, sys
from judge.settings import share_metrics_in
share_metrics_in(sys.argv[1])
from judge.adapters.metrics import Metrics
metrics = Metrics(sys.argv[1])
metrics.note("sources.reloaded")
metrics.note("http.request", route="/", ms=2, method="GET", status=200)
print(os.getpid())
"""


@pytest.mark.process
def test_counts_of_ended_processes_stay_and_their_gauges_go(tmp_path):
    def count_once() -> int:
        command = [sys.executable, "-c", COUNTING, str(tmp_path)]
        return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    for _ in range(2):
        keep_counts_of(count_once(), str(tmp_path))
    assert not list(tmp_path.glob("gauge_live*"))
    shown = Metrics(str(tmp_path)).render().decode()
    assert 'judge_events_total{event="sources.reloaded"} 2.0' in shown
    assert 'judge_http_request_seconds_count{route="/"} 2.0' in shown
