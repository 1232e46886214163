"""Commands to Redis leave no reference cycles behind."""

import asyncio
import gc
import weakref

from redis.asyncio import Redis

from judge.adapters.redis.cache import call_redis


async def test_callers_of_redis_are_freed_without_the_garbage_collector():
    async def answer():
        return "here"

    gc.disable()
    try:
        task = asyncio.create_task(call_redis(Redis(), answer))
        assert await task == "here"
        asker = weakref.ref(task)
        del task
        await asyncio.sleep(0)  # the event loop still references the callback that it just ran
        assert asker() is None
    finally:
        gc.enable()
