"""Opens the sources file, the shared cache, and the retriever of approved pages."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from judge.adapters.files.pdf_text import pdf_text
from judge.adapters.files.watched_file import LastGood, WatchedFile
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
from judge.adapters.web.fetcher import open_fetcher
from judge.bootstrap.sources import open_sources
from judge.judging.results import Knowledge
from judge.library.pages.page_records import PDF_TIMEOUT_S
from judge.library.pages.retriever import SnippetRetriever
from judge.ports import Cache, Clock, Journal, Lock, RateLimiter, TokenCounter
from judge.settings import Settings
from judge.types.setting_values import parse_rate_limit


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


@dataclass(frozen=True, slots=True)
class Library:
    """The sources and the retriever of their pages: all that works without a model."""

    sources: WatchedFile[Knowledge]
    retriever: SnippetRetriever
    clock: Clock
    stores: Stores


@asynccontextmanager
async def open_library(
    settings: Settings, journal: Journal, *, last_good: LastGood | None = None
) -> AsyncIterator[Library]:
    """Open the library; raises ConfigurationError for an invalid sources file."""
    clock = SystemClock()
    sources = open_sources(settings, journal, last_good)
    async with AsyncExitStack() as stack:
        stores = open_stores(settings, clock, journal)
        if stores.redis:
            stack.push_async_callback(stores.redis.aclose)
        fetcher = open_fetcher(
            contact=lambda: sources.current().catalog.retrieval.contact,
            trusted_hosts=frozenset(settings.trusted_hosts),
        )
        stack.push_async_callback(fetcher.aclose)
        read_pdf = partial(pdf_text, timeout_s=PDF_TIMEOUT_S)
        retriever = SnippetRetriever(
            fetcher, stores.cache, stores.lock, clock, journal, read_pdf=read_pdf
        )
        stack.push_async_callback(retriever.aclose)
        yield Library(sources, retriever, clock, stores)


def open_stores(settings: Settings, clock: Clock, journal: Journal) -> Stores:
    """The stores of *settings*, which connect to Redis at first use; raises ConfigurationError."""
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
        async with aclosing(redis):
            await redis.ping()
