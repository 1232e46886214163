"""One download: its redirects walked by ourselves, its body bounded, its errors in our words.

Pages and robots.txt both come through here. Connections are guarded one level below, in
`safe_addresses`.
"""

import asyncio
import contextlib
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import TypeVar

import httpx

from judge.errors import FetchError

MAX_URL_CHARS = 4096
MAX_GZIP_MEMBERS = 64
"""Real pages have one; many empty ones cost time and hold nothing."""

MAX_PIECES = 16_384
"""Of a body in chunks: 128 bytes each in the largest page. Each costs 10 us, however small."""

PIECES_AT_ONCE = 64
"""After so many the event loop has its turn: what has come already is given out without one."""

_GZIP_WINDOW = 31
"""zlib's `wbits` for a gzip header and trailer, and nothing else."""

_UNASKED = frozenset("br compress dcb dcz deflate exi x-compress zstd".split())
"""Content codings that we cannot undo. A name that is none, such as UTF-8, says nothing about the
bytes, and browsers read them as they are."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LIBRARY_ERRORS = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    OSError,
    ValueError,  # bad header values, impossible names: UnicodeError is one of them
)
_TIMEOUTS = (httpx.TimeoutException, TimeoutError)

T = TypeVar("T")


def parse_url(text: str) -> httpx.URL:
    """The web address in *text*; raises FetchError ("scheme") unless it is a plain http(s) one."""
    advice = "Correct the source's url: http(s)://host/path, without a user name."
    if len(text) > MAX_URL_CHARS:
        raise FetchError("scheme", f"The address is over {MAX_URL_CHARS} characters. {advice}")
    try:
        url = httpx.URL(text)
        host = url.host  # decodes international names, which may fail
    except (httpx.InvalidURL, ValueError) as error:
        raise FetchError(
            "scheme", f"The address cannot be understood ({error}). {advice}"
        ) from None
    if url.scheme not in {"http", "https"} or not host:
        raise FetchError("scheme", f"The address is not on the web. {advice}")
    if url.userinfo:
        raise FetchError("scheme", f"The address on {host} holds credentials. {advice}")
    if url.port is not None and not 0 < url.port < 1 << 16:
        raise FetchError("scheme", f"{host} is given port {url.port}. {advice}")
    return url


def origin_of(url: httpx.URL) -> str:
    """Scheme, host and port, as in `https://www.example.org`."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


async def walk(
    transport: httpx.AsyncBaseTransport,
    start: httpx.URL,
    *,
    headers: Mapping[str, str],
    max_redirects: int,
    read: Callable[[httpx.URL, httpx.Response], Awaitable[T]],
    before_hop: Callable[[httpx.URL], Awaitable[None]] | None = None,
) -> T:
    """What *read* makes of the reply at the end of the redirects from *start*.

    *before_hop* may refuse each address; robots.txt may always be asked for. Leaving early by error
    or cancellation stops the download. The transport is used without an httpx client, which would
    keep cookies, read proxy variables and .netrc, and fail on redirects before we have seen them.
    Raises FetchError.
    """
    url = start
    for _ in range(max_redirects + 1):
        if before_hop:
            await before_hop(url)
        with _in_our_words(url.host):
            request = httpx.Request("GET", url, headers=headers)
            response = await transport.handle_async_request(request)
            async with contextlib.aclosing(response):
                if response.status_code not in _REDIRECTS:
                    return await read(url, response)
        url = _next_hop(url, response.headers.get("location", ""))
    raise FetchError(
        "redirects",
        f"{start.host} redirects more than {max_redirects} times. Configure the final address.",
    )


def _next_hop(url: httpx.URL, location: str) -> httpx.URL:
    if not location:
        raise FetchError("redirects", f"{url.host} redirects without saying where to.")
    try:
        return parse_url(str(url.join(location)))
    except (httpx.InvalidURL, ValueError, FetchError) as error:
        raise FetchError(
            "redirects" if not isinstance(error, FetchError) else error.reason,
            f"{url.host} redirects to an address that is not followed. {error}",
        ) from None


