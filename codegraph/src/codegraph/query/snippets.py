"""Snippets: a few lines of source around a line."""

from collections.abc import Sequence

from codegraph.models import CodeSnippet, SnippetLocation

#: Lines above and below; with the line itself a snippet has five.
CONTEXT_LINES = 2
#: In characters; lines of minified code are much longer.
_MAX_LINE_LENGTH = 400


def snippet(
    path: str,
    lines: Sequence[str],
    first: int,
    last: int | None = None,
    *,
    around: int = CONTEXT_LINES,
) -> CodeSnippet:
    """The lines *first* to *last* (counted from 1), and *around* more above and below."""
    end_of_file = len(lines) - 1 if lines and not lines[-1] else len(lines)
    start = max(1, min(first, end_of_file) - around)
    end = max(start, min((last or first) + around, end_of_file))
    shown = [line[:_MAX_LINE_LENGTH] for line in lines[start - 1 : end]]
    return CodeSnippet("\n".join(shown), SnippetLocation(path, start, end))
