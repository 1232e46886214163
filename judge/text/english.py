"""Sentences, words, stems, stop words and plurals of English; pure, and linear in the text."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeVar

import Stemmer

from judge.text.data import package_data

T = TypeVar("T")

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

_FEW_WORDS = 7
"""Fewer words tell no language."""

_TELLING_SHARE = 0.08
"""Of 1,170 real and made-up disputes in English 6 have less, all of them a title alone."""


MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u1049\u1050-\u109f"
    "\u1780-\u17d3"
)
"""Accents and vowel signs, which `\\w` does not match: each one of Latin to Arabic; of Devanagari
to Khmer whole ranges without the full stops, which hold hardly anything else."""

WORD = rf"[^\W_]+(?:[{MARKS}][^\W_]*)*"
"""A word of any script, as a pattern."""

_TOKEN = re.compile(WORD)
_WORD = re.compile(rf"{WORD}(?:'{WORD})*")
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
_SENTENCE_END = re.compile(r"[.!?…](?<![.!?…].)[.!?…]*+[\"'”’)\]]*+(?=\s|$|[\[【［〔])")
"""Matches a whole run of marks from its first one, so that a run of a megabyte is read once."""
_DOTTED = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_NEXT_WORD = re.compile(r"[^\S\n]{0,9}\n?[^\S\n]{0,9}(\w{1,12}|\S)")
"""The beginning of the word after spaces or one line end, but not in the next paragraph."""
_LAST_WORD_CHARACTERS = 12
"""Longer than any abbreviation."""

_TRAILING_MARKS = re.compile(
    r"\s*(?:[\[【［〔](?:[^\[\]【】［］〔〕\n]{0,40}|[\d\s,;，；、&and‐-―−~-]{0,400})[\]】］〕]\s*+)+(?![a-z])"
)
"""Bracketed notes of a few words, or lists of numbers, after a sentence; "[1] says" begins one."""


@cache
def _listed(name: str) -> frozenset[str]:
    """The list *name* of `vocabulary/english.toml`, which says what each is for."""
    return frozenset(package_data("english")[name].split())


def is_english(text: str) -> bool:
    """Whether *text* seems to be English; a short one is, unless its letters are not Latin."""
    found = words(text)
    latin = sum(word[0] < "\u0250" for word in found)
    if latin * 2 < len(found):
        return False
    telling = sum(map(_listed("telling").__contains__, found))
    return len(found) < _FEW_WORDS or telling >= _TELLING_SHARE * len(found)


class Span(NamedTuple):
    """A range of a text: `text[start:end]`."""

    start: int
    end: int


def fold_space(text: str) -> str:
    """*text* on one line: every run of white space (of any Unicode kind) becomes one space."""
    return " ".join(text.split())


def strip_invisible(text: str) -> str:
    """*text* without control and format characters, which hide words; white space stays."""
    if text.replace("\n", "").isprintable():  # nearly always
        return text
    hidden = {
        ord(c): None
        for c in set(text)
        if not c.isspace() and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co"}
    }
    return text.translate(hidden) if hidden else text


def strip_text(value: object) -> object:
    """*value*, if it is a text, without invisible characters and surrounding white space."""
    return strip_invisible(value).strip() if isinstance(value, str) else value


def strip_accents(text: str) -> str:
    """*text* without accents, for comparing: é becomes e, ﬁ becomes fi."""
    if text.isascii():
        return text
    # Strip before normalising as well: NFKD sorts accents, which takes 0.3 s for 20,000 of them.
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", _ACCENTS.sub("", text)))


def words(text: str) -> list[str]:
    """The words of *text* in lower case, with straight apostrophes."""
    return find_words(text.lower().replace("’", "'"))


def find_words(text: str) -> list[str]:
    """The words of *text* as written; its apostrophes must be straight."""
    return _WORD.findall(text)


def tokens(text: str) -> list[str]:
    """The words of *text* as written, split at apostrophes too, as engines index them."""
    return _TOKEN.findall(text)


def stems(tokens: Iterable[str]) -> list[str]:
    """Snowball's English stems (Porter's second algorithm), one for each token."""
    return [_stem(token) for token in tokens]


MAX_WORD = 100
"""Characters of the longest token that is taken for a word."""


@lru_cache(maxsize=8192)
def _stem(token: str) -> str:
    if len(token) > MAX_WORD:  # data; the stemmer's time grows with the square of the length
        return token
    # A Stemmer is not thread-safe, so make one per call.
    return str(Stemmer.Stemmer("english").stemWord(token))


def content_stems(text: str) -> list[str]:
    """The stems of the words that carry content, in order, repeats included."""
    return stems(word for word in words(text) if word not in STOP_WORDS)


def sentences(text: str) -> list[Span]:
    """The sentences in order.

    Citation marks, and what has no letter or digit, belong to the sentence before.
    """
    ends = [0]
    for match in _SENTENCE_END.finditer(text):
        if match.end() > ends[-1] and not _is_inside_a_sentence(text, ends[-1], match):
            marks = _TRAILING_MARKS.match(text, match.end())
            ends.append(marks.end() if marks else match.end())
    spans: list[Span] = []
    for start, end in pairwise([*ends, len(text)]):
        inner = text[start:end].strip()
        first = text.find(inner, start)
        if spans and not any(map(str.isalnum, inner)):
            spans[-1] = Span(spans[-1].start, first + len(inner) if inner else spans[-1].end)
        elif inner:
            spans.append(Span(first, first + len(inner)))
    return spans


def _is_inside_a_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    """Whether this full stop ends an abbreviation, or a small letter follows."""
    next_word = _NEXT_WORD.match(text, stop.end())
    following = next_word[1] if next_word else ""
    if stop.group()[0] != ".":  # “Why?” he asked.
        return following[:1].islower() and stop.group()[-1] not in "!?…"
    before = text[max(start, stop.start() - _LAST_WORD_CHARACTERS) : stop.start()]
    word = (before.split() or [""])[-1].lstrip("(\"'“‘")
    lower = word.lower()
    if following[:1].islower() or lower in _listed("never_last"):
        return True
    if following[:1].isdigit():
        return lower in _listed("numbered") | _listed("maybe_last")
    is_initial = len(word) > 1 or (word.isupper() and word != "I")
    is_dotted = is_initial and _DOTTED.fullmatch(word) is not None
    begins_sentence = not following or following.lower() in _listed("begins_sentence")
    return (lower in _listed("maybe_last") or is_dotted) and not begins_sentence


def grouped(items: Iterable[T], size: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """*items* in groups whose sizes add up to at most *most*; a larger item stands alone."""
    group: list[T] = []
    total = 0
    for item in items:
        if group and total + size(item) > most:
            yield group
            group, total = [], 0
        group.append(item)
        total += size(item)
    if group:
        yield group


def counted(number: int, noun: str) -> str:
    """*number* and *noun*, in the plural if need be."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_OPENS_BLOCK = re.compile(r"[ \t]*(?:#{1,6}[ \t]|[-*+•][ \t]|\d{1,3}[.)][ \t]|[|>]|```|~~~)")
"""The start of a Markdown line that does not continue the line above."""

_LIST_MARKER = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]")


