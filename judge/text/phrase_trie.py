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
        root = TrieNode[T]()
        self.forms = WordCache(form)
        """Each word of a text as those of phrases are written."""
        self._begun = WordCache(lambda word: root.longer.get(self.forms[word]))
        """The phrases that a word of a text begins."""
        for words, value in sorted(phrases, key=lambda phrase: len(phrase[0])):
            node = root
            for word in words:
                # What is added later is longer, or stands here.
                node = node.longer.setdefault(word, TrieNode(node.phrases))
            node.phrases += ((len(words), value),)

    def find(self, words: Sequence[str]) -> list[tuple[int, tuple[tuple[int, T], ...]]]:
        """Where phrases begin in *words*, in order, with the number of words and value of each.

        Shorter ones come first, then they stand in the order given. Linear in the words.
        """
        forms, found, count = self.forms, [], len(words)
        for start, begun in enumerate(map(self._begun.__getitem__, words)):
            if begun is None:
                continue
            node, at = begun, start + 1
            while at < count and (deeper := node.longer.get(forms[words[at]])):
                node, at = deeper, at + 1
            if node.phrases:
                found.append((start, node.phrases))
        return found
