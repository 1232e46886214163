"""The few lines of source around a place."""

from collections.abc import Sequence

from judge.codegraph.models import CodeSnippet, SnippetLocation

#: Lines above and below the one that is meant: five in all.
CONTEXT_LINES = 2
#: A line of minified code would drown the rest.
_MAX_LINE = 400


def snippet(
    path: str,
    lines: Sequence[str],
    first: int,
    last: int | None = None,
    *,
    around: int = CONTEXT_LINES,
) -> CodeSnippet:
    """The lines from *first* to *last* (counted from 1) with those *around* on either side."""
    end_of_file = len(lines) - 1 if lines and not lines[-1] else len(lines)
    start = max(1, min(first, end_of_file) - around)
    end = max(start, min((last or first) + around, end_of_file))
    shown = [line[:_MAX_LINE] for line in lines[start - 1 : end]]
    return CodeSnippet("\n".join(shown), SnippetLocation(path, start, end))