@lru_cache(maxsize=512)
def source_sentences(text: str) -> tuple[str, ...]:
    """The texts of `sentences`; cached, since the same pages are cited all day."""
    return tuple(text[span.start : span.end] for span in sentences(text))


def is_heading(sentence: str) -> bool:
    """Whether *sentence*, one of `structured_sentences`, is a Markdown heading."""
    return _HEADING.match(sentence) is not None


def structured_sentences(text: str) -> tuple[Span, ...]:
    """As `sentences`, but no sentence goes across two blocks of Markdown *text*."""
    return tuple(
        Span(block.start + span.start, block.start + span.end)
        for block in _blocks(text)
        for span in sentences(text[block.start : block.end])
    )


def _blocks(text: str) -> Iterator[Span]:
    """The paragraphs, headings and list items of *text*; items without their markers."""
    start, at = None, 0
    for line in text.splitlines(keepends=True):
        is_blank = not line.strip()
        if start is not None and (is_blank or _OPENS_BLOCK.match(line)):
            yield Span(start, at)
            start = None
        if start is None and not is_blank:
            marker = _LIST_MARKER.match(line)
            start = at + (marker.end() if marker else 0)
        at += len(line)
        if start is not None and _HEADING.match(line):
            yield Span(start, at)
            start = None
    if start is not None:
        yield Span(start, at)
