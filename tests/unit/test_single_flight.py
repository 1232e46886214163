"""Concurrent callers with one key share one run of the work."""

import asyncio

import pytest

from judge.single_flight import SingleFlight


class Work:
    """Counts its runs, and finishes when `end` is set."""

    def __init__(self) -> None:
        self.runs = 0
        self.end = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self) -> int:
        self.runs += 1
        await self.end.wait()
        if self.error:
            raise self.error
        return self.runs


@pytest.fixture
def work() -> Work:
    return Work()


async def test_concurrent_callers_share_one_run(work: Work):
    flights = SingleFlight()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(flights.share("key", work)) for _ in range(100)]
        await asyncio.sleep(0)
        work.end.set()
    assert {task.result() for task in tasks} == {1}


async def test_error_is_raised_to_all_callers_and_not_cached(work: Work):
    flights = SingleFlight()
    work.error = LookupError("broken")
    tasks = [asyncio.create_task(flights.share("key", work)) for _ in range(3)]
    await asyncio.sleep(0)
    work.end.set()
    await asyncio.wait(tasks)
    assert {type(task.exception()) for task in tasks} == {LookupError}
    work.error = None
    assert await flights.share("key", work) == 2


async def test_work_continues_if_all_callers_are_cancelled(work: Work):
    flights = SingleFlight()
    task = asyncio.create_task(flights.share("key", work))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    rejoining = asyncio.create_task(flights.share("key", work))
    work.end.set()
    assert await rejoining == 1


async def test_closing_cancels_running_work(work: Work):
    flights = SingleFlight()
    task = asyncio.create_task(flights.share("key", work))
    await asyncio.sleep(0)
    await flights.aclose()
    await asyncio.wait([task])
    assert task.cancelled()
