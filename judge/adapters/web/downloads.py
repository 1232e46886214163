"""What a download needs: addresses, redirects, bounded bodies, and errors as FetchError."""

import contextlib
import re
import ssl
import zlib
from collections.abc import Iterator

import httpx

from judge.errors import FetchError

MAX_URL_CHARS = 4096

_UNSUPPORTED_CODINGS = frozenset("br compress dcb dcz deflate exi x-compress zstd".split())
"""Content codings that we cannot decode; others, such as UTF-8, are ignored, as in browsers."""

_END = re.compile(rb"</html\s*>|%%EOF", re.IGNORECASE)
"""How HTML and PDF end, whatever length the server has told."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LIBRARY_ERRORS = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    OSError,
    ValueError,  # bad header values, impossible names: UnicodeError is one of them
)


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


def next_hop(response: httpx.Response) -> httpx.URL | None:
    """Where *response* redirects to; None where it does not. Raises FetchError."""
    if response.status_code not in _REDIRECTS:
        return None
    url, location = response.request.url, response.headers.get("location", "")
    if not location:
        raise FetchError("redirects", f"{url.host} redirects without saying where to.")
    told = f"{url.host} redirects to an address that is not followed."
    try:
        return parse_url(str(url.join(location)))
    except FetchError as error:
        raise FetchError(error.reason, f"{told} {error}") from None
    except (httpx.InvalidURL, ValueError) as error:
        raise FetchError("redirects", f"{told} {error}") from None


@contextlib.contextmanager
def translated_errors(host: str) -> Iterator[None]:
    """Turn the errors of httpx into FetchError."""
    try:
        yield
    except (httpx.TimeoutException, TimeoutError) as error:
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
    """At most *limit* + 1 bytes of the body; no more is read. Raises FetchError ("encoding")."""
    encoding = response.headers.get("content-encoding", "")
    codings = [name.strip().lower() for name in encoding.split(",")]
    gzip_count = sum(name in {"gzip", "x-gzip"} for name in codings)
    if gzip_count > 1 or not _UNSUPPORTED_CODINGS.isdisjoint(codings):
        raise FetchError(
            "encoding",
            f"The reply is compressed with {encoding[:40]!r}, but only gzip was asked for.",
        )
    raw = bytearray()
    try:
        async for chunk in response.aiter_raw():
            raw += chunk[: limit + 1 - len(raw)]
            if len(raw) > limit:
                return bytes(raw)
    except httpx.RemoteProtocolError:  # as in browsers, only the end of the data counts
        if not (gzip_count or _END.search(raw[-200:])):
            raise
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
