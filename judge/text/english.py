"""English as far as we need it: sentences, words, stems, and the words that carry no content.

Pure and linear in the length of the text; used wherever two texts are compared.
"""

import functools
import re
import sys
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

import Stemmer

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are aren't as at be because been before being
    between both but by can can't could couldn't did didn't do does doesn't doing don't down each
    even few for from further get had has have haven't having he her here hers herself him himself
    his how i if in into is isn't it its itself just let like may me might more most must my
    myself of off on once only or other our ours ourselves out over own s same shall she should
    shouldn't so some such t than that the their theirs them themselves then there these they this
    those through to too under until up us very was wasn't we were weren't what when where which
    while who whom why will with won't would wouldn't you your yours yourself yourselves
    """.split()
)
"""Function words. Negations (not, no, never, without) are left out: they carry meaning."""

MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u1049\u1050-\u109f"
    "\u1780-\u17d3"
)
"""Accents and vowel signs, to Python no part of a word: of Latin to Arabic each one, of Devanagari
to Khmer what is between full stops, which is hardly anything else."""

WORD = rf"[^\W_]+(?:[{MARKS}][^\W_]*)*"
"""A word of any script, as a pattern."""

_WORD = re.compile(rf"{WORD}(?:'{WORD})*")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")
"""The same where a text holds no other letters, in three quarters of the time."""
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
"""One at a time: looking for runs of them, stripping took half as long again."""
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s|$|[\[【［〔])")
"""From the first mark of a run, and the whole of it: a run of a megabyte is looked at once."""
_ABBREVIATIONS = frozenset("e.g i.e etc approx mr mrs ms dr prof st vs cf".split())
_NUMBERED = frozenset("no nos para paras art arts s ss reg regs ch p pp".split())
"""Abbreviations only before a number: `No. 4`, but "No. Ask them."."""
_LAST_WORD_CHARACTERS = 12
"""Enough to see the whole of any abbreviation."""

_TRAILING_MARKS = re.compile(
    r"\s*(?:[\[【［〔](?:[^\[\]【】［］〔〕\n]{0,40}|[\d\s,;，；、&and‐-―−~-]{0,400})[\]】］〕]\s*)+"
)
"""Notes of some words, and lists of numbers."""


class Span(NamedTuple):
    """A stretch of a text: `text[start:end]`."""

    start: int
    end: int


def fold_space(text: str) -> str:
    """One line: every run of white space (of any Unicode kind) becomes one space."""
    if "  " not in text and text.isprintable():  # of white space nothing but spaces is printable
        return text.strip()
    return " ".join(text.split())


def strip_invisible(text: str) -> str:
    """Without control and format characters (zero-width, bidi, tags), which hide or reorder words.

    White space of any kind is kept.
    """
    if text.isprintable():
        return text
    hidden = {
        ord(c): None
        for c in set(text)
        if not c.isspace() and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co"}
    }
    return text.translate(hidden) if hidden else text


def strip_accents(text: str) -> str:
    """*text* with plain letters for accented ones, for comparing: é becomes e, ﬁ becomes fi."""
    if text.isascii():
        return text
    # First too: to sort 20,000 of them, as normalising does, takes 0.3 s.
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", _ACCENTS.sub("", text)))


def words(text: str) -> list[str]:
    """The words in lower case, with straight apostrophes."""
    return find_words(text.lower().replace("’", "'"))


def find_words(text: str) -> list[str]:
    """The words of *text*, whose apostrophes are straight, as they are written."""
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def stems(tokens: Iterable[str]) -> list[str]:
    """Snowball's English stems (Porter's second algorithm), one for each token."""
    return [_stem(token) for token in tokens]


@functools.lru_cache(maxsize=8192)
def _stem(token: str) -> str:
    # A Stemmer of its own each time, since it must not be shared between threads; what costs is
    # its first look at a word, 2 µs, hence the memory for common words.
    # One text for each stem: what is looked up in it is then told by its place in memory.
    return sys.intern(Stemmer.Stemmer("english").stemWord(token))


def content_stems(text: str) -> list[str]:
    """The stems of the words that carry content, in order, repeats included."""
    return stems(word for word in words(text) if word not in STOP_WORDS)


def sentences(text: str) -> list[Span]:
    """The sentences in order; citation marks after a full stop belong to the one before it."""
    found, start = [], 0
    for match in _SENTENCE_END.finditer(text):
        end = match.end()
        if end <= start or _is_inside_a_sentence(text, start, match):
            continue
        marks = _TRAILING_MARKS.match(text, end)
        if marks:
            end = marks.end()
        found.append(_trimmed(text, start, end))
        start = end
    if text[start:].strip():
        found.append(_trimmed(text, start, len(text)))
    return found


def _is_inside_a_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    """Whether this full stop ends an abbreviation, or a small letter goes on after it."""
    if stop.group()[0] != ".":
        return False
    following = text[stop.end() : stop.end() + 2].lstrip()[:1]
    if following.islower():
        return True
    before = text[max(start, stop.start() - _LAST_WORD_CHARACTERS) : stop.start()]
    word = before[before.rfind(" ") + 1 :].lstrip("(\"'“‘")
    if following.isdigit():
        return word.lower() in _NUMBERED | _ABBREVIATIONS
    return word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper())


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)
