"""The dispute as every step reads it: context and question, normalised once."""

import re
import unicodedata
from dataclasses import dataclass, replace

from judge.text.english import find_words, fold_space, strip_invisible

_CLAUSE_END = re.compile(r"[.!?;]")
_APOSTROPHE = re.compile("[\u2018\u2019\u201b\u2032\u02bc\ua78c\u00b4`\uff07]")


_READ_WORDS, _READ_CHARACTERS = 500, 3000


@dataclass(frozen=True, slots=True)
class NormalisedText:
    """A text as one case-folded line, its words, and how many stand before each pause."""

    folded: str
    words: tuple[str, ...]
    ends: frozenset[int]

    @property
    def beginning(self) -> "NormalisedText":
        """As much as it takes to place a text: a story says early what it is about."""
        if len(self.words) <= _READ_WORDS and len(self.folded) <= _READ_CHARACTERS:
            return self
        return replace(self, folded=self.folded[:_READ_CHARACTERS], words=self.words[:_READ_WORDS])


@dataclass(frozen=True, slots=True)
class Dispute:
    """What happened and what is asked about it."""

    context: NormalisedText
    query: NormalisedText

    @property
    def folded(self) -> str:
        """Both texts, the question first."""
        return f"{self.query.folded} {self.context.folded}"


def read_dispute(context: str, query: str) -> Dispute:
    """The dispute in the words of one side, normalised; linear in their length."""
    return Dispute(normalise(context), normalise(query))


def normalise(text: str) -> NormalisedText:
    """*text* as it is compared."""
    folded = fold(text)
    words: list[str] = []
    ends = []
    for sentence in _CLAUSE_END.split(folded):
        words += find_words(sentence)
        ends.append(len(words))
    return NormalisedText(folded, tuple(words), frozenset(ends))


def fold(text: str) -> str:
    """*text* as one line, case-folded and NFKC-normalised, with straight apostrophes."""
    text = strip_invisible(straight_apostrophes(text))
    if not text.isascii():
        # NFKC turns a non-breaking hyphen into U+2010.
        text = unicodedata.normalize("NFKC", text).replace("\u2010", "-")
    return fold_space(text.casefold())


def straight_apostrophes(text: str) -> str:
    """*text* with `'` for every character that people type as an apostrophe."""
    return _APOSTROPHE.sub("'", text)
