"""The page fetcher: fetches a URL as a Page.

It obeys robots.txt, follows redirects, bounds time and size, and connects to public addresses only
(`safe_addresses`).
"""

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version

import httpx

from judge.adapters.web.downloads import next_hop, parse_url, read_body, translated_errors
from judge.adapters.web.robots import MAX_ROBOTS_BYTES, MAX_ROBOTS_REDIRECTS, PRODUCT, RobotsCache
from judge.adapters.web.safe_addresses import GuardedTransport, Resolver, open_resolver
from judge.errors import FetchError
from judge.types.references import Media, Page

MAX_PAGE_BYTES = 2 * 1024 * 1024
"""Of the raw body and of the decoded one."""

MAX_PDF_BYTES = 10 * 1024 * 1024
MAX_REDIRECTS = 3
MAX_CONNECTIONS = 64
MAX_HEADER_CHARS = 512

_HTML = "text/html, application/xhtml+xml;q=0.9"
_MEDIA: Mapping[Media, tuple[str, str, str]] = {
    "html": ("HTML", f"{_HTML}, text/plain;q=0.1", "text/html application/xhtml+xml"),
    "page": (
        "HTML or PDF",
        f"{_HTML}, application/pdf;q=0.8, text/plain;q=0.1",
        "text/html application/xhtml+xml application/pdf",
    ),
    "json": ("JSON", "application/json", "application/json"),
}
"""The name of each kind, the header that asks for it, and the content types that are taken."""

_REFRESH = re.compile(r"\s*[0-3]?\d(?:\.\d*)?\s*[;,\s]\s*\S")
"""A Refresh header that loads another page in less than 40 seconds."""

_HTML_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:+-]{1,40})", re.IGNORECASE | re.ASCII)
_PRINTABLE = re.compile(r"[\x20-\x7e]*")


@dataclass(slots=True)
class HttpxFetcher:
    """Fetches pages over guarded connections; a PageFetcher."""

    transport: httpx.AsyncBaseTransport
    contact: Callable[[], str]
    clock: Callable[[], float] = time.monotonic
    product: str = f"{PRODUCT}/{version('judge')}"
    _robots: RobotsCache = field(init=False)

    def __post_init__(self) -> None:
        self._robots = RobotsCache(self._fetch_robots, self.clock)

    async def fetch(self, url: str, *, timeout_s: float, media: Media = "html") -> Page:
        """The page at *url*.

        *timeout_s* covers everything: robots.txt, redirects and the last byte of the body.
        Raises FetchError with one of the reasons `address`, `scheme`, `redirects`, `too-large`,
        `encoding`, `content-type`, `status`, `timeout`, `connection`, `robots` and `tls`.
        """
        start = parse_url(url)
        try:
            async with asyncio.timeout(timeout_s), self._opened(start, media) as response:
                # The URL as configured, unless there was a redirect.
                final = url if response.url == start else str(response.url)
                return await _read_page(final, response, media)
        except TimeoutError:
            raise FetchError(
                "timeout",
                f"{start.host} took longer than {timeout_s:.3g} s. It is tried again later; raise "
                "fetch_timeout_s under [retrieval] if it is always slow.",
            ) from None

    async def aclose(self) -> None:
        """Close every connection."""
        await self._robots.aclose()
        await self.transport.aclose()

    @asynccontextmanager
    async def _opened(
        self, url: httpx.URL, media: Media | None = None
    ) -> AsyncIterator[httpx.Response]:
        """The response at the end of the redirects from *url*, with its body still to be read.

        Without *media* it is a robots.txt, which no robots.txt forbids. The transport is used
        without an httpx client, which would keep cookies, read proxy variables and .netrc, and fail
        on redirects before we see them. Raises FetchError, also for httpx's errors in the block.
        """
        hop, redirects = url, MAX_REDIRECTS if media else MAX_ROBOTS_REDIRECTS
        headers = self._headers(media or "html")
        for _ in range(redirects + 1):
            if media:
                await self._robots.check(hop)
            with translated_errors(hop.host):
                request = httpx.Request("GET", hop, headers=headers)
                response = await self.transport.handle_async_request(request)
                response.request = request
                async with aclosing(response):
                    following = next_hop(response)
                    if following is None:
                        yield response
                        return
            hop = following
        raise FetchError(
            "redirects",
            f"{url.host} redirects more than {redirects} times. Configure the final address.",
        )

    def _headers(self, media: Media) -> dict[str, str]:
        contact = "".join(_PRINTABLE.findall(self.contact()))[:MAX_HEADER_CHARS]
        return {
            "User-Agent": f"{self.product} (+{contact})" if contact else self.product,
            "Accept": _MEDIA[media][1],
            "Accept-Encoding": "gzip",
            "Accept-Language": "en",
        }

    async def _fetch_robots(self, url: str) -> str:
        """The text of the robots.txt at *url*; raises FetchError."""
        async with self._opened(parse_url(url)) as response:
            if not response.is_success:
                raise _bad_status(response)
            body = await read_body(response, MAX_ROBOTS_BYTES)
        text = body.decode("utf-8-sig", errors="replace")
        # Drop the last line if it was cut: half a rule could forbid the whole site.
        return text.rpartition("\n")[0] if len(body) > MAX_ROBOTS_BYTES else text


