"""The bytes of a file -> text, lines and snippets: a few lines around a line."""

import hashlib
import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from contextlib import suppress

from codegraph.models import CodeSnippet, SnippetLocation

#: Lines above and below; with the line itself a snippet has five.
CONTEXT_LINES = 2
#: In characters; lines of minified code are much longer.
_MAX_LINE_LENGTH = 400
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
        text = content.decode("latin-1")  # It decodes any bytes.
        with suppress(LookupError, ValueError):
            named = _CODING.match(content)
            text = content.decode(named[1].decode()) if named else text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines_of(content: bytes | None) -> list[str]:
    """The lines of a file; empty when *content* is None, as it could not be read."""
    return [] if content is None else decoded(content).split("\n")


def snippet(
    path: str,
    lines: Sequence[str],
    first: int,
    last: int | None = None,
    *,
    context: int = CONTEXT_LINES,
) -> CodeSnippet:
    """The lines *first* to *last* (counted from 1), and *context* more above and below."""
    end_of_file = len(lines) - 1 if lines and not lines[-1] else len(lines)
    start = max(1, min(first, end_of_file) - context)
    end = max(start, min((last or first) + context, end_of_file))
    texts = [line[:_MAX_LINE_LENGTH] for line in lines[start - 1 : end]]
    return CodeSnippet("\n".join(texts), SnippetLocation(path, start, end))
