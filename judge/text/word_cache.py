"""Caches what is computed for single words, since texts share most of theirs."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

MAX_WORDS, MAX_WORD_LENGTH = 8192, 40
"""Words in one cache, about 1 MB, before it is cleared; characters of a word that is cached."""


class WordCache(dict[str, T]):
    """Maps each word that is looked up to the result of *compute*."""

    def __init__(self, compute: Callable[[str], T]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, word: str) -> T:
        """Compute the value of *word* and cache it."""
        value = self._compute(word)
        if len(word) <= MAX_WORD_LENGTH:
            if len(self) >= MAX_WORDS:
                self.clear()
            self[word] = value
        return value
