"""The contract of TokenBudget, its failures in Redis, and the model that it limits."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from fakeredis import FakeAsyncRedis, FakeServer

from judge.adapters.memory import MemoryTokenCounter
from judge.adapters.models.budget import BudgetedModel, DailyBudget, seconds_to_midnight
from judge.adapters.redis.shared import BACKOFF_S, SharedRedis
from judge.adapters.redis.stores import KEY_TTL_S, RedisTokenCounter
from judge.errors import BudgetSpent, ContentBlocked, ModelUnavailable
from judge.ports import TokenCounter
from judge.types.replies import ModelReply, Prompt, Usage
from judge.types.requests import JudgeRequest
from tests.contract.conftest import ALL, any_redis
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.model import ScriptedModel, StreamedReply

HOURS = 3600
KEY = "tokens:2026-01-15"
PROMPT = Prompt("Judge.", "A row.", JudgeRequest(context="A row about tea.", query="Who is right?"))


@dataclass
class CounterUnderTest:
    """A counter, and its clock: 15 January 2026, 09:30 UTC."""

    counter: TokenCounter
    clock: FakeClock


@pytest.fixture(params=ALL)
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[CounterUnderTest]:
    """Every adapter of the port in turn."""
    clock = FakeClock()
    if request.param == "memory":
        yield CounterUnderTest(MemoryTokenCounter(clock), clock)
    else:
        async with any_redis(request) as redis:
            yield CounterUnderTest(RedisTokenCounter(redis, clock), clock)


class TestEveryTokenCounter:
    async def test_initial_total_is_zero(self, bench: CounterUnderTest):
        assert await bench.counter.add(0) == 0

    async def test_spent_tokens_add_up(self, bench: CounterUnderTest):
        assert [await bench.counter.add(n) for n in (100, 0, 23)] == [100, 100, 123]
        assert await bench.counter.add(0) == 123

    async def test_concurrent_spending_is_all_counted(self, bench: CounterUnderTest):
        async with asyncio.TaskGroup() as group:
            for _ in range(15):
                group.create_task(bench.counter.add(7))
        assert await bench.counter.add(0) == 105

    async def test_total_resets_at_midnight_utc(self, bench: CounterUnderTest):
        await bench.counter.add(500)
        bench.clock.advance(seconds_to_midnight(bench.clock.now()) - 1)
        assert await bench.counter.add(0) == 500
        bench.clock.advance(1)
        assert await bench.counter.add(0) == 0

    @pytest.mark.parametrize("hours", [24, -24])
    async def test_setting_the_clock_and_back_does_not_reset_the_total(
        self, bench: CounterUnderTest, hours: int
    ):
        await bench.counter.add(500)
        bench.clock.set_by(hours * HOURS)
        assert await bench.counter.add(0) == 0
        bench.clock.set_by(-hours * HOURS)
        assert await bench.counter.add(0) == 500


class TestRedisTokenCounter:
    def budget(self, redis: SharedRedis) -> tuple[RedisTokenCounter, FakeClock]:
        """A counter, and the clock of both its days and its outages."""
        clock = FakeClock()
        return RedisTokenCounter(SharedRedis(redis.client, clock, RecordingJournal()), clock), clock

    async def test_processes_share_one_total(self, fake: SharedRedis):
        (one, _), (other, _) = self.budget(fake), self.budget(fake)
        await one.add(10)
        assert await other.add(5) == 15
        assert await one.add(0) == 15

    async def test_count_expires_after_its_day(self, fake: SharedRedis):
        budget, _ = self.budget(fake)
        await budget.add(10)
        assert 24 * HOURS < await fake.client.ttl(KEY) <= KEY_TTL_S

    async def test_invalid_count_in_redis_falls_back_to_the_local_count(self, fake: SharedRedis):
        budget, _ = self.budget(fake)
        await fake.client.set(KEY, "no number")
        assert await budget.add(0) == 0
        assert await budget.add(10) == 10
        assert await budget.add(0) == 10

    async def test_without_redis_counting_continues_from_the_last_total(
        self, server: FakeServer, fake: SharedRedis
    ):
        budget, _ = self.budget(fake)
        await budget.add(100)
        server.connected = False
        assert [await budget.add(10), await budget.add(10)] == [110, 120]

    async def test_tokens_spent_during_an_outage_are_added_once_afterwards(
        self, server: FakeServer, fake: SharedRedis
    ):
        budget, clock = self.budget(fake)
        server.connected = False
        await budget.add(70)
        server.connected = True
        assert await fake.client.get(KEY) is None
        clock.advance(BACKOFF_S)
        assert [await budget.add(0), await budget.add(0)] == [70, 70]
        assert await fake.client.get(KEY) == "70"

    async def test_tokens_add_to_a_count_lost_by_redis(self, fake: SharedRedis):
        (one, _), (other, _) = self.budget(fake), self.budget(fake)
        await one.add(100)
        await other.add(20)
        await fake.client.flushall()
        assert [await one.add(5), await other.add(5), await one.add(0)] == [105, 125, 125]
        (fresh, _) = self.budget(fake)
        assert await fresh.add(0) == 125

    async def test_unreported_tokens_of_yesterday_do_not_count_today(
        self, server: FakeServer, fake: SharedRedis
    ):
        budget, clock = self.budget(fake)
        server.connected = False
        await budget.add(70)
        server.connected = True
        clock.advance(24 * HOURS)
        assert await budget.add(0) == 0

    async def test_cancelled_spending_is_counted(self, fake: SharedRedis):
        budget, _ = self.budget(fake)
        spending = asyncio.create_task(budget.add(40))
        await asyncio.sleep(0)
        spending.cancel()
        await asyncio.wait([spending])
        assert await budget.add(0) >= 40


class TestBudgetedModel:
    def bench(
        self, *script: str | ModelReply | Exception, limit: int = 300
    ) -> tuple[BudgetedModel, ScriptedModel, FakeClock, RecordingJournal]:
        model, clock, journal = ScriptedModel(*script), FakeClock(), RecordingJournal()
        budget = DailyBudget(MemoryTokenCounter(clock), limit, clock, journal)
        return BudgetedModel(model, budget), model, clock, journal

    async def ask(self, model: BudgetedModel) -> ModelReply:
        return await model.complete(PROMPT, timeout_s=5, doubles_limit=True)

    async def test_arguments_and_reply_are_passed_on(self):
        budgeted, model, _, _ = self.bench("reply")
        assert (await self.ask(budgeted)).text == "reply"
        assert (model.calls[0].timeout_s, model.calls[0].doubles_limit) == (5, True)
        assert (budgeted.name, budgeted.gives_verdicts) == ("scripted", True)

    async def test_model_is_not_called_past_the_limit(self):
        budgeted, model, _, journal = self.bench("one", "two", "three", limit=300)
        await self.ask(budgeted)  # 175 tokens
        await self.ask(budgeted)  # 350: allowed, since the limit was not reached before
        with pytest.raises(BudgetSpent, match="allowance is spent") as refused:
            await self.ask(budgeted)
        assert len(model.calls) == 2
        assert journal.fields_of("budget.refused") == [{"spent": 350, "limit": 300}]
        assert "300" not in str(refused.value)

    async def test_racing_workers_exceed_the_limit_only_by_calls_in_flight(self):
        server, clock, journal = FakeServer(), FakeClock(), RecordingJournal()
        model = ScriptedModel(*["reply"] * 20)
        async with FakeAsyncRedis(server=server) as one, FakeAsyncRedis(server=server) as other:
            workers = [
                BudgetedModel(model, DailyBudget(counted, 300, clock, journal))
                for client in (one, other)
                for counted in [RedisTokenCounter(SharedRedis(client, clock, journal), clock)]
            ]
            for _ in range(2):
                calls = [self.ask(worker) for worker in workers for _ in range(5)]
                ends = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(end) for end in ends} == {BudgetSpent}
            # At most the calls of the first round, which began before any was counted.
            assert len(model.calls) <= 10
            assert await one.get(KEY) == str(175 * len(model.calls)).encode()

    async def test_refusal_says_when_to_retry(self):
        budgeted, _, clock, _ = self.bench("one", limit=1)
        await self.ask(budgeted)
        with pytest.raises(BudgetSpent) as caught:
            await self.ask(budgeted)
        assert caught.value.retry_after_s == 14.5 * HOURS
        clock.advance(14.5 * HOURS)
        with pytest.raises(ModelUnavailable, match="used up"):
            await self.ask(budgeted)

    async def test_reply_without_usage_is_counted_by_length(self):
        budgeted, _, _, journal = self.bench(ModelReply("w" * 400, "m", usage=Usage()))
        await self.ask(budgeted)
        asked = len(PROMPT.instructions) + len(PROMPT.text)
        spent = (asked + 400) // 4
        assert journal.fields_of("budget.counted") == [{"spent": spent, "limit": 300}]

    async def test_blocked_reply_is_counted(self):
        budgeted, _, _, journal = self.bench(ContentBlocked("SAFETY", tokens=160))
        with pytest.raises(ContentBlocked):
            await self.ask(budgeted)
        assert journal.fields_of("budget.counted") == [{"spent": 160, "limit": 300}]

    @pytest.mark.parametrize("end", [asyncio.CancelledError, TimeoutError, ModelUnavailable])
    async def test_interrupted_stream_is_counted_by_its_length(self, end):
        budgeted, _, _, _ = self.bench(
            StreamedReply(["w" * 400, "w" * 4000], end("over")), limit=1000
        )
        with pytest.raises(end):
            await budgeted.complete(PROMPT, timeout_s=5, doubles_limit=True, on_text=len)
        with pytest.raises(BudgetSpent):
            await self.ask(budgeted)

    async def test_failed_call_costs_nothing(self):
        budgeted, _, _, journal = self.bench(ModelUnavailable("down"), "one")
        with pytest.raises(ModelUnavailable):
            await self.ask(budgeted)
        await self.ask(budgeted)
        assert journal.fields_of("budget.counted") == [{"spent": 175, "limit": 300}]
