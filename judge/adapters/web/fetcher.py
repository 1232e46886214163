"""The page fetcher: fetches a URL as a Page.

It obeys robots.txt, follows redirects, bounds time and size, and connects to public addresses only
(`safe_addresses`).
"""

import asyncio
import re
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version

import httpcore
import httpx

from judge.adapters.web.downloads import follow_redirects, origin_of, parse_url, read_body
from judge.adapters.web.robots import (
    MAX_ROBOTS_BYTES,
    MAX_ROBOTS_REDIRECTS,
    PRODUCT,
    RobotsCache,
    RobotsReply,
)
from judge.adapters.web.safe_addresses import (
    GuardedNetwork,
    GuardedTransport,
    Resolver,
    open_resolver,
)
from judge.errors import FetchError
from judge.types.references import Media, NotModified, Page, Validators

MAX_PAGE_BYTES = 2 * 1024 * 1024
"""Of the raw body and of the decoded one."""

MAX_REDIRECTS = 3
MAX_CONNECTIONS = 64
MAX_IDLE_CONNECTIONS = 16
IDLE_S = 5.0
"""The pages of one request are fetched together; Apache closes idle connections as soon."""

MAX_HEADER_CHARS = 512
MAX_DRAINED_BYTES = 64 * 1024
"""Reading as much takes about as long as a new TLS connection."""

_WHOLE_PAGE = frozenset({httpx.codes.OK, httpx.codes.NON_AUTHORITATIVE_INFORMATION})
"""The latter is sent by proxies that changed the response."""

_GONE = frozenset({httpx.codes.NOT_FOUND, httpx.codes.GONE})

_MEDIA: Mapping[Media, frozenset[str]] = {
    "html": frozenset({"text/html", "application/xhtml+xml"}),
    "json": frozenset({"application/json"}),
}
_ACCEPT: Mapping[Media, str] = {
    "html": "text/html, application/xhtml+xml;q=0.9, text/plain;q=0.1",
    "json": "application/json",
}
_HTML_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:+-]{1,40})", re.IGNORECASE | re.ASCII)
_PRINTABLE = re.compile(r"[\x20-\x7e]*")
_NO_VALIDATORS = Validators()


class HttpxFetcher:
    """Fetches pages over one pool of guarded connections; a PageFetcher."""

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
        self._robots = RobotsCache(self._ask_robots, clock)

    async def fetch(
        self,
        url: str,
        *,
        timeout_s: float,
        validators: Validators = _NO_VALIDATORS,
        media: Media = "html",
    ) -> Page | NotModified:
        """The page at *url*, or NotModified when it still matches *validators*.

        *timeout_s* covers everything: robots.txt, redirects and the last byte of the body.
        Raises FetchError with one of the reasons `address`, `scheme`, `redirects`, `too-large`,
        `encoding`, `content-type`, `status`, `timeout`, `connection`, `robots` and `tls`.
        """
        start = parse_url(url)

        async def read(at: httpx.URL, response: httpx.Response) -> Page | NotModified:
            page = await _read_page(at, response, validators, media)
            # The URL as configured, unless there was a redirect.
            return replace(page, url=url) if isinstance(page, Page) and at == start else page

        try:
            async with asyncio.timeout(timeout_s):
                return await follow_redirects(
                    self._transport,
                    start,
                    headers=self._headers() | {"Accept": _ACCEPT[media]} | _conditions(validators),
                    max_redirects=MAX_REDIRECTS,
                    before_hop=self._check_robots,
                    read=read,
                )
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

    async def _ask_robots(self, url: str) -> RobotsReply:
        return await follow_redirects(
            self._transport,
            parse_url(url),
            headers=self._headers(),
            max_redirects=MAX_ROBOTS_REDIRECTS,
            read=_read_robots,
        )


