"""A passage's text and the query -> the excerpt that answers it, matches marked with `**`."""

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from typing import NamedTuple

from judge.text.english import MARKS, Span, stems, tokens
from judge.text.identifiers import identifier_parts
from judge.text.unspaced import UNSPACED, searchable
from judge.types.search import SearchQuery

CONTEXT_CHARS = 50
"""Characters of context on either side of the matches, less a word that would be cut."""

CLUSTER_CHARS = 150
"""Characters within which matches are shown together."""

MARK = "**"
_LETTER = rf"[^\W_{UNSPACED}]"
_SPACED = rf"{_LETTER}+(?:[{MARKS}]{_LETTER}*)*"
_UNSPACED = re.compile(f"[{UNSPACED}]")
_OTHER_LETTER = re.compile(rf"[^\W\x00-\x7f]|[{MARKS}{UNSPACED}]")


@cache
def _word() -> re.Pattern[str]:
    """A word with its ending: landlord's, don't; an elided article (l'avocat) is a word of its own.

    In scripts without spaces each letter is a word, and group 1 is that letter with the next. The
    first lookahead saves a quarter of the time. Compiled at the first search, since that takes a
    fiftieth of a server's start.
    """
    return re.compile(
        rf"(?=[\w{UNSPACED}])(?:{_SPACED}(?:_{_SPACED})*(?:['’]{_LETTER}{{1,2}}(?!{_LETTER}))?"
        rf"|(?=([{UNSPACED}]{{2}}))[{UNSPACED}]|[{UNSPACED}])"
    )


class _TermMatch(NamedTuple):
    """A matching word, `text[start:end]`, and the stems of the query in it."""

    start: int
    end: int
    stems: frozenset[str]


def highlighter(query: SearchQuery) -> Callable[[str], str]:
    """A function from a text to the excerpt that has most of the query's words, marked.

    Words match as in the engines: stemmed, identifiers by their parts too. `...` stands for
    omitted text. Apart from marks and `...`, the excerpt is a substring of the text; if nothing
    matches, its beginning.

    >>> highlighter(SearchQuery("", words=("boiler",)))("He repairs boilers.")
    'He repairs **boilers**.'
    """
    query_text = " ".join((*query.words, *query.phrases))
    query_stems = frozenset(stems(tokens(searchable(query_text).lower())))
    # All of 314,000 words of code and prose begin with their stem less its last letter, or so:
    beginnings = {stem[: max(2, len(stem) - 1)] for stem in query_stems}
    beginnings |= {f"{stem[0]}ying" for stem in query_stems if stem[1:] == "ie"}  # dying: die
    return partial(_highlight, query_stems, tuple(beginnings))


def _highlight(query_stems: frozenset[str], beginnings: tuple[str, ...], text: str) -> str:
    matches: list[_TermMatch] = []
    for word in _words_with(beginnings, text):
        if matching := query_stems & _stems_of(word[1] or word[0]):
            match = _TermMatch(word.start(), max(word.end(), word.end(1)), matching)
            if matches and match.start <= matches[-1].end:  # Pairs with a letter in common.
                before = matches.pop()
                match = _TermMatch(before.start, match.end, before.stems | matching)
            matches.append(match)
    cluster = _densest_cluster(matches)
    first = cluster[0].start if cluster else 0
    last = cluster[-1].end if cluster else 0
    start, end = _left_edge(text, first), _right_edge(text, last)
    inside = [match for match in matches if start <= match.start and match.end <= end]
    marked = _marked(text, Span(start, end), inside)
    return f"{'...' if text[:start].strip() else ''}{marked}{'...' if text[end:].strip() else ''}"


def _words_with(beginnings: tuple[str, ...], text: str) -> Iterator[re.Match[str]]:
    """The words of *text* with one of *beginnings* in them, in order; all words if not ASCII.

    Matching every word takes three times as long.
    """
    if not text.isascii() and _OTHER_LETTER.search(text):
        yield from _word().finditer(text)
        return
    lowered, end = text.lower(), 0
    for place in sorted({place for part in beginnings for place in _occurrences(part, lowered)}):
        if place < end:
            continue
        start = place
        while start > end and (text[start - 1].isalnum() or text[start - 1] in "_'’"):
            start -= 1
        words = _word().finditer(text, start)
        word = next(words)
        while word.end() <= place:
            word = next(words)
        yield word
        end = word.end()


def _occurrences(part: str, text: str) -> Iterator[int]:
    """The offsets of *part* in *text*."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


@lru_cache(maxsize=8192)
def _stems_of(word: str) -> frozenset[str]:
    """The stems under which the engines index *word*."""
    plain = searchable(word)
    return frozenset(stems(tokens(f"{plain} {identifier_parts(plain)}".lower())))


def _densest_cluster(matches: list[_TermMatch]) -> list[_TermMatch]:
    """The first group of matches within CLUSTER_CHARS that has the most distinct stems."""
    best: list[_TermMatch] = []
    count, most = 0, len(_stems_in(matches))
    for number, first in enumerate(matches):
        if count == most:
            break
        near = matches[number + 1 : number + CLUSTER_CHARS]
        end = first.start + CLUSTER_CHARS
        cluster = [first, *(match for match in near if match.end <= end)]
        if (stem_count := len(_stems_in(cluster))) > count:
            best, count = cluster, stem_count
    return best


def _stems_in(matches: list[_TermMatch]) -> frozenset[str]:
    return frozenset[str]().union(*(match.stems for match in matches))


def _left_edge(text: str, first: int) -> int:
    """The offset about CONTEXT_CHARS before *first*, after white space; else *first*."""
    edge = max(0, first - CONTEXT_CHARS)
    while 0 < edge < first and not _may_be_cut(text[edge - 1]):
        edge += 1
    return edge


def _right_edge(text: str, last: int) -> int:
    edge = min(len(text), last + CONTEXT_CHARS)
    while last < edge < len(text) and not _may_be_cut(text[edge]):
        edge -= 1
    return edge


def _may_be_cut(letter: str) -> bool:
    return letter.isspace() or bool(_UNSPACED.match(letter))


def _marked(text: str, window: Span, matches: list[_TermMatch]) -> str:
    parts: list[str] = []
    position = window.start
    for match in matches:
        word = text[match.start : match.end]
        is_bold = text.endswith(MARK, 0, match.start) and text.startswith(MARK, match.end)
        parts += [text[position : match.start], word if is_bold else f"{MARK}{word}{MARK}"]
        position = match.end
    return "".join([*parts, text[position : window.end]])
