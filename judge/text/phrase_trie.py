"""Which of many phrases stand in a text? A trie of words: all are looked for in one walk."""

from collections.abc import Callable, Iterable, Mapping, Sequence
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


TrieWord = tuple[str, Mapping[str, TrieNode[T]], tuple[tuple[int, T], ...]]
"""A word of a text as those of phrases are written, and what stands in the node it leads to.

A plain tuple: Python takes a named one apart in three times the time."""


class PhraseTrie(Generic[T]):
    """Phrases of one word or more, each with a value; of equal ones every value is kept.

    *form* gives a word of a text as those of phrases are written.
    """

    def __init__(
        self, phrases: Iterable[tuple[Sequence[str], T]], form: Callable[[str], str] = str
    ) -> None:
        root, nothing = TrieNode[T](), TrieNode[T]()

        def begin(word: str) -> TrieWord[T]:
            formed = form(word)
            node = root.longer.get(formed, nothing)
            return formed, node.longer, node.phrases

        self.words = WordCache(begin)
        """What is known of each word of a text."""
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
        end_of_text: TrieWord[T] = ("", {}, ())
        known = [*map(self.words.__getitem__, words), end_of_text]
        _, longer, phrases = end_of_text
        found = []
        for at, (form, following, alone) in enumerate(known):
            # Most words begin a phrase, and hardly any is followed by its second word.
            if form in longer:
                node, end = longer[form], at + 1
                while deeper := node.longer.get(known[end][0]):
                    node, end = deeper, end + 1
                phrases = node.phrases
            if phrases:
                found.append((at - 1, phrases))
            longer, phrases = following, alone
        return found
