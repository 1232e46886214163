"""Bytes of a file -> text and lines."""

import hashlib
from codecs import BOM_UTF8

_BINARY_PROBE_BYTES = 8192


def content_hash(content: bytes) -> str:
    """The hash by which content is known again."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def is_binary(content: bytes) -> bool:
    """Whether the bytes are not text: a zero byte near the start, as git decides it."""
    return b"\0" in content[:_BINARY_PROBE_BYTES]


def decoded(content: bytes) -> str:
    """The text of a file, with line feeds alone between its lines."""
    try:
        text = content.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines_of(content: bytes | None) -> list[str]:
    """The lines of a file; none when it could not be read."""
    return [] if content is None else decoded(content).split("\n")
