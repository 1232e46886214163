"""A passage's text and the question -> the stretch that answers it, its words marked with `**`."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from judge.english import Span, stems, strip_accents
from judge.search.code_words import code_words
from judge.types.search import SearchQuery

AROUND = 50
"""Characters kept on either side of what matched, less the word that would be cut."""

CLUSTER = 150
"""Characters within which matches are shown together."""

MARK = "**"
_WORD = re.compile(r"[^\W_]+(?:[_'’][^\W_]+)*")
_PIECE = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Match:
    """A word of the text, and the asked stems that it holds."""

    span: Span
    stems: frozenset[str]


def highlight(text: str, query: SearchQuery) -> str:
    """The stretch of *text* in which most of the asked words meet, marked.

    Words match as in the engines: stemmed, identifiers by their parts too. `...` stands where
    text was left out. Without the marks and those, it is a part of *text*; where nothing matches,
    the beginning.

    >>> highlight("He repairs boilers.", SearchQuery("", words=("boiler",)))
    'He repairs **boilers**.'
    """
    matches = list(_matches(text, _asked(query)))
    shown = _densest(matches)
    first = shown[0].span.start if shown else 0
    last = shown[-1].span.end if shown else 0
    start, end = _left_edge(text, first), _right_edge(text, last)
    before = "..." if text[:start].strip() else ""
    after = "..." if text[end:].strip() else ""
    inside = [m.span for m in matches if start <= m.span.start and m.span.end <= end]
    return before + _marked(text, Span(start, end), inside) + after


def _asked(query: SearchQuery) -> frozenset[str]:
    spoken = " ".join((*query.words, *query.phrases))
    return frozenset(stems(_PIECE.findall(strip_accents(spoken).lower())))


def _matches(text: str, asked: frozenset[str]) -> Iterator[_Match]:
    known: dict[str, frozenset[str]] = {}
    for span in _candidates(text, asked):
        word = text[span.start : span.end]
        held = known.get(word)
        if held is None:
            held = known[word] = asked.intersection(stems(_pieces(word)))
        if held:
            yield _Match(Span(span.start, _with_accents(text, span.end)), held)


def _candidates(text: str, asked: frozenset[str]) -> Iterator[Span]:
    """The words that may match: in plain ASCII only those in which a stem may begin.

    That halves the time of an answer of ten passages, in which all other words are looked at too.
    """
    if not asked:
        return
    pattern = _WORD
    if text.isascii():
        beginnings = "|".join(map(_beginning, sorted(asked)))
        # The module remembers the pattern from one passage of an answer to the next.
        pattern = re.compile(rf"\b\w*?(?:{beginnings})\w*(?:'\w+)*", re.IGNORECASE)
    for word in pattern.finditer(text):
        yield Span(*word.span())


def _beginning(stem: str) -> str:
    """What every word of *stem* begins with: stemming turns a later y into i, dying into die."""
    return re.escape(stem[:3] if len(stem) > 3 else stem[0])


def _pieces(word: str) -> list[str]:
    """What *word* is indexed by, before stemming."""
    if word.isascii() and word.isalpha() and word[1:].islower():
        return [word.lower()]
    return _PIECE.findall(strip_accents(f"{word} {code_words(word)}").lower())


def _with_accents(text: str, end: int) -> int:
    """*end* after the combining characters that belong to the word before it."""
    while end < len(text) and unicodedata.category(text[end]).startswith("M"):
        end += 1
    return end


def _densest(matches: list[_Match]) -> list[_Match]:
    """The matches that stand close together and hold most of the asked stems; the first such."""
    best: list[_Match] = []
    most = 0
    for number, first in enumerate(matches):
        limit = first.span.start + CLUSTER
        near = [m for m in matches[number : number + CLUSTER] if m.span.end <= limit] or [first]
        held = len(frozenset[str]().union(*(m.stems for m in near)))
        if held > most:
            best, most = near, held
    return best


def _left_edge(text: str, first: int) -> int:
    """About AROUND characters before *first*, after white space; *first* if there is none."""
    edge = max(0, first - AROUND)
    while 0 < edge < first and not text[edge - 1].isspace():
        edge += 1
    return edge


def _right_edge(text: str, last: int) -> int:
    edge = min(len(text), last + AROUND)
    while last < edge < len(text) and not text[edge].isspace():
        edge -= 1
    return edge


def _marked(text: str, window: Span, spans: list[Span]) -> str:
    parts: list[str] = []
    position = window.start
    for span in spans:
        word = text[span.start : span.end]
        is_bold = text[: span.start].endswith(MARK) and text.startswith(MARK, span.end)
        parts += [text[position : span.start], word if is_bold else f"{MARK}{word}{MARK}"]
        position = span.end
    return "".join([*parts, text[position : window.end]])
