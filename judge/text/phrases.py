"""Finds many phrases in a text in one pass, with a trie of words."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, TypeVar

T = TypeVar("T")

FoundPhrases = list[tuple[int, list[tuple[int, T]]]]
"""The index of each word where phrases begin, with the number of words and value of each."""


@dataclass(slots=True)
class _Node(Generic[T]):
    """The state after some words: the phrases that end here, and the next words."""

    values: list[T] = field(default_factory=list)
    longer: dict[str, "_Node[T]"] = field(default_factory=dict)


class Phrases(Generic[T]):
    """Phrases of one word or more, each with a value; equal phrases keep all their values.

    *form* normalises a word of a text to the form that the words of phrases have.
    """

    def __init__(
        self, phrases: Iterable[tuple[Sequence[str], T]], form: Callable[[str], str] = str
    ) -> None:
        self.form = lru_cache(maxsize=8192)(form)
        self._root = _Node[T]()
        for words, value in phrases:
            node = self._root
            for word in words:
                node = node.longer.setdefault(word, _Node())
            node.values.append(value)

    def find(self, words: Sequence[str]) -> FoundPhrases[T]:
        """Where phrases begin in *words*, and which; shorter ones first, then as given."""
        forms = [self.form(word) for word in words]
        found: FoundPhrases[T] = []
        for start, first in enumerate(forms):
            node, end = self._root.longer.get(first), start
            phrases: list[tuple[int, T]] = []
            while node:
                end += 1
                phrases += [(end - start, value) for value in node.values]
                node = node.longer.get(forms[end]) if end < len(forms) else None
            if phrases:
                found.append((start, phrases))
        return found
