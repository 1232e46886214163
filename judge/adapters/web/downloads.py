"""One download: follows redirects, bounds the body, and translates errors to FetchError.

Pages and robots.txt are both downloaded here. `safe_addresses` guards the connections below.
"""

import contextlib
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping

import httpx

from judge.errors import FetchError

MAX_URL_CHARS = 4096

_UNSUPPORTED_CODINGS = frozenset("br compress dcb dcz deflate exi x-compress zstd".split())
"""Content codings that we cannot decode. A name that is no coding, such as UTF-8, is ignored, as in
browsers."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LIBRARY_ERRORS = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    OSError,
    ValueError,  # bad header values, impossible names: UnicodeError is one of them
)
_TIMEOUTS = (httpx.TimeoutException, TimeoutError)


def parse_url(text: str) -> httpx.URL:
    """The web address in *text*; raises FetchError ("scheme") unless it is a plain http(s) one."""
    advice = "Correct the source's url: http(s)://host/path, without a user name."
    if len(text) > MAX_URL_CHARS:
        raise FetchError("scheme", f"The address is over {MAX_URL_CHARS} characters. {advice}")
    try:
        url = httpx.URL(text)
        host = url.host  # decoding an international name may fail
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


@contextlib.asynccontextmanager
async def open_response(
    transport: httpx.AsyncBaseTransport,
    start: httpx.URL,
    *,
    headers: Mapping[str, str],
    max_redirects: int,
    before_hop: Callable[[httpx.URL], Awaitable[None]] | None = None,
) -> AsyncIterator[httpx.Response]:
    """The response at the end of the redirects from *start*, with its body still to be read.

    *before_hop* may refuse each address; for robots.txt itself there is none. The transport is used
    without an httpx client, which would keep cookies, read proxy variables and .netrc, and fail on
    redirects before we see them. Raises FetchError, also for httpx's errors inside the block.
    """
    url = start
    for _ in range(max_redirects + 1):
        if before_hop:
            await before_hop(url)
        with _translated_errors(url.host):
            request = httpx.Request("GET", url, headers=headers)
            response = await transport.handle_async_request(request)
            response.request = request
            async with contextlib.aclosing(response):
                if response.status_code not in _REDIRECTS:
                    yield response
                    return
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
def _translated_errors(host: str) -> Iterator[None]:
    """Turn the errors of httpx into FetchError."""
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


async def read_body(response: httpx.Response, limit: int) -> bytes:
    """The body of *response*, cut at *limit* + 1 bytes: a longer one is too large.

    No more than that is read or held. Raises FetchError ("encoding").
    """
    encoding = response.headers.get("content-encoding", "")
    codings = [name.strip().lower() for name in encoding.split(",")]
    gzip_count = sum(name in {"gzip", "x-gzip"} for name in codings)
    if gzip_count > 1 or not _UNSUPPORTED_CODINGS.isdisjoint(codings):
        raise FetchError(
            "encoding",
            f"The reply is compressed with {encoding[:40]!r}, but only gzip was asked for.",
        )
    raw = bytearray()
    async for chunk in response.aiter_raw():
        raw += chunk[: limit + 1 - len(raw)]
        if len(raw) > limit:
            return bytes(raw)
    return unzip(bytes(raw), limit) if raw and gzip_count else bytes(raw)


def unzip(data: bytes, limit: int) -> bytes:
    """The first member of the gzip *data*, cut at *limit* + 1 bytes.

    As in browsers its checksum may be wrong or missing, if only the data are whole, and what
    follows is ignored. Raises FetchError ("encoding").
    """
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = unpacker.decompress(data[_gzip_header(data) :], limit + 1)
    except (zlib.error, ValueError) as error:
        raise FetchError("encoding", f"The reply's gzip is broken ({error}).") from None
    if not unpacker.eof and len(content) <= limit:
        raise FetchError("encoding", "The reply's gzip ended early. It is tried again later.")
    return content


def _gzip_header(data: bytes) -> int:
    """The length in bytes of the header of the gzip *data* (RFC 1952); raises ValueError."""
    if not data.startswith(b"\x1f\x8b\x08"):
        raise ValueError("not gzip")
    flags, end = int.from_bytes(data[3:4]), 10
    if flags & 4:  # extra field
        end += 2 + int.from_bytes(data[10:12], "little")
    for named in (8, 16):  # file name, comment
        if flags & named:
            end = data.index(b"\0", end) + 1
    return end + 2 * bool(flags & 2)  # checksum of the header
