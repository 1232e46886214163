"""The contract of PageFetcher.

An adapter is listed here as a function that opens it for a site; all tests below run on it.
"""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from judge.errors import FetchError
from judge.ports import PageFetcher
from judge.types.references import Page
from tests.fakes.network import fetcher_for
from tests.fakes.site import FakeSite, Reply

Opener = Callable[[FakeSite], AbstractAsyncContextManager[PageFetcher]]


@asynccontextmanager
async def over_the_network(site: FakeSite) -> AsyncIterator[PageFetcher]:
    async with fetcher_for(site) as fetcher:
        yield fetcher


ADAPTERS: dict[str, Opener] = {"httpx": over_the_network}


@pytest.fixture
async def site() -> AsyncIterator[FakeSite]:
    async with FakeSite() as site:
        yield site


@pytest.fixture(params=ADAPTERS.values(), ids=ADAPTERS.keys())
async def fetcher(request: pytest.FixtureRequest, site: FakeSite) -> AsyncIterator[PageFetcher]:
    async with request.param(site) as fetcher:
        yield fetcher


async def test_page_has_bytes_charset_and_url(fetcher, site):
    html = "<p>Caf\u00e9</p>".encode("latin-1")
    headers = (("Content-Type", 'Text/HTML; Charset="ISO-8859-1"'),)
    url = site.script("/cafe", Reply(html, headers=headers)) + "?table=4"
    page = await fetcher.fetch(url, timeout_s=5)
    content_type = 'Text/HTML; Charset="ISO-8859-1"'
    assert page == Page(url, html, "iso-8859-1", content_type=content_type)


async def test_compressed_page_is_decompressed(fetcher, site):
    url = site.gzipped("/", "<p>Hello</p>")
    page = await fetcher.fetch(url, timeout_s=5)
    assert isinstance(page, Page)
    assert page.body == b"<p>Hello</p>"


async def test_page_has_the_date_that_its_server_gives(fetcher, site):
    modified = "Sat, 21 Nov 2026 10:00:00 GMT"
    page = await fetcher.fetch(site.page("/", "<p>Hello</p>", modified=modified), timeout_s=5)
    assert page.last_modified == modified


async def test_redirected_page_has_its_final_url(fetcher, site):
    target = site.page("/new", "<p>Hello</p>")
    url = site.redirect("/old", "/new")
    page = await fetcher.fetch(url, timeout_s=5)
    assert isinstance(page, Page)
    assert (page.url, page.body) == (target, b"<p>Hello</p>")


@pytest.mark.parametrize("status", [204, 206, 400, 403, 404, 410, 429, 500, 503])
async def test_other_status_is_an_error_with_the_status(fetcher, site, status):
    site.script("/", Reply(b"" if status == 204 else b"<p>Sorry</p>", status))
    with pytest.raises(FetchError, match=f"127.0.0.1 .*{status}") as caught:
        await fetcher.fetch(site.url("/?who=me"), timeout_s=5)
    assert caught.value.reason == "status"
    assert "who=me" not in str(caught.value)


async def test_slow_page_is_a_timeout(fetcher, site):
    url = site.page("/", "<p>Hello</p>")
    site.hold("/")
    with pytest.raises(FetchError, match=r"127\.0\.0\.1 took longer than 0\.2 s") as caught:
        await fetcher.fetch(url, timeout_s=0.2)
    assert caught.value.reason == "timeout"


async def test_cancelled_fetch_raises_cancelled_error(fetcher, site):
    url = site.page("/", "<p>Hello</p>")
    site.hold("/")
    task = asyncio.create_task(fetcher.fetch(url, timeout_s=5))
    await site.arrived("/")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("url", ["", "nonsense", "ftp://example.org/", "http://u:p@example.org/"])
async def test_other_schemes_are_refused(fetcher, url):
    with pytest.raises(FetchError) as caught:
        await fetcher.fetch(url, timeout_s=5)
    assert caught.value.reason == "scheme"


async def test_json_is_accepted_if_requested(fetcher, site):
    headers = (("Content-Type", "application/json; charset=utf-8"),)
    url = site.script("/api/content/repairs", Reply(b'{"title": "Repairs"}', headers=headers))
    reply = await fetcher.fetch(url, timeout_s=5, media="json")
    assert reply == Page(url, b'{"title": "Repairs"}', "utf-8", "application/json; charset=utf-8")
    assert site.requests[-1].headers["accept"] == "application/json"


@pytest.mark.parametrize(
    ("media", "sent"),
    [
        ("json", "text/html"),
        ("json", "text/plain"),
        ("json", ""),
        ("html", "application/json"),
        ("html", "application/pdf"),
        ("html", ""),
    ],
)
async def test_reply_of_another_media_type_is_refused(fetcher, site, media, sent):
    headers = (("Content-Type", sent),) if sent else ()
    url = site.script("/", Reply(b"{}", headers=headers))
    with pytest.raises(FetchError, match=media.upper()) as caught:
        await fetcher.fetch(url, timeout_s=5, media=media)
    assert caught.value.reason == "content-type"


@pytest.mark.parametrize("encoding", ["", "gzip"])
async def test_page_may_have_two_mebibytes_at_most(fetcher, site, encoding):
    def reply(size: int) -> Reply:
        body = b"a" * size
        headers = (("Content-Type", "text/html"), ("Content-Encoding", encoding))
        return Reply(gzip.compress(body, 1) if encoding else body, headers=headers, length="")

    page = await fetcher.fetch(site.script("/fits", reply(2 << 20)), timeout_s=5)
    assert len(page.body) == 2 << 20
    with pytest.raises(FetchError, match=r"127\.0\.0\.1 is over 2048 KiB") as caught:
        await fetcher.fetch(site.script("/over", reply((2 << 20) + 1)), timeout_s=5)
    assert caught.value.reason == "too-large"
