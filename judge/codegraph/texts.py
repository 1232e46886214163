"""Bytes of a file -> lines, and the few lines around a place."""

import hashlib
from collections.abc import Sequence

from judge.codegraph.models import Snippet, SnippetLocation

#: Lines above and below the one that is meant: five in all.
CONTEXT_LINES = 2
#: A line of minified code would drown the rest.
_MAX_LINE = 400
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
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines_of(content: bytes | None) -> list[str]:
    """The lines of a file; none when it could not be read."""
    return [] if content is None else decoded(content).split("\n")


def snippet(path: str, lines: Sequence[str], first: int, last: int | None = None) -> Snippet:
    """The lines from *first* to *last* (counted from 1) with two more on either side."""
    end_of_file = len(lines) - 1 if lines and not lines[-1] else len(lines)
    start = max(1, min(first, end_of_file) - CONTEXT_LINES)
    end = max(start, min((last or first) + CONTEXT_LINES, end_of_file))
    shown = [line[:_MAX_LINE] for line in lines[start - 1 : end]]
    return Snippet("\n".join(shown), SnippetLocation(path, start, end))
