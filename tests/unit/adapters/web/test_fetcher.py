"""How the fetcher handles replies, over a scripted transport; sockets are in tests/contract."""

from collections.abc import AsyncIterator

import httpx
import pytest
import respx

from judge.adapters.web.fetcher import MAX_PAGE_BYTES, HttpxFetcher
from judge.adapters.web.robots import MAX_ROBOTS_BYTES
from judge.types.references import Page
from tests.fakes.network import refusal_reason

SITE = "https://example.org"
ROBOTS = f"{SITE}/robots.txt"
HTML = (("Content-Type", "text/html"),)


class Body(httpx.AsyncByteStream):
    """A body that has not been read yet, as a real transport's; it counts what is read."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.bytes_read = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self.bytes_read += len(self.content)
        yield self.content


def reply(content: bytes = b"", status: int = 200, headers=()):
    """A route that answers each request with a new response."""
    return lambda _: httpx.Response(status, headers=list(headers), stream=Body(content))


@pytest.fixture
def web() -> respx.MockRouter:
    """The reachable web: SITE, without robots.txt unless a test adds one."""
    router = respx.MockRouter(assert_all_called=False)
    router.get(ROBOTS).mock(side_effect=reply(status=404))
    return router


@pytest.fixture
async def fetcher(web: respx.MockRouter) -> AsyncIterator[HttpxFetcher]:
    fetcher = fetcher_of(web)
    yield fetcher
    await fetcher.aclose()


def fetcher_of(web: respx.MockRouter, contact=lambda: "ops@example.org") -> HttpxFetcher:
    transport = httpx.MockTransport(web.async_handler)
    return HttpxFetcher(transport, contact=contact, product="Judge/1.0")


def page(web: respx.MockRouter, url: str, content: bytes = b"<p>x</p>", headers=HTML, status=200):
    web.get(url).mock(side_effect=reply(content, status, headers))
    return url


def redirect(web: respx.MockRouter, url: str, target: str, status: int = 302) -> str:
    return page(web, url, headers=(("Location", target),), status=status)


def robots(web: respx.MockRouter, content: bytes, status: int = 200) -> None:
    page(web, ROBOTS, content, (("Content-Type", "text/plain"),), status)


def requests_for(web: respx.MockRouter, url: str) -> list[httpx.Request]:
    return [call.request for call in web.calls if str(call.request.url) == url]


async def test_three_redirects_are_followed_and_four_are_not(fetcher, web):
    page(web, f"{SITE}/0")
    for hop in range(1, 5):
        redirect(web, f"{SITE}/{hop}", f"/{hop - 1}", (301, 302, 307, 308)[hop - 1])
    assert (await fetcher.fetch(f"{SITE}/3", timeout_s=5)).url == f"{SITE}/0"
    assert await refusal_reason(fetcher, f"{SITE}/4") == "redirects"


@pytest.mark.parametrize(
    ("body", "headers", "is_page"),
    [
        (b"<p>x</p>", (("Content-Type", "application/xhtml+xml"),), True),
        (b"\xef\xbb\xbf \n<!DOCTYPE HTML><p>x</p>", (), True),
        (b"<html lang=en>", (), True),
        (b"<p>x</p>", (), False),
        (b"{}", (), False),
        (b"<html>", (("Content-Type", "text/html charset=utf-8"),), True),
        (b"<html>", (("Content-Type", "text/plain"),), False),
        (b"<html>", (("Content-Type", "text/html"), ("Content-Type", "text/plain")), False),
        (b"<html>", (("Content-Type", "text/html"), ("Content-Type", "text/html")), True),
    ],
)
async def test_declared_or_sniffed_html_is_a_page(fetcher, web, body, headers, is_page):
    url = page(web, f"{SITE}/", body, headers)
    if is_page:
        assert isinstance(await fetcher.fetch(url, timeout_s=5), Page)
    else:
        assert await refusal_reason(fetcher, url) == "content-type"


async def test_request_has_user_agent_and_accept_headers(web):
    contacts = iter(["first@example.org", "second@example.org\r\nHost: other\u00e9", ""])
    fetcher = fetcher_of(web, lambda: next(contacts, ""))
    page(web, f"{SITE}/")
    for _ in range(2):
        await fetcher.fetch(f"{SITE}/", timeout_s=5)
    first, second = (request.headers for request in requests_for(web, f"{SITE}/"))
    assert first["user-agent"] == "Judge/1.0 (+first@example.org)"
    assert first["accept-encoding"] == "gzip"
    assert second["user-agent"] == "Judge/1.0"
    (asking,) = requests_for(web, ROBOTS)
    assert asking.headers["user-agent"].endswith(" (+second@example.orgHost: other)")


async def test_robots_txt_of_a_redirect_target_applies(fetcher, web):
    target = page(web, "https://elsewhere.example/target")
    page(web, "https://elsewhere.example/robots.txt", b"User-agent: judge\nDisallow: /", ())
    assert await refusal_reason(fetcher, redirect(web, f"{SITE}/", target)) == "robots"
    assert requests_for(web, target) == []


async def test_redirected_robots_txt_is_followed(fetcher, web):
    redirect(web, ROBOTS, "/moved.txt", status=301)
    page(web, f"{SITE}/moved.txt", b"User-agent: *\nDisallow: /private", ())
    assert await refusal_reason(fetcher, page(web, f"{SITE}/private")) == "robots"


async def test_a_huge_robots_txt_is_read_up_to_its_last_whole_line(fetcher, web):
    # The limit is inside `Disallow: /x…`, which must not become `Disallow: /`.
    head = b"User-agent: *\nDisallow: /private\n"
    padding = b"#" * (MAX_ROBOTS_BYTES - len(head) - len(b"\nDisallow: /")) + b"\n"
    robots(web, head + padding + b"Disallow: /x" * 1000)
    assert await refusal_reason(fetcher, page(web, f"{SITE}/private")) == "robots"
    assert isinstance(await fetcher.fetch(page(web, f"{SITE}/open"), timeout_s=5), Page)


@pytest.mark.parametrize(
    ("refresh", "is_page"), [("0; url=/new", False), ("5;URL=/", False), ("300", True), ("0", True)]
)
async def test_refresh_header_that_leads_elsewhere_is_a_redirect(fetcher, web, refresh, is_page):
    url = page(web, f"{SITE}/", headers=(*HTML, ("Refresh", refresh)))
    if is_page:
        assert isinstance(await fetcher.fetch(url, timeout_s=5), Page)
    else:
        assert await refusal_reason(fetcher, url) == "redirects"


async def test_pdf_is_a_page_and_may_be_larger_than_html(fetcher, web):
    body = b"%PDF-1.7" + b"a" * MAX_PAGE_BYTES
    url = page(web, f"{SITE}/", body, (("Content-Type", "application/pdf"),))
    assert (await fetcher.fetch(url, timeout_s=5, media="page")).body == body
    assert await refusal_reason(fetcher, url) == "content-type"
