"""Work by key is done once for all who ask while it is under way."""

import asyncio

import pytest

from judge.single_flight import SingleFlight


class Work:
    """Counts its runs and ends when told to."""

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


async def test_all_who_ask_at_once_share_one_run(work: Work):
    flights = SingleFlight()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(flights.share("key", work)) for _ in range(100)]
        await asyncio.sleep(0)
        work.end.set()
    assert {task.result() for task in tasks} == {1}


async def test_other_keys_run_on_their_own(work: Work):
    flights = SingleFlight()
    work.end.set()
    assert [await flights.share(key, work) for key in "ab"] == [1, 2]


async def test_what_has_ended_is_run_again(work: Work):
    flights = SingleFlight()
    work.end.set()
    assert await flights.share("key", work) == 1
    assert await flights.share("key", work) == 2


async def test_an_error_reaches_all_who_asked_and_is_not_kept(work: Work):
    flights = SingleFlight()
    work.error = LookupError("broken")
    tasks = [asyncio.create_task(flights.share("key", work)) for _ in range(3)]
    await asyncio.sleep(0)
    work.end.set()
    await asyncio.wait(tasks)
    assert {type(task.exception()) for task in tasks} == {LookupError}
    work.error = None
    assert await flights.share("key", work) == 2


async def test_the_work_goes_on_when_all_who_asked_have_left(work: Work):
    flights = SingleFlight()
    task = asyncio.create_task(flights.share("key", work))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    rejoining = asyncio.create_task(flights.share("key", work))
    work.end.set()
    assert await rejoining == 1


async def test_closing_cancels_what_is_under_way(work: Work):
    flights = SingleFlight()
    task = asyncio.create_task(flights.share("key", work))
    await asyncio.sleep(0)
    await flights.aclose()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_closing_with_nothing_under_way_returns_at_once():
    closing = SingleFlight().aclose()

    with pytest.raises(StopIteration):
        closing.send(None)
