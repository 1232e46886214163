"""What changed between two texts, word by word, with a little of what stands around it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

AROUND = 80
"""Characters of what is the same that are shown before and after a change."""

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
    for part in _merged(_by_lines(_LINE.findall(before), _LINE.findall(after))):
        if part.kind != "same" or len(part.text) <= 2 * AROUND:
            hunks[-1].append(part)
            continue
        head, tail = part.text[:AROUND].rpartition(" ")[0], part.text[-AROUND:].partition(" ")[2]
        hunks[-1].append(DiffPart("same", f"{head} …"))
        hunks.append([DiffPart("same", f"… {tail}")])
    return [tuple(hunk) for hunk in hunks if changed_words(hunk)]


def changed_words(hunk: Iterable[DiffPart]) -> tuple[DiffPart, ...]:
    """What was removed and added, wherever it stands."""
    return tuple(part for part in hunk if part.kind != "same")


def marked(parts: Sequence[DiffPart]) -> str:
    """*parts* in the form of `git diff --word-diff`: [-removed-]{+added+}."""
    forms = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return "".join(forms[part.kind].format(part.text) for part in parts)


def _by_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffPart]:
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        one, other = "".join(before[i:j]), "".join(after[k:m])
        if tag == "equal":
            yield DiffPart("same", one)
        else:
            yield from _by_words(_WORD.findall(one), _WORD.findall(other))


def _by_words(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffPart]:
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        one, other = "".join(before[i:j]), "".join(after[k:m])
        if tag == "equal":
            yield DiffPart("same", one)
            continue
        space = one[: len(one) - len(one.lstrip())]
        if other.startswith(space):
            yield DiffPart("same", space)
            one, other = one[len(space) :], other[len(space) :]
        if one:
            yield DiffPart("removed", one)
        if other:
            yield DiffPart("added", other)


def _merged(parts: Iterator[DiffPart]) -> list[DiffPart]:
    """*parts* with neighbours of one kind as one."""
    found: list[DiffPart] = []
    for part in parts:
        if found and found[-1].kind == part.kind:
            found[-1] = DiffPart(part.kind, found[-1].text + part.text)
        else:
            found.append(part)
    return found
