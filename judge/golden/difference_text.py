"""Formats differences: of a field, around the first one, and of a text, word by word."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from os.path import commonprefix
from typing import Literal

from judge.golden.differences import Difference
from judge.golden.samples import ScoredCase

SHOWN = 240
"""Characters of a value that are shown."""

BEFORE = 60
"""Of them, those before the first difference of two long values."""


def failure_lines(scored: ScoredCase) -> Iterator[str]:
    """Why *scored* did not pass: the differences, and what the case lacks; nothing if it did."""
    if scored.sample.has_passed:
        return
    if scored.sample.reason:
        yield f"unscored: {scored.sample.reason}"
    for difference in scored.differences:
        yield from difference_lines(difference)
    if any(difference.field == "prompt_digest" for difference in scored.differences):
        update = f"`judge golden update {scored.sample.case}`"
        yield f"The prompt has changed. If that is intended, {update} accepts it."
    yield from (f"The case does not have {part}." for part in scored.missing)


def difference_lines(difference: Difference) -> list[str]:
    """Three lines: the field, what was expected (-) and what was found (+)."""
    expected, found = as_words(difference.expected), as_words(difference.found)
    start = len(commonprefix((expected, found)))  # noqa: RUF071 - of characters, not of paths
    return [
        difference.field,
        f"  - {_window(expected, start)}",
        f"  + {_window(found, start)}",
    ]


def as_words(value: object) -> str:
    """*value* for people: a text unchanged, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _window(text: str, center: int) -> str:
    """*text*, or if it is too long to be shown, the part around *center*."""
    if len(text) <= SHOWN:
        return text
    start = max(0, center - BEFORE)
    end = start + SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


AROUND = 80
"""Characters of unchanged text that are shown before and after a change."""

_WORD = re.compile(r"\s*\S+|\s+$")
_LINE = re.compile(r"[^\n]*\n|[^\n]+$")

Kind = Literal["same", "removed", "added"]


@dataclass(frozen=True, slots=True)
class DiffPart:
    """A stretch of text that is the same, was removed, or was added."""

    kind: Kind
    text: str


Hunk = tuple[DiffPart, ...]
"""Neighbouring changes with their context."""


def diff(before: str, after: str) -> list[Hunk]:
    """The differences of two texts; empty when they are equal.

    Lines are aligned first, which is fast for long prompts, then the words of those that differ.
    """
    if before == after:
        return []
    hunks: list[list[DiffPart]] = [[]]
    for part in _merged(_parts(before, after)):
        if part.kind != "same" or len(part.text) <= 2 * AROUND:
            hunks[-1].append(part)
            continue
        head, tail = part.text[:AROUND].rpartition(" ")[0], part.text[-AROUND:].partition(" ")[2]
        hunks[-1].append(DiffPart("same", f"{head} …"))
        hunks.append([DiffPart("same", f"… {tail}")])
    return [tuple(hunk) for hunk in hunks if changed_words(hunk)]


def changed_words(hunk: Iterable[DiffPart]) -> tuple[DiffPart, ...]:
    """The removed and added parts of *hunk*, without their context."""
    return tuple(part for part in hunk if part.kind != "same")


def marked(parts: Sequence[DiffPart]) -> str:
    """*parts* in the form of `git diff --word-diff`: [-removed-]{+added+}."""
    forms = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return "".join(forms[part.kind].format(part.text) for part in parts)


def _parts(before: str, after: str) -> Iterator[DiffPart]:
    for lines in _aligned(_LINE, before, after):
        for old, new in _aligned(_WORD, *lines):
            space = old[: len(old) - len(old.lstrip())]
            shared = old if old == new else space if new.startswith(space) else ""
            parts = (
                DiffPart("same", shared),
                DiffPart("removed", old[len(shared) :]),
                DiffPart("added", new[len(shared) :]),
            )
            yield from (part for part in parts if part.text)


def _aligned(pattern: re.Pattern[str], before: str, after: str) -> Iterator[tuple[str, str]]:
    """Both texts in aligned pairs of parts, equal or not; *pattern* finds the tokens to align."""
    old, new = pattern.findall(before), pattern.findall(after)
    for _, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        yield "".join(old[i:j]), "".join(new[k:m])


def _merged(parts: Iterator[DiffPart]) -> list[DiffPart]:
    """*parts*, with neighbours of the same kind joined."""
    merged: list[DiffPart] = []
    for part in parts:
        if merged and merged[-1].kind == part.kind:
            merged[-1] = DiffPart(part.kind, merged[-1].text + part.text)
        else:
            merged.append(part)
    return merged
