"""A difference in words: the field, then what was expected and what was found, where they part."""

import json
from collections.abc import Iterator

from judge.golden.differences import Difference
from judge.golden.scores import ScoredCase

SHOWN = 240
"""Characters of a value that are shown."""

BEFORE = 60
"""Of them, those before the place where two long values part."""


def failure_lines(one: ScoredCase) -> Iterator[str]:
    """Why *one* did not pass: the differences, and what the case lacks; nothing if it did."""
    if one.sample.has_passed:
        return
    if one.sample.reason:
        yield f"unscored: {one.sample.reason}"
    for difference in one.differences:
        yield from difference_lines(difference)
    if any(difference.field == "prompt_digest" for difference in one.differences):
        update = f"`judge golden update {one.sample.case}`"
        yield f"The prompt is another one. Where that is meant, {update} takes it over."
    yield from (f"The case does not have {part}." for part in one.outcome.missing)


def difference_lines(difference: Difference) -> list[str]:
    """Three lines: the field, what was expected (-) and what was found (+)."""
    expected, found = as_words(difference.expected), as_words(difference.found)
    start = _parting(expected, found)
    return [
        difference.field,
        f"  - {_window(expected, start)}",
        f"  + {_window(found, start)}",
    ]


def as_words(value: object) -> str:
    """*value* as a person reads it: a text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _parting(one: str, other: str) -> int:
    """The first place where the two differ."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _window(text: str, parting: int) -> str:
    """*text* around *parting*, if it is too long to be shown whole."""
    if len(text) <= SHOWN:
        return text
    start = max(0, parting - BEFORE)
    end = start + SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
