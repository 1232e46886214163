"""The clock of the system, and how many judgements one process takes on."""

from datetime import UTC, datetime

import pytest

from judge.adapters.memory import Admission, SystemClock
from judge.errors import Overloaded


def test_now_is_the_present_moment_in_utc():
    before = datetime.now(UTC)
    now = SystemClock().now()
    assert before <= now <= datetime.now(UTC)
    assert now.tzinfo is UTC


def test_monotonic_never_runs_backwards():
    clock = SystemClock()
    first = clock.monotonic()
    assert clock.monotonic() >= first


async def test_nobody_is_admitted_past_the_limit_until_one_leaves():
    admission = Admission(1)
    for _ in range(2):
        async with admission():
            with pytest.raises(Overloaded):
                await admission().__aenter__()
