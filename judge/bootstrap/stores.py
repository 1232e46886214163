"""Opens what is kept in Redis, or inside this process where there is none."""

from dataclasses import dataclass

from judge.adapters.journal import Journals
from judge.adapters.memory import (
    MemoryCache,
    MemoryLock,
    MemoryRateLimiter,
    MemoryTokenCounter,
    SystemClock,
)
from judge.adapters.redis.shared import SharedRedis, connect
from judge.adapters.redis.stores import RedisCache, RedisLock, RedisRateLimiter, RedisTokenCounter
from judge.ports import Cache, Clock, Journal, Lock, RateLimiter, TokenCounter
from judge.settings import Settings
from judge.types.limits import parse_rate_limit


@dataclass(frozen=True, slots=True)
class Stores:
    """The cache, the lock and the counters of one process."""

    cache: Cache
    lock: Lock
    tokens: TokenCounter
    limiter: RateLimiter | None
    """None without a limit."""
    redis: SharedRedis | None
    """The Redis that all processes share; None without REDIS_URL."""

    def degraded(self) -> tuple[str, ...]:
        """`redis` while it is down."""
        return ("redis",) if self.redis and self.redis.is_degraded else ()


def open_stores(settings: Settings, clock: Clock, journal: Journal) -> Stores:
    """The stores of *settings*; Redis is connected to when first used. Raises ConfigurationError.

    While Redis is down, what is kept inside the process stands in.
    """
    limit = parse_rate_limit(settings.rate_limit)
    cache, lock = MemoryCache(clock), MemoryLock(clock)
    limiter = MemoryRateLimiter(limit, clock) if limit else None
    if settings.redis_url is None:
        return Stores(cache, lock, MemoryTokenCounter(clock), limiter, None)
    redis = SharedRedis(connect(settings.redis_url.get_secret_value()), clock, journal)
    return Stores(
        RedisCache(redis, cache),
        RedisLock(redis, lock),
        RedisTokenCounter(redis, clock),
        RedisRateLimiter(redis, limit, limiter) if limit and limiter else None,
        redis,
    )


async def ping_redis(settings: Settings) -> None:
    """Raise CacheUnavailable unless all that is used of Redis works; ConfigurationError too."""
    if redis := open_stores(settings, SystemClock(), Journals()).redis:
        try:
            await redis.ping()
        finally:
            await redis.aclose()
