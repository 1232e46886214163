"""Opens the sources file and the retriever of approved pages, with the shared cache."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from judge.adapters.files.watched_file import LastGood, WatchedFile
from judge.adapters.memory.cache import MemoryCache, MemoryLock
from judge.adapters.redis.cache import SharedRedis, open_redis
from judge.adapters.redis.failover import CacheAndLock, Failover, Outage
from judge.adapters.system_clock import SystemClock
from judge.adapters.web.fetcher import open_fetcher
from judge.bootstrap.sources import open_sources
from judge.judging.knowledge import Knowledge
from judge.library.pages.retriever import SnippetRetriever
from judge.ports import Clock, Journal
from judge.settings import Settings


@dataclass(frozen=True, slots=True)
class Library:
    """The sources and the retriever of their pages: all that works without a model."""

    sources: WatchedFile[Knowledge]
    retriever: SnippetRetriever
    journal: Journal
    clock: Clock
    degraded: Callable[[], tuple[str, ...]]
    """See `Services.degraded`."""
    redis: SharedRedis | None
    """The Redis that all processes share; None without REDIS_URL."""
    outage: Outage
    """Whether that Redis is down."""


@asynccontextmanager
async def open_library(
    settings: Settings, journal: Journal, *, last_good: LastGood | None = None
) -> AsyncIterator[Library]:
    """Open the library; raises ConfigurationError for an invalid sources file."""
    clock = SystemClock()
    sources = open_sources(settings, journal, last_good)
    async with AsyncExitStack() as stack:
        redis = open_redis(url.get_secret_value()) if (url := settings.redis_url) else None
        if redis:
            stack.push_async_callback(redis.aclose)
        stores = CacheAndLock(MemoryCache(clock), MemoryLock(clock))
        outage = Outage(clock, journal)
        if redis:
            failover = Failover(CacheAndLock(redis.cache, redis.lock), stores, outage)
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
            degraded=lambda: ("redis",) if outage.is_degraded else (),
            redis=redis,
            outage=outage,
        )
