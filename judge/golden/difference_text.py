"""Differences in words: of a field, where its values part, and of a text, word by word."""

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
    yield from (f"The case does not have {part}." for part in one.missing)


def difference_lines(difference: Difference) -> list[str]:
    """Three lines: the field, what was expected (-) and what was found (+)."""
    expected, found = as_words(difference.expected), as_words(difference.found)
    start = len(commonprefix((expected, found)))  # noqa: RUF071 - of letters it shall be
    return [
        difference.field,
        f"  - {_window(expected, start)}",
        f"  + {_window(found, start)}",
    ]


def as_words(value: object) -> str:
    """*value* as a person reads it: a text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _window(text: str, parting: int) -> str:
    """*text* around *parting*, if it is too long to be shown whole."""
    if len(text) <= SHOWN:
        return text
    start = max(0, parting - BEFORE)
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
"""Changes that stand close together, with their surroundings."""


def diff(before: str, after: str) -> list[Hunk]:
    """Where the texts differ; empty when they are the same.

    Lines are matched first, which keeps long prompts quick, then the words of those that differ.
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
    """The removed and added parts of *hunk*, without their surroundings."""
    return tuple(part for part in hunk if part.kind != "same")


def marked(parts: Sequence[DiffPart]) -> str:
    """*parts* in the form of `git diff --word-diff`: [-removed-]{+added+}."""
    forms = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return "".join(forms[part.kind].format(part.text) for part in parts)


def _parts(before: str, after: str) -> Iterator[DiffPart]:
    for lines in _stretches(_LINE, before, after):
        for one, other in _stretches(_WORD, *lines):
            space = one[: len(one) - len(one.lstrip())]
            shared = one if one == other else space if other.startswith(space) else ""
            parts = (
                DiffPart("same", shared),
                DiffPart("removed", one[len(shared) :]),
                DiffPart("added", other[len(shared) :]),
            )
            yield from (part for part in parts if part.text)


def _stretches(pattern: re.Pattern[str], before: str, after: str) -> Iterator[tuple[str, str]]:
    """Both texts from end to end in pairs, equal or not, as what *pattern* finds can be matched."""
    one, other = pattern.findall(before), pattern.findall(after)
    for _, i, j, k, m in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        yield "".join(one[i:j]), "".join(other[k:m])


def _merged(parts: Iterator[DiffPart]) -> list[DiffPart]:
    """*parts* with neighbours of one kind as one."""
    found: list[DiffPart] = []
    for part in parts:
        if found and found[-1].kind == part.kind:
            found[-1] = DiffPart(part.kind, found[-1].text + part.text)
        else:
            found.append(part)
    return found