def open_fetcher(
    *,
    contact: Callable[[], str],
    trusted_hosts: frozenset[str] = frozenset(),
    resolver: Resolver | None = None,
    network: httpcore.AsyncNetworkBackend | None = None,
    ssl_context: ssl.SSLContext | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> HttpxFetcher:
    """A fetcher with its own connections; close it with `aclose`.

    *contact* is called at each fetch, as the sources file may change. *trusted_hosts* are
    `host:port`s that may be fetched from although their address is private. The other parameters
    are for tests, and for networks with their own certificate authority.
    """
    pool = httpcore.AsyncConnectionPool(
        ssl_context=ssl_context or httpx.create_ssl_context(trust_env=False),
        max_connections=MAX_CONNECTIONS,
        max_keepalive_connections=MAX_IDLE_CONNECTIONS,
        keepalive_expiry=IDLE_S,
        network_backend=GuardedNetwork(
            frozenset(host.lower() for host in trusted_hosts),
            resolver or open_resolver(),
            network or httpcore.AnyIOBackend(),
        ),
    )
    return HttpxFetcher(
        GuardedTransport(pool), contact=contact, product_version=version("judge"), clock=clock
    )


async def _read_robots(_: httpx.URL, response: httpx.Response) -> RobotsReply:
    if not response.is_success:
        await _drain(response)
        return RobotsReply(response.status_code)
    body = await read_body(response, MAX_ROBOTS_BYTES)
    text = body.finish().decode("utf-8-sig", errors="replace")
    # Drop the last line if it was cut: half a rule could forbid the whole site.
    return RobotsReply(response.status_code, text.rpartition("\n")[0] if body.is_over else text)


async def _drain(response: httpx.Response) -> None:
    """Read and discard a short body, so that the connection can be reused."""
    read_bytes = 0
    async for chunk in response.aiter_raw():
        read_bytes += len(chunk)
        if read_bytes > MAX_DRAINED_BYTES:
            break


async def _read_page(
    url: httpx.URL, response: httpx.Response, sent: Validators, media: Media
) -> Page | NotModified:
    # Validators of the response; malformed or oversized values are dropped.
    headers = response.headers
    validators = Validators(
        _sendable(headers.get("etag", "")), _sendable(headers.get("last-modified", ""))
    )
    if response.status_code == httpx.codes.NOT_MODIFIED and _conditions(sent):
        await _drain(response)
        return NotModified(
            Validators(validators.etag or sent.etag, validators.last_modified or sent.last_modified)
        )
    if response.status_code not in _WHOLE_PAGE:
        advice = (
            "look where the page has moved to and correct the source's url."
            if response.status_code in _GONE
            else "ask the site whether it lets programs in, or choose another page."
        )
        raise FetchError(
            "status",
            f"{url.host} answered with status {response.status_code}. If it stays so, {advice}",
        )
    content_type = headers.get("content-type", "")
    _check_media_type(media, url.host, content_type)
    body = await _read_bounded(url.host, response)
    if not content_type and (media != "html" or not _HTML_START.match(body)):
        raise FetchError("content-type", f"{url.host} does not say that it sent {media.upper()}.")
    return Page(str(url), body, _charset(content_type), validators, content_type or "text/html")


async def _read_bounded(host: str, response: httpx.Response) -> bytes:
    too_large = FetchError(
        "too-large",
        f"The page on {host} is over {MAX_PAGE_BYTES // 1024} KiB. Choose a smaller one.",
    )
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > MAX_PAGE_BYTES:
        raise too_large
    body = await read_body(response, MAX_PAGE_BYTES)
    if body.is_over:
        raise too_large
    return body.finish()


def _check_media_type(media: Media, host: str, content_type: str) -> None:
    # Of a repeated header the last value counts, as in browsers.
    kind = content_type.rpartition(",")[2].partition(";")[0].strip().lower()
    if content_type and kind not in _MEDIA[media]:
        raise FetchError(
            "content-type",
            f"{host} sent {kind[:80]!r} where {media.upper()} was asked for. Only HTML pages "
            "can be quoted; choose another source.",
        )


def _charset(content_type: str) -> str:
    match = _CHARSET.search(content_type[:MAX_HEADER_CHARS])
    return match[1].lower() if match else ""


def _conditions(validators: Validators) -> dict[str, str]:
    conditions = {
        "If-None-Match": _sendable(validators.etag),
        "If-Modified-Since": _sendable(validators.last_modified),
    }
    return {name: value for name, value in conditions.items() if value}


def _sendable(value: str) -> str:
    is_fit = len(value) <= MAX_HEADER_CHARS and _PRINTABLE.fullmatch(value)
    return value.strip() if is_fit else ""
