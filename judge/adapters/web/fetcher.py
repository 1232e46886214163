"""The page fetcher: fetches a URL as a Page.

It obeys robots.txt, follows redirects, bounds time and size, and connects to public addresses only
(`safe_addresses`).
"""

import asyncio
import re
import ssl
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version

import httpx

from judge.adapters.web.downloads import open_response, origin_of, parse_url, read_body
from judge.adapters.web.robots import (
    MAX_ROBOTS_BYTES,
    MAX_ROBOTS_REDIRECTS,
    PRODUCT,
    RobotsCache,
)
from judge.adapters.web.safe_addresses import GuardedTransport, Resolver, open_resolver
from judge.errors import FetchError
from judge.types.references import Media, Page

MAX_PAGE_BYTES = 2 * 1024 * 1024
"""Of the raw body and of the decoded one."""

MAX_PDF_BYTES = 10 * 1024 * 1024
MAX_REDIRECTS = 3
MAX_CONNECTIONS = 64
MAX_HEADER_CHARS = 512

_WHOLE_PAGE = frozenset({httpx.codes.OK, httpx.codes.NON_AUTHORITATIVE_INFORMATION})
"""The latter is sent by proxies that changed the response."""

_GONE = frozenset({httpx.codes.NOT_FOUND, httpx.codes.GONE})

_MEDIA: Mapping[Media, frozenset[str]] = {
    "html": frozenset({"text/html", "application/xhtml+xml"}),
    "page": frozenset({"text/html", "application/xhtml+xml", "application/pdf"}),
    "json": frozenset({"application/json"}),
}
_ACCEPT: Mapping[Media, str] = {
    "html": "text/html, application/xhtml+xml;q=0.9, text/plain;q=0.1",
    "page": "text/html, application/xhtml+xml;q=0.9, application/pdf;q=0.8, text/plain;q=0.1",
    "json": "application/json",
}
_NAMES: Mapping[Media, str] = {"html": "HTML", "page": "HTML or PDF", "json": "JSON"}
_REFRESH = re.compile(r"\s*\d(?:\.\d*)?\s*[;,]\s*\S")
"""A Refresh header that loads another page in less than ten seconds."""

_HTML_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:+-]{1,40})", re.IGNORECASE | re.ASCII)
_PRINTABLE = re.compile(r"[\x20-\x7e]*")


class HttpxFetcher:
    """Fetches pages over guarded connections; a PageFetcher."""

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport,
        *,
        contact: Callable[[], str],
        product_version: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transport = transport
        self._contact = contact
        self._version = product_version
        self._robots = RobotsCache(self._fetch_robots, clock)

    async def fetch(self, url: str, *, timeout_s: float, media: Media = "html") -> Page:
        """The page at *url*.

        *timeout_s* covers everything: robots.txt, redirects and the last byte of the body.
        Raises FetchError with one of the reasons `address`, `scheme`, `redirects`, `too-large`,
        `encoding`, `content-type`, `status`, `timeout`, `connection`, `robots` and `tls`.
        """
        start = parse_url(url)
        headers = self._headers() | {"Accept": _ACCEPT[media]}
        try:
            async with (
                asyncio.timeout(timeout_s),
                open_response(
                    self._transport,
                    start,
                    headers=headers,
                    max_redirects=MAX_REDIRECTS,
                    before_hop=self._check_robots,
                ) as response,
            ):
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
        await self._transport.aclose()

    def _headers(self) -> dict[str, str]:
        contact = "".join(_PRINTABLE.findall(self._contact()))[:MAX_HEADER_CHARS]
        product = f"{PRODUCT}/{self._version}"
        return {
            "User-Agent": f"{product} (+{contact})" if contact else product,
            "Accept": _ACCEPT["html"],
            "Accept-Encoding": "gzip",
            "Accept-Language": "en",
        }

    async def _check_robots(self, url: httpx.URL) -> None:
        await self._robots.check(origin_of(url), str(url))

    async def _fetch_robots(self, url: str) -> str:
        """The text of the robots.txt at *url*; raises FetchError."""
        async with open_response(
            self._transport,
            parse_url(url),
            headers=self._headers(),
            max_redirects=MAX_ROBOTS_REDIRECTS,
        ) as response:
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
    """A fetcher with its own connections; close it with `aclose`.

    *contact* is called at each fetch, as the sources file may change. *trusted_hosts* are
    `host:port`s that may be fetched from although their address is private. The other parameters
    are for tests, and for networks with their own certificate authority.
    """
    transport = transport or httpx.AsyncHTTPTransport(
        verify=ssl_context or httpx.create_ssl_context(trust_env=False),
        trust_env=False,
        limits=httpx.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=0),
    )
    guarded = GuardedTransport(
        frozenset(host.lower() for host in trusted_hosts), resolver or open_resolver(), transport
    )
    return HttpxFetcher(guarded, contact=contact, product_version=version("judge"), clock=clock)


async def _read_page(url: str, response: httpx.Response, media: Media) -> Page:
    headers = response.headers
    if response.status_code not in _WHOLE_PAGE:
        raise _bad_status(response)
    if _REFRESH.match(headers.get("refresh", "")):
        raise FetchError(
            "redirects",
            f"{response.url.host} sends whoever reads the page elsewhere, by a Refresh header. "
            "Look where it has moved to and correct the source's url.",
            response.status_code,
        )
    content_type = headers.get("content-type", "")
    _check_media_type(media, response, content_type)
    is_pdf = content_type.lower().startswith("application/pdf")
    body = await _read_bounded(response, MAX_PDF_BYTES if is_pdf else MAX_PAGE_BYTES)
    if not content_type and (media == "json" or not _HTML_START.match(body)):
        raise FetchError(
            "content-type", f"{response.url.host} does not say that it sent {_NAMES[media]}."
        )
    return Page(
        url,
        body,
        _charset(content_type),
        content_type or "text/html",
        headers.get("last-modified", ""),
    )


def _bad_status(response: httpx.Response) -> FetchError:
    status = response.status_code
    advice = (
        "look where the page has moved to and correct the source's url."
        if status in _GONE
        else "ask the site whether it lets programs in, or choose another page."
    )
    return FetchError(
        "status",
        f"{response.url.host} answered with status {status}. If it stays so, {advice}",
        status,
    )


async def _read_bounded(response: httpx.Response, limit: int) -> bytes:
    length = response.headers.get("content-length", "")
    is_declared = length.isdecimal() and int(length[:20]) > limit
    body = b"" if is_declared else await read_body(response, limit)
    if is_declared or len(body) > limit:
        raise FetchError(
            "too-large",
            f"The page on {response.url.host} is over {limit // 1024} KiB. Choose a smaller one.",
            response.status_code,
        )
    return body


def _check_media_type(media: Media, response: httpx.Response, content_type: str) -> None:
    # Of a repeated header the last value counts, as in browsers.
    kind = content_type.rpartition(",")[2].partition(";")[0].strip().lower()
    if content_type and kind not in _MEDIA[media]:
        raise FetchError(
            "content-type",
            f"{response.url.host} sent {kind[:80]!r} where {_NAMES[media]} was asked for. "
            "Nothing else can be quoted; choose another source.",
            response.status_code,
        )


def _charset(content_type: str) -> str:
    match = _CHARSET.search(content_type[:MAX_HEADER_CHARS])
    return match[1].lower() if match else ""
