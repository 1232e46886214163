"""Finds many phrases in a text in one pass, with a trie of words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from judge.text.word_cache import WordCache

T = TypeVar("T")


@dataclass(slots=True)
class TrieNode(Generic[T]):
    """The state after some words: the phrases among their beginnings, and the next words.

    `phrases` are pairs of a phrase's number of words and its value, shorter ones first, then in
    the order given.
    """

    phrases: tuple[tuple[int, T], ...] = ()
    longer: dict[str, "TrieNode[T]"] = field(default_factory=dict)


TrieWord = tuple[str, Mapping[str, TrieNode[T]], tuple[tuple[int, T], ...]]
"""The form of a word, and the `longer` and `phrases` of the node that it leads to from the root.

A plain tuple: Python takes three times as long to unpack a named one."""


class PhraseTrie(Generic[T]):
    """Phrases of one word or more, each with a value; equal phrases keep all their values.

    *form* normalises a word of a text to the form that the words of phrases have.
    """

    def __init__(
        self, phrases: Iterable[tuple[Sequence[str], T]], form: Callable[[str], str] = str
    ) -> None:
        root, nothing = TrieNode[T](), TrieNode[T]()

        def look_up(word: str) -> TrieWord[T]:
            formed = form(word)
            node = root.longer.get(formed, nothing)
            return formed, node.longer, node.phrases

        self.words = WordCache(look_up)
        """Maps each word of a text to its form and node."""
        for words, value in sorted(phrases, key=lambda phrase: len(phrase[0])):
            node = root
            for word in words:
                if word not in node.longer:
                    # Phrases are sorted by length: later ones are longer, or end at this node.
                    node.longer[word] = TrieNode(node.phrases)
                node = node.longer[word]
            node.phrases += ((len(words), value),)

    def find(self, words: Sequence[str]) -> list[tuple[int, tuple[tuple[int, T], ...]]]:
        """The index of each word where phrases begin, with the length and value of each phrase.

        Shorter phrases come first, equally long ones in the order given. Linear in the words.
        """
        end_of_text: TrieWord[T] = ("", {}, ())
        known = [*map(self.words.__getitem__, words), end_of_text]
        _, longer, phrases = end_of_text
        found = []
        for at, (form, following, alone) in enumerate(known):
            # Many words begin a phrase, but hardly any is followed by the phrase's second word.
            if form in longer:
                node, end = longer[form], at + 1
                while deeper := node.longer.get(known[end][0]):
                    node, end = deeper, end + 1
                phrases = node.phrases
            if phrases:
                found.append((at - 1, phrases))
            longer, phrases = following, alone
        return found
