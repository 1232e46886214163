"""Text search: the matching lines of the graph's files, in order, without ranking."""

import time
from collections.abc import Callable, Iterable, Iterator

import regex  # type: ignore[import-untyped]

from codegraph.errors import BadPattern
from codegraph.models import SearchItem
from codegraph.source_text import CONTEXT_LINES, lines_of, snippet
from codegraph.store.artifact import FileRecord

#: Seconds that a regular expression may take over all files.
REGEX_TIMEOUT_S = 2.0
#: The `FileRecord.status` of files that are searched.
SEARCHED = frozenset({"parsed", "text", "syntax-error"})


def matcher(query: str, *, is_regex: bool, ignore_case: bool) -> Callable[[str], bool]:
    """A function that tells whether a line matches *query*; all calls share one time limit.

    Raise BadPattern when *query* cannot be compiled; the function raises it when time is up.
    """
    if not is_regex:
        folded = query.casefold()
        return lambda line: folded in line.casefold() if ignore_case else query in line
    try:
        pattern = regex.compile(query, regex.IGNORECASE if ignore_case else 0)
    except (regex.error, RecursionError, OverflowError) as error:
        raise BadPattern(f"The regular expression is wrong: {error}.") from error
    deadline = time.monotonic() + REGEX_TIMEOUT_S

    def matches(line: str) -> bool:
        remaining = deadline - time.monotonic()
        try:
            if remaining > 0:
                return pattern.search(line, timeout=remaining) is not None
        except TimeoutError:
            pass
        raise BadPattern(
            f"The regular expression took longer than {REGEX_TIMEOUT_S:g} s. Make it simpler."
        )

    return matches


def find_matches(
    files: Iterable[FileRecord], read: Callable[[str], bytes | None], matches: Callable[[str], bool]
) -> Iterator[SearchItem]:
    """The matching lines of *files*; lines near each other share an item."""
    for file in files:
        lines = lines_of(read(file.path)) if file.status in SEARCHED else []
        numbers = [number for number, line in enumerate(lines, 1) if matches(line)]
        for group in _groups(numbers):
            code = snippet(file.path, lines, group[0], group[-1])
            yield SearchItem(file.path, group[0], "match", "text", code, tuple(group))


def _groups(numbers: list[int]) -> Iterator[list[int]]:
    """Runs of line numbers whose snippets overlap."""
    group: list[int] = []
    for number in numbers:
        if group and number - group[-1] > 2 * CONTEXT_LINES:
            yield group
            group = []
        group.append(number)
    if group:
        yield group
