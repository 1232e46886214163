"""The dispute as every step reads it: context and question, normalised once and handed down."""

import re
import unicodedata
from dataclasses import dataclass

from judge.text.english import fold_space, strip_invisible

_NOT_ASCII = re.compile("[^\x00-\x7f]")
_BLANKS = bytes(
    ord(".") if chr(c) in ".!?;" else c if c > 127 or chr(c).isalnum() or chr(c) == "'" else 32
    for c in range(256)
)
"""For each byte of UTF-8 itself, a full stop for what ends sentences, or a blank."""

_APOSTROPHES = "\u2018\u2019\u201b\u2032\u02bc\ua78c\u00b4`\uff07"


@dataclass(frozen=True, slots=True)
class NormalisedText:
    """A text as it is compared.

    `folded` is on one line, without case and invisible characters, with plain letters for those
    that only look different and straight apostrophes. `words` stand in order (hyphens divide them,
    apostrophes do not); `ends` are the numbers of words after which a sentence ends.
    """

    folded: str
    words: tuple[str, ...]
    ends: frozenset[int]


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
    """The dispute in these words of one side; linear in their length."""
    return Dispute(normalise(context), normalise(query))


def normalise(text: str) -> NormalisedText:
    """*text* as it is compared."""
    folded = fold(text)
    words: list[str] = []
    ends = []
    for sentence in _without_marks(folded).split("."):
        words += sentence.split()
        ends.append(len(words))
    return NormalisedText(folded, tuple(words), frozenset(ends))


def _without_marks(folded: str) -> str:
    """*folded* with nothing but words, blanks, and a full stop after each sentence."""
    if not folded.isascii():
        folded = _NOT_ASCII.sub(lambda one: one[0] if one[0].isalnum() else " ", folded)
    text = f" {folded.encode().translate(_BLANKS).decode().replace('.', ' . ')} "
    # Only the apostrophes within a word are left.
    return text.replace("''", " ").replace(" '", " ").replace("' ", " ")


def fold(text: str) -> str:
    """*text* on one line, without case, with plain letters and straight apostrophes."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", strip_invisible(straight_apostrophes(text)))
        text = text.replace("\u2010", "-")  # what a hyphen that does not break becomes
    else:
        text = text.replace("`", "'")
    return fold_space(text.casefold())


def straight_apostrophes(text: str) -> str:
    """*text* with `'` for everything that is typed instead of it."""
    for sign in _APOSTROPHES:  # a table for `translate` takes twenty times as long
        text = text.replace(sign, "'")
    return text
