"""Which of many phrases stand in a text? A trie of words: all are looked for in one walk."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from judge.text.word_cache import WordCache

T = TypeVar("T")


@dataclass(slots=True)
class TrieNode(Generic[T]):
    """Some words: the phrases that they begin with, and the words that may follow.

    `phrases` are pairs of a number of words and a value, shorter ones first, then in the order
    given.
    """

    phrases: tuple[tuple[int, T], ...] = ()
    longer: dict[str, "TrieNode[T]"] = field(default_factory=dict)


class PhraseTrie(Generic[T]):
    """Phrases of one word or more, each with a value; of equal ones every value is kept.

    *form* gives a word of a text as those of phrases are written.
    """

    def __init__(
        self, phrases: Iterable[tuple[Sequence[str], T]], form: Callable[[str], str] = str
    ) -> None:
        self._root = TrieNode[T]()
        self.forms = WordCache(form)
        """Each word of a text as those of phrases are written."""
        for words, value in sorted(phrases, key=lambda phrase: len(phrase[0])):
            node = self._root
            for word in words:
                # What is added later is longer, or stands here.
                node = node.longer.setdefault(word, TrieNode(node.phrases))
            node.phrases += ((len(words), value),)

    def find(self, words: Sequence[str]) -> list[tuple[int, tuple[tuple[int, T], ...]]]:
        """Where phrases begin in *words*, in order, with the number of words and value of each.

        Shorter ones come first, then they stand in the order given. Linear in the words.
        """
        first, found = self._root.longer, []
        following = [*map(self.forms.__getitem__, words), ""]
        for start in [at for at, word in enumerate(following) if word in first]:
            node, at = first[following[start]], start + 1
            while deeper := node.longer.get(following[at]):
                node, at = deeper, at + 1
            if node.phrases:
                found.append((start, node.phrases))
        return found