@contextlib.contextmanager
def _in_our_words(host: str) -> Iterator[None]:
    """Turn the library's errors into FetchError."""
    try:
        yield
    except _TIMEOUTS as error:
        raise FetchError("timeout", f"{host} did not answer in time. Try again later.") from error
    except _LIBRARY_ERRORS as error:
        if tls := _tls_cause(error):
            raise FetchError(
                "tls",
                f"{host} could not prove who it is ({tls}). Check its certificate; nothing is "
                "fetched without one.",
            ) from error
        raise FetchError(
            "connection",
            f"The connection to {host} failed ({type(error).__name__}: {str(error)[:200]}). Check "
            "that the site is up; it is tried again later.",
        ) from error


def _tls_cause(error: BaseException | None) -> str:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return getattr(error, "verify_message", "") or error.reason or type(error).__name__
        error = error.__cause__ or error.__context__
    return ""


class BoundedBody:
    """Collects a body, decompressing as it comes, and never holds more than *limit* + 1 bytes.

    Members of gzip follow one another as in RFC 1952; what follows the last one without being one
    is ignored, as browsers do.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        self._limit = limit
        self._raw = 0
        self._content = bytearray()
        codings = [name.strip().lower() for name in encoding.split(",")]
        gzips = sum(name in {"gzip", "x-gzip"} for name in codings)
        self._member = zlib.decompressobj(_GZIP_WINDOW) if gzips else None
        self._members = 1
        self._is_ended = False
        """What comes is no member any more."""
        if gzips > 1 or not _UNASKED.isdisjoint(codings):
            raise FetchError(
                "encoding",
                f"The reply is compressed with {encoding[:40]!r}, but only gzip was asked for.",
            )

    @property
    def is_over(self) -> bool:
        """True once more than the limit came, raw or decoded; feed nothing then."""
        return self._raw > self._limit or len(self._content) > self._limit

    def feed(self, chunk: bytes) -> None:
        """Add what came from the network; raises FetchError ("encoding") for broken gzip."""
        self._raw += len(chunk)
        if self._member is None:
            self._content += chunk[: self._limit + 1 - len(self._content)]
            return
        while chunk and len(self._content) <= self._limit and not self._is_ended:
            if self._member.eof:
                self._is_ended = chunk[:1] != b"\x1f"
                self._member = self._next_member()
                continue
            try:
                room = self._limit + 1 - len(self._content)
                self._content += self._member.decompress(chunk, room)
            except zlib.error as error:
                raise FetchError("encoding", f"The reply's gzip is broken ({error}).") from None
            chunk = self._member.unused_data or self._member.unconsumed_tail

    def finish(self) -> bytes:
        """The whole body; raises FetchError ("encoding") if the gzip ended early."""
        is_inside = self._raw and not (self._is_ended or self.is_over)
        if self._member is not None and is_inside and not self._member.eof:
            raise FetchError("encoding", "The reply's gzip ended early. It is tried again later.")
        return bytes(self._content[: self._limit])

    def _next_member(self) -> "zlib._Decompress":
        self._members += 1
        if self._members > MAX_GZIP_MEMBERS:
            raise FetchError("encoding", f"The reply's gzip has over {MAX_GZIP_MEMBERS} members.")
        return zlib.decompressobj(_GZIP_WINDOW)


async def pieces(response: httpx.Response) -> AsyncIterator[bytes]:
    """The body of *response* as it comes; FetchError ("encoding") for one in too many pieces."""
    number = 0
    async for piece in response.aiter_raw():
        number += 1
        if number > MAX_PIECES:
            raise FetchError(
                "encoding", f"The reply comes in over {MAX_PIECES} pieces. Choose another page."
            )
        if number % PIECES_AT_ONCE == 0:
            await asyncio.sleep(0)
        yield piece


async def read_body(response: httpx.Response, limit: int) -> BoundedBody:
    """The body of *response*, up to *limit* bytes raw and decoded, after which reading stops."""
    body = BoundedBody(response.headers.get("content-encoding", ""), limit)
    async for piece in pieces(response):
        body.feed(piece)
        if body.is_over:
            break
    return body
