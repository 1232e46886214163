"""A passage's text and the query -> the excerpt that answers it, matches marked with `**`."""

import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

from judge.text.english import MARKS
from judge.text.index_tokens import SPLIT, UNSPACED, identifier_parts, terms_of
from judge.types.search import SearchQuery

CONTEXT_CHARS = 50
"""Characters of context on either side of the matches, less a word that would be cut."""

CLUSTER_CHARS = 150
"""Characters within which matches are shown together."""

MARK = "**"
_LETTER = rf"[^\W_{UNSPACED}]"
_SPACED = rf"{_LETTER}+(?:[{MARKS}]{_LETTER}*)*"
_CUTTABLE = re.compile(rf"[\s{UNSPACED}]")
_WORD = re.compile(
    rf"{SPLIT}|{_SPACED}(?:_{_SPACED})*(?:['’]{_LETTER}{{1,2}}(?!{_LETTER}))?"
    rf"|(?=(?P<pair>[{UNSPACED}]{{2}}))[{UNSPACED}]|[{UNSPACED}]"
)
"""A word with its ending: landlord's, don't; an elided article (l'avocat) is a word of its own. In
scripts without spaces each letter is a word, and `pair` is that letter with the next."""


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
    return partial(_highlight, frozenset(terms_of(query_text)))


def _highlight(query_stems: frozenset[str], text: str) -> str:
    matches = _matches(query_stems, text)
    cluster = _densest_cluster(matches)
    first, last = (cluster[0].start, cluster[-1].end) if cluster else (0, 0)
    start = _edge(text, first - CONTEXT_CHARS, first)
    end = _edge(text, last + CONTEXT_CHARS, last)
    inside = [m for m in matches if start <= m.start and m.end <= end]
    marked = _marked(text, start, end, inside)
    return f"{'...' if text[:start].strip() else ''}{marked}{'...' if text[end:].strip() else ''}"


def _matches(query_stems: frozenset[str], text: str) -> list[_TermMatch]:
    matches: list[_TermMatch] = []
    for word in _WORD.finditer(text):
        if matching := query_stems & _stems_of(word["pair"] or word[0]):
            match = _TermMatch(word.start(), max(word.end(), word.end("pair")), matching)
            if matches and match.start <= matches[-1].end:  # Pairs with a letter in common.
                before = matches.pop()
                match = _TermMatch(before.start, match.end, before.stems | matching)
            matches.append(match)
    return matches


@lru_cache(maxsize=8192)
def _stems_of(word: str) -> frozenset[str]:
    """The stems under which the engines index *word*."""
    return frozenset(terms_of(f"{word} {identifier_parts(word)}"))


def _densest_cluster(matches: list[_TermMatch]) -> list[_TermMatch]:
    """The first group of matches within CLUSTER_CHARS that has the most distinct stems."""
    clusters = [
        [m for m in matches[at:] if m.end - first.start <= CLUSTER_CHARS] or [first]
        for at, first in enumerate(matches)
    ]
    return max(clusters, key=lambda ms: len({stem for m in ms for stem in m.stems}), default=[])


def _edge(text: str, edge: int, inner: int) -> int:
    """*edge*, moved towards *inner* until it cuts no word."""
    edge = max(0, min(edge, len(text)))
    while 0 < edge < len(text) and edge != inner:
        if _CUTTABLE.search(text[edge - 1 : edge + 1]):
            break
        edge += 1 if edge < inner else -1
    return edge


def _marked(text: str, start: int, end: int, matches: list[_TermMatch]) -> str:
    """`text[start:end]` with *matches* marked, but for those that are bold already."""
    parts: list[str] = []
    for match in matches:
        word = text[match.start : match.end]
        is_bold = text.endswith(MARK, 0, match.start) and text.startswith(MARK, match.end)
        parts += [text[start : match.start], word if is_bold else f"{MARK}{word}{MARK}"]
        start = match.end
    return "".join([*parts, text[start:end]])
