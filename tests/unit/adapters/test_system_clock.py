"""The system clock tells UTC and never runs backwards."""

from datetime import UTC, datetime

from judge.adapters.system_clock import SystemClock


def test_now_is_the_present_moment_in_utc():
    before = datetime.now(UTC)
    now = SystemClock().now()
    assert before <= now <= datetime.now(UTC)
    assert now.tzinfo is UTC


def test_monotonic_never_runs_backwards():
    clock = SystemClock()
    first = clock.monotonic()
    assert clock.monotonic() >= first
