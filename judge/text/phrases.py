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
        self.form = form
        self._root = _Node[T]()
        self._look_up = lru_cache(maxsize=8192)(self._formed)
        for words, value in phrases:
            node = self._root
            for word in words:
                node = node.longer.setdefault(word, _Node())
            node.values.append(value)

    def _formed(self, word: str) -> tuple[str, _Node[T] | None]:
        """The form of *word*, and the node that it leads to from the root."""
        form = self.form(word)
        return form, self._root.longer.get(form)

    def find(self, words: Sequence[str]) -> FoundPhrases[T]:
        """Where phrases begin in *words*, and which; shorter ones first, then as given."""
        formed = [*map(self._look_up, words)]
        found: FoundPhrases[T] = []
        for start, (_, first) in enumerate(formed):
            phrases: list[tuple[int, T]] = []
            node, end = first, start
            while node:
                end += 1
                if node.values:
                    phrases += [(end - start, value) for value in node.values]
                node = node.longer.get(formed[end][0]) if end < len(formed) else None
            if phrases:
                found.append((start, phrases))
        return found
