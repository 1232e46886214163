"""The approved pages and what reads them, with the cache that the processes share."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from judge.adapters.files.last_good import LastGood
from judge.adapters.files.watched_file import WatchedFile
from judge.adapters.memory_cache import MemoryCache, MemoryLock
from judge.adapters.redis.cache import SharedRedis, open_redis
from judge.adapters.redis.failover import CacheAndLock, Failover
from judge.adapters.system_clock import SystemClock
from judge.adapters.web.fetcher import open_fetcher
from judge.bootstrap.sources import open_sources
from judge.judging.knowledge import Knowledge
from judge.judging.pages.retriever import SnippetRetriever
from judge.ports import Clock, Journal
from judge.settings import Settings


@dataclass(frozen=True, slots=True)
class Library:
    """The approved pages and what reads them: all that works without a model."""

    sources: WatchedFile[Knowledge]
    retriever: SnippetRetriever
    journal: Journal
    clock: Clock
    degraded: Callable[[], tuple[str, ...]]
    """As in Services."""
    redis: SharedRedis | None
    """What the processes share, where there is one."""


@asynccontextmanager
async def open_library(
    settings: Settings, journal: Journal, *, last_good: LastGood | None = None
) -> AsyncIterator[Library]:
    """Open what reads the approved pages; raises ConfigurationError for a bad sources file."""
    clock = SystemClock()
    sources = open_sources(settings, journal, last_good)
    async with AsyncExitStack() as stack:
        redis = open_redis(url.get_secret_value()) if (url := settings.redis_url) else None
        if redis:
            stack.push_async_callback(redis.aclose)
        stores = standby = CacheAndLock(MemoryCache(clock), MemoryLock(clock))
        failover: Failover | None = None
        if redis:
            failover = Failover(CacheAndLock(redis.cache, redis.lock), standby, clock, journal)
            stack.push_async_callback(failover.aclose)
            stores = CacheAndLock(failover, failover)
        fetcher = open_fetcher(
            contact=lambda: sources.current().catalog.retrieval.contact,
            trusted_hosts=frozenset(settings.trusted_hosts),
        )
        stack.push_async_callback(fetcher.aclose)
        retriever = SnippetRetriever(fetcher, stores.cache, stores.lock, clock, journal)
        stack.push_async_callback(retriever.aclose)
        yield Library(
            sources=sources,
            retriever=retriever,
            journal=journal,
            clock=clock,
            degraded=lambda: ("redis",) if failover and failover.is_degraded else (),
            redis=redis,
        )
