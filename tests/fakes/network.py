"""Networks and fetchers for tests: redirection to loopback, connect timeouts, scripted DNS."""

import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache

import httpcore
import httpx
import pytest

from judge.adapters.web.fetcher import HttpxFetcher, open_fetcher
from judge.errors import FetchError
from tests.fakes.site import FakeSite

PUBLIC = "93.184.215.14"
REASONS = {
    "address", "scheme", "redirects", "too-large", "encoding", "content-type", "status",
    "timeout", "connection", "robots", "tls",
}  # fmt: skip


class Detour(httpcore.AsyncNetworkBackend):
    """Redirects every connection to loopback, and records where it was meant to go."""

    def __init__(self) -> None:
        self.meant: list[str] = []

    async def connect_tcp(self, host, port, *_):
        self.meant.append(host)
        return await httpcore.AnyIOBackend().connect_tcp("127.0.0.1", port)


class BlackHole(httpcore.AsyncMockBackend):
    """A network where connecting times out."""

    async def connect_tcp(self, *_):
        raise httpcore.ConnectTimeout("no answer")


class Names:
    """A resolver that resolves every name to *addresses*, and counts its queries."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        return self.addresses


class Turncoat(Names):
    """A resolver that gives *first* until it switches: *at_each_question*, or when told to."""

    def __init__(self, first: str, then: str, *, at_each_question: bool = False) -> None:
        super().__init__(first)
        self._then = then
        self._at_each_question = at_each_question

    def turn(self) -> None:
        self.addresses = (self._then,)

    async def __call__(self, host: str) -> Sequence[str]:
        found = await super().__call__(host)
        if self._at_each_question:
            self.turn()
        return found


@cache
def authorities() -> ssl.SSLContext:
    """Made once, since reading all the certificates takes 30 ms."""
    return httpx.create_ssl_context(trust_env=False)


@asynccontextmanager
async def opened(*sites: FakeSite, **options) -> AsyncIterator[HttpxFetcher]:
    """A fetcher that trusts *sites*."""
    options = {"contact": lambda: "ops@example.org", "ssl_context": authorities()} | options
    fetcher = open_fetcher(trusted_hosts=frozenset(site.host for site in sites), **options)
    try:
        yield fetcher
    finally:
        await fetcher.aclose()


async def reason_for(fetcher: HttpxFetcher, url: str, timeout_s: float = 5) -> str:
    """Why *url* is refused; fails if it is not."""
    with pytest.raises(FetchError) as caught:
        await fetcher.fetch(url, timeout_s=timeout_s)
    assert caught.value.reason in REASONS
    return caught.value.reason
