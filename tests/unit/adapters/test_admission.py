import asyncio

import pytest

from judge.adapters.admission import Admission
from judge.errors import Overloaded


class Visitors:
    """Judgements that record their admission, and run until released."""

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.inside: list[int] = []
        self.leave = asyncio.Event()

    async def visit(self, number: int) -> None:
        async with self.admission():
            self.inside.append(number)
            await self.leave.wait()

    def come(self, count: int) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self.visit(number)) for number in range(count)]


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_single_caller_is_admitted_at_once():
    visitors = Visitors(Admission(10, 60))
    [task] = visitors.come(1)
    await turns(1)
    assert visitors.inside == [0]
    visitors.leave.set()
    await task


async def test_waiting_callers_are_admitted_one_by_one_in_order():
    visitors = Visitors(Admission(100, 60))
    tasks = visitors.come(50)
    await turns(10)
    assert 0 < len(visitors.inside) <= 10
    await turns(100)
    assert visitors.inside == list(range(50))
    visitors.leave.set()
    await asyncio.wait(tasks)


async def test_nobody_is_admitted_past_the_limit_until_one_leaves():
    visitors = Visitors(Admission(3, 60))
    tasks = visitors.come(5)
    await turns(20)
    assert [task.done() for task in tasks] == [False] * 3 + [True] * 2
    with pytest.raises(Overloaded):
        tasks[4].result()
    visitors.leave.set()
    await asyncio.wait(tasks)
    async with visitors.admission():
        pass


async def test_waiting_in_the_queue_is_bounded():
    visitors = Visitors(Admission(10, 0.0))  # over at the next loop iteration
    tasks = visitors.come(5)
    await asyncio.wait(tasks[1:], timeout=5, return_when=asyncio.ALL_COMPLETED)
    sent_away = [task for task in tasks if task.done()]
    assert sent_away
    assert all(isinstance(task.exception(), Overloaded) for task in sent_away)
    visitors.leave.set()
    await asyncio.wait(tasks)
    assert visitors.admission._count == 0


async def test_cancelled_waiter_does_not_block_others():
    visitors = Visitors(Admission(10, 60))
    tasks = visitors.come(4)
    await turns(1)
    tasks[1].cancel()
    tasks[2].cancel()
    await turns(10)
    assert visitors.inside == [0, 3]
    visitors.leave.set()
    await asyncio.wait(tasks)
    assert visitors.admission._count == 0
