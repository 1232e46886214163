"""What the network fetcher promises beyond the contract: bounds, and few connections."""

import asyncio
import ipaddress
import time
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.web.fetcher import MAX_CONNECTIONS, HttpxFetcher
from judge.errors import FetchError
from judge.types.references import Page
from tests.fakes.network import (
    PUBLIC,
    REASONS,
    FakeResolver,
    LoopbackTransport,
    fetcher_for,
    refusal_reason,
)
from tests.fakes.site import FakeSite, Reply


@pytest.fixture
async def site() -> AsyncIterator[FakeSite]:
    async with FakeSite() as site:
        yield site


@pytest.fixture
async def fetcher(site: FakeSite) -> AsyncIterator[HttpxFetcher]:
    async with fetcher_for(site) as fetcher:
        yield fetcher


# Bounds


async def test_endless_page_is_refused(fetcher, site):
    url = site.script("/", Reply(b"a" * (20 << 20), piece=1 << 16, length=""))
    assert await refusal_reason(fetcher, url) == "too-large"
    await site.until_disconnected()


@pytest.mark.parametrize("path", ["/", "/robots.txt"])
async def test_slow_reply_ends_at_the_deadline(fetcher, site, path):
    site.page("/", "<p>Hello</p>")
    site.script(path, Reply(b"a" * 1000, piece=1, pause_s=0.02))
    start = time.monotonic()
    assert await refusal_reason(fetcher, site.url("/"), timeout_s=0.3) == "timeout"
    assert time.monotonic() - start < 10  # the whole page would take twenty
    assert path == "/" or site.hits["/"] == 0


async def test_timed_out_fetches_release_their_connections(fetcher, site):
    held, free = site.page("/held", "<p>Slow</p>"), site.page("/free", "<p>Quick</p>")
    await fetcher.fetch(free, timeout_s=5)
    site.hold("/held")
    async with asyncio.TaskGroup() as group:
        for _ in range(MAX_CONNECTIONS + 6):
            group.create_task(refusal_reason(fetcher, held, timeout_s=0.5))
    assert isinstance(await fetcher.fetch(free, timeout_s=5), Page)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "connection"),
        (b"nonsense\r\n\r\n", "connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "connection"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<p>",
            "connection",
        ),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50_000 + b"\r\n", "connection"),
        (b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", "status"),
    ],
)
async def test_malformed_reply_is_refused_with_its_reason(fetcher, site, raw, reason):
    assert await refusal_reason(fetcher, site.script("/", Reply(raw=raw))) == reason


async def test_closed_port_is_a_connection_error_without_the_query(site):
    async with FakeSite() as gone:
        url = gone.url("/?who=me")
    async with fetcher_for(gone) as fetcher:
        with pytest.raises(FetchError, match=r"connection to 127\.0\.0\.1 failed") as caught:
            await fetcher.fetch(url, timeout_s=5)
    assert caught.value.reason == "connection"
    assert "who=me" not in str(caught.value)


# Connections


async def test_no_connection_is_kept_after_its_reply(fetcher, site):
    url = site.page("/", "<p>Hello</p>")
    for _ in range(3):
        await fetcher.fetch(url, timeout_s=5)
    await site.until_disconnected()


# Any input


async def outcome(url: str, reply: bytes) -> object:
    """The result of fetching *url* when every site replies *reply*."""
    async with (
        FakeSite() as site,
        fetcher_for(resolver=FakeResolver(PUBLIC), transport=LoopbackTransport()) as fetcher,
    ):
        for path in ("/robots.txt", "/page"):
            site.script(path, Reply(raw=reply))
        try:
            url = url.replace(":port/", f":{site.port}/")
            return await fetcher.fetch(url, timeout_s=5)
        except FetchError as error:
            return error.reason


hosts = st.one_of(
    st.text(max_size=20),
    st.ip_addresses().map(str),
    st.ip_addresses(v=6).map(lambda ip: f"[{ipaddress.ip_address(ip)}]"),
    st.text("a.-xn:0", max_size=80),
)
urls = st.builds("{}://{}{}".format, st.sampled_from(["http", "https", "HTTP"]), hosts, st.text())


@given(url=urls | st.text())
def test_any_url_raises_only_fetch_error(url):
    result = asyncio.run(outcome(url, b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"))
    assert result in REASONS


header_lines = st.lists(
    st.builds(
        lambda name, value: name + b": " + value + b"\r\n",
        st.sampled_from(
            [b"Location", b"Content-Type", b"Content-Encoding", b"Content-Length", b"ETag", b"Host",
             b"Transfer-Encoding", b"Set-Cookie", b"Last-Modified", b"Connection"]
        ),
        st.sampled_from(
            [b"text/html", b"text/html; charset=utf-8", b"gzip", b"chunked", b"3", b"/", b"http://h",
             b"http://[", b"//\xff", b"close"]
        )
        | st.binary(max_size=20),
    ),
    max_size=5,
)  # fmt: skip
replies = st.binary(max_size=60) | st.builds(
    lambda status, lines, body: b"HTTP/1.1 %d X\r\n%s\r\n%s" % (status, b"".join(lines), body),
    st.sampled_from([200, 200, 200, 301, 302, 304, 404, 101, 100, 500]),
    header_lines,
    st.binary(max_size=60),
)


@given(reply=replies)
def test_any_reply_raises_only_fetch_error(reply):
    result = asyncio.run(outcome("http://example.org:port/page", reply))
    assert result in REASONS or isinstance(result, Page)
