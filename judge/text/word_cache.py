"""What is worked out of single words, remembered: texts share most of theirs."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

MOST_WORDS, LONGEST_WORD = 8192, 40
"""Words held by one memory, about 1 MB, before it begins anew; characters of one that is kept."""


class WordCache(dict[str, T]):
    """What *read* says of each word that is looked up."""

    def __init__(self, read: Callable[[str], T]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, word: str) -> T:
        """Ask *read*, and remember it."""
        value = self._read(word)
        if len(word) <= LONGEST_WORD:
            if len(self) >= MOST_WORDS:
                self.clear()
            self[word] = value
        return value
