"""What is known of the words of a claim before it is read, which most claims need not be."""

import functools
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from judge.citations.reading import BREAKS, COMPARING
from judge.citations.vocabulary import (
    FIGURES,
    known_word,
    phrases_at,
    statement_tokens,
    vocabulary,
)
from judge.text.english import STOP_WORDS


@dataclass(frozen=True, slots=True)
class ReadingSketch:
    """What is known of the words of a sentence before it is read.

    `sure` are concepts that its reading has, with their stems, and `most` is how many it may have.
    """

    sure: Mapping[str, AbstractSet[str]]
    most: int


def sketch(sentence: str) -> ReadingSketch:
    """The sketch of *sentence*, in a tenth of the time that it takes to read it."""
    known = vocabulary()
    sure: dict[str, set[str]] = {}
    perhaps: set[str] = set()
    phrases = 0
    doubtful_until = 0
    tokens = statement_tokens(sentence)
    for at, text in enumerate(tokens):
        if text in known.openers:  # it may be read as a cue, or as one word with those after it
            for size, phrase in phrases_at(known, tokens, at):
                doubtful_until = max(doubtful_until, at + size)
                phrases += phrase in known.phrases
        word = _sketched(text)
        if word is None:
            continue
        concept, stem, is_doubtful = word
        if is_doubtful or at < doubtful_until:
            perhaps.add(concept)
        else:
            sure.setdefault(concept, set()).add(stem)
    most = len(perhaps.union(sure)) + phrases
    return ReadingSketch({c: its_stems for c, its_stems in sure.items() if c not in perhaps}, most)


@functools.lru_cache(maxsize=4096)
def _sketched(text: str) -> tuple[str, str, bool] | None:
    """The concept and stem of a word, and whether it may be read as another; None without content.

    Remembered: most words of any text are the same few thousand.
    """
    if not text[0].isalpha() or text in FIGURES or text in BREAKS:
        return None
    stem, told = known_word(text)
    if told is None and text in STOP_WORDS:
        return None
    concept = told[0] if told else stem
    is_doubtful = text in COMPARING or text.endswith(("ly", "er", "from"))
    return concept, stem, is_doubtful or concept in vocabulary().phrase_concepts
