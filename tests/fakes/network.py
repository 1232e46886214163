"""Transports and fetchers for tests: redirection to loopback, connect timeouts, scripted DNS."""

import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache

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


class LoopbackTransport(httpx.AsyncBaseTransport):
    """Sends every request to loopback, and records which address it was for."""

    def __init__(self, ssl_context: ssl.SSLContext | None = None) -> None:
        self.addresses: list[str] = []
        self._inner = httpx.AsyncHTTPTransport(
            verify=ssl_context or default_ssl_context(),
            trust_env=False,
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.addresses.append(request.url.host)
        request.url = request.url.copy_with(host="127.0.0.1")
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


class FakeResolver:
    """A resolver that resolves every name to *addresses*, and counts its queries."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.calls: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.calls.append(host)
        return self.addresses


@cache
def default_ssl_context() -> ssl.SSLContext:
    """Made once, since loading the certificate authorities takes 30 ms."""
    return httpx.create_ssl_context(trust_env=False)


@asynccontextmanager
async def fetcher_for(*sites: FakeSite, **options) -> AsyncIterator[HttpxFetcher]:
    """A fetcher that trusts *sites*."""
    options = {"contact": lambda: "ops@example.org", "ssl_context": default_ssl_context()} | options
    fetcher = open_fetcher(trusted_hosts=frozenset(site.host for site in sites), **options)
    try:
        yield fetcher
    finally:
        await fetcher.aclose()


async def refusal_reason(fetcher: HttpxFetcher, url: str, timeout_s: float = 5) -> str:
    """Why *url* is refused; fails if it is not."""
    with pytest.raises(FetchError) as caught:
        await fetcher.fetch(url, timeout_s=timeout_s)
    assert caught.value.reason in REASONS
    return caught.value.reason
