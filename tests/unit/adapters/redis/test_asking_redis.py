"""What asking Redis leaves behind."""

import asyncio
import gc
import weakref

from redis.asyncio import Redis

from judge.adapters.redis.cache import call_redis


async def test_whoever_asked_redis_is_gone_without_the_collector():
    async def answer():
        return "here"

    gc.disable()
    try:
        task = asyncio.create_task(call_redis(Redis(), answer))
        assert await task == "here"
        asker = weakref.ref(task)
        del task
        await asyncio.sleep(0)  # the loop itself holds whom it has just told
        assert asker() is None
    finally:
        gc.enable()