def open_fetcher(
    *,
    contact: Callable[[], str],
    trusted_hosts: frozenset[str] = frozenset(),
    resolver: Resolver | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    ssl_context: ssl.SSLContext | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> HttpxFetcher:
    """A fetcher with its own connections; *contact* is called at each fetch, as it may change.

    *trusted_hosts* are `host:port`s that may be fetched from although their address is private.
    """
    transport = transport or httpx.AsyncHTTPTransport(
        verify=ssl_context or httpx.create_ssl_context(trust_env=False),
        trust_env=False,
        limits=httpx.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=0),
    )
    guarded = GuardedTransport(
        frozenset(host.lower() for host in trusted_hosts), resolver or open_resolver(), transport
    )
    return HttpxFetcher(guarded, contact, clock)


async def _read_page(url: str, response: httpx.Response, media: Media) -> Page:
    headers = response.headers
    # 203 is sent by proxies that changed the response.
    if response.status_code not in {httpx.codes.OK, httpx.codes.NON_AUTHORITATIVE_INFORMATION}:
        raise _bad_status(response)
    if _REFRESH.match(headers.get("refresh", "")):
        raise FetchError(
            "redirects",
            f"{response.url.host} sends whoever reads the page elsewhere, by a Refresh header. "
            "Look where it has moved to and correct the source's url.",
            response.status_code,
        )
    host, (name, _, kinds) = response.url.host, _MEDIA[media]
    content_type = headers.get("content-type", "")
    # Of a repeated header the last value counts, as in browsers.
    kind = re.split(r"[;\s]", content_type.rpartition(",")[2].strip(), maxsplit=1)[0].lower()
    if content_type and kind not in kinds.split():
        raise FetchError(
            "content-type",
            f"{host} sent {kind[:80]!r} where {name} was asked for. Nothing else can be quoted; "
            "choose another source.",
            response.status_code,
        )
    limit = MAX_PDF_BYTES if kind == "application/pdf" else MAX_PAGE_BYTES
    body = await read_body(response, limit)
    if len(body) > limit:
        raise FetchError(
            "too-large",
            f"The page on {host} is over {limit // 1024} KiB. Choose a smaller one.",
            response.status_code,
        )
    if not content_type and (media == "json" or not _HTML_START.match(body)):
        raise FetchError("content-type", f"{host} does not say that it sent {name}.")
    match = _CHARSET.search(content_type[:MAX_HEADER_CHARS])
    charset = match[1].lower() if match else ""
    return Page(url, body, charset, content_type or "text/html", headers.get("last-modified", ""))


def _bad_status(response: httpx.Response) -> FetchError:
    status = response.status_code
    return FetchError(
        "status",
        f"{response.url.host} answered with status {status}. If it stays so, look where the page "
        "has moved to, ask whether the site lets programs in, or choose another page.",
        status,
    )
