"""Decode the bytes of a file into text and lines."""

import hashlib
import re
from codecs import BOM_UTF8
from contextlib import suppress

_BINARY_PROBE_BYTES = 8192
#: How Python (PEP 263), Emacs and Vim let a file name its encoding, in its first two lines.
_CODING = re.compile(rb"\A(?:.*\n)?.*coding[:=][ \t]*[\"']?([-\w.]+)")


def content_hash(content: bytes) -> str:
    """The hash that identifies *content*: 32 hexadecimal digits."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def is_binary(content: bytes) -> bool:
    """Whether the bytes are not text: a zero byte near the start, as git decides it."""
    return b"\0" in content[:_BINARY_PROBE_BYTES]


def decoded(content: bytes) -> str:
    """The text of a file, with line endings normalised to line feeds."""
    try:
        text = content.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError:
        text = _decoded_as_declared(content)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded_as_declared(content: bytes) -> str:
    """The text in the encoding that the file declares, else in Latin-1, which decodes any bytes."""
    named = _CODING.match(content)
    with suppress(LookupError, ValueError):
        return content.decode(named[1].decode()) if named else content.decode("latin-1")
    return content.decode("latin-1")


def lines_of(content: bytes | None) -> list[str]:
    """The lines of a file; empty when *content* is None, as it could not be read."""
    return [] if content is None else decoded(content).split("\n")


def in_utf8(content: bytes) -> bytes:
    """*content* in UTF-8; that of a file in another encoding with line feeds only."""
    if content.isascii():
        return content
    try:
        content.decode()
    except UnicodeDecodeError:
        return decoded(content).encode("utf-8", "replace")
    return content


def with_line_feeds(content: bytes) -> bytes:
    """*content* with line endings normalised to line feeds."""
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content


def count_lines(content: bytes) -> int:
    """The number of lines of *content*, which has line feeds only; the last may lack one."""
    return content.count(b"\n") + bool(content and not content.endswith(b"\n"))
