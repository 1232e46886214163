"""Which of many phrases stand in a text? A trie of words: all are looked for in one walk."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class TrieNode(Generic[T]):
    """Some words: what stands under them, if they are a phrase, and the words that may follow."""

    values: tuple[T, ...] = ()
    longer: dict[str, "TrieNode[T]"] = field(default_factory=dict)


class PhraseTrie(Generic[T]):
    """Phrases of one word or more, each with a value; of equal ones every value is kept."""

    def __init__(self, phrases: Iterable[tuple[Sequence[str], T]]) -> None:
        self._root = TrieNode[T]()
        for words, value in phrases:
            node = self._root
            for word in words:
                node = node.longer.setdefault(word, TrieNode())
            node.values += (value,)

    def find(self, words: Sequence[str]) -> list[tuple[int, list[tuple[int, T]]]]:
        """Where phrases begin in *words*, in order, with the end and the value of each.

        Shorter ones come first, then they stand in the order given. Linear in the words.
        """
        first, found = self._root.longer, []
        following = (*words, "")
        for start in [at for at, word in enumerate(words) if word in first]:
            node, end = first.get(following[start]), start
            here: list[tuple[int, T]] = []
            while node:
                end += 1
                if node.values:
                    here += [(end, value) for value in node.values]
                node = node.longer.get(following[end])
            if here:
                found.append((start, here))
        return found
