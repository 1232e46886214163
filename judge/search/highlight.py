"""A passage's text and the query -> the stretch that answers it, its words marked with `**`."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

from judge.text.english import Span, stems, strip_accents
from judge.text.identifiers import identifier_parts
from judge.types.search import SearchQuery

AROUND = 50
"""Characters kept on either side of what matched, less the word that would be cut."""

CLUSTER = 150
"""Characters within which matches are shown together."""

MARK = "**"
_WORD = re.compile(r"[^\W_]+(?:[_'’][^\W_]+)*")
_PIECE = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _TermMatch:
    """A word of the text, `text[start:end]`, and the stems of the query that it holds."""

    start: int
    end: int
    stems: frozenset[str]


def highlighter(query: SearchQuery) -> Callable[[str], str]:
    """What gives the stretch of a text in which most of the query's words meet, marked.

    Words match as in the engines: stemmed, identifiers by their parts too. `...` stands where
    text was left out. Without the marks and those, the stretch is a part of the text; where
    nothing matches, its beginning.

    >>> highlighter(SearchQuery("", words=("boiler",)))("He repairs boilers.")
    'He repairs **boilers**.'
    """
    query_text = " ".join((*query.words, *query.phrases))
    query_stems = frozenset(stems(_PIECE.findall(strip_accents(query_text).lower())))
    return partial(_highlight, _QueryStems(query_stems, _start_pattern(query_stems)))


@dataclass(frozen=True, slots=True)
class _QueryStems:
    """The stems of a query, and where in ASCII text one may begin; None if none may."""

    stems: frozenset[str]
    starts: re.Pattern[str] | None


def _highlight(query_stems: _QueryStems, text: str) -> str:
    matches = list(_until_all_meet(_matches(text, query_stems), len(query_stems.stems)))
    cluster = _densest_cluster(matches)
    first = cluster[0].start if cluster else 0
    last = cluster[-1].end if cluster else 0
    start, end = _left_edge(text, first), _right_edge(text, last)
    before = "..." if text[:start].strip() else ""
    after = "..." if text[end:].strip() else ""
    inside = [match for match in matches if start <= match.start and match.end <= end]
    return before + _marked(text, Span(start, end), inside) + after


def _matches(text: str, query_stems: _QueryStems) -> Iterator[_TermMatch]:
    stems_by_word: dict[str, frozenset[str]] = {}
    is_plain = text.isascii()
    for start, end in _candidates(text, query_stems.starts):
        word = text[start:end]
        found = stems_by_word.get(word)
        if found is None:
            found = stems_by_word[word] = query_stems.stems.intersection(_stems_of(word))
        if found:
            yield _TermMatch(start, end if is_plain else _with_accents(text, end), found)


def _until_all_meet(matches: Iterator[_TermMatch], stem_count: int) -> Iterator[_TermMatch]:
    """*matches* to the end of the first place where all stems meet: none is better."""
    last: dict[str, int] = {}
    end: int | None = None
    for match in matches:
        if end is not None and match.start > end:
            return
        yield match
        for stem in match.stems:
            last[stem] = match.start
        if end is None and len(last) == stem_count:
            first = min(last.values())
            end = first + CLUSTER + AROUND if match.end <= first + CLUSTER else None


def _candidates(text: str, pattern: re.Pattern[str] | None) -> Iterator[tuple[int, int]]:
    """Where the words stand that may match: those in which a stem may begin.

    Looking at every word would take three times as long.
    """
    if pattern is not None and text.isascii():
        for hit in pattern.finditer(text):
            start, end = hit.span()
            while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
                start -= 1
            yield start, end
    else:
        for word in _WORD.finditer(text):
            if not word[0].isascii() or (pattern is not None and pattern.search(word[0])):
                yield word.span()


def _start_pattern(query_stems: frozenset[str]) -> re.Pattern[str] | None:
    """Where one of *query_stems* may begin in ASCII text, to the end of the word; None if none may.

    That is where a word begins, or a part of one: at a capital or a digit. The class of first
    characters leads, since only then does the engine skip to its members at C speed.
    """
    plain = sorted(stem for stem in query_stems if stem.isascii())
    if not plain:
        return None
    firsts = "".join(sorted({stem[0] + stem[0].upper() for stem in plain}))
    seconds = "|".join(f"(?<={stem[0]}){_second(stem)}" for stem in plain)
    return re.compile(
        rf"[{firsts}](?:(?<=[A-Z0-9])|(?<![A-Za-z0-9].))(?i:{seconds})\w*(?:'\w+)*", re.ASCII
    )


def _second(stem: str) -> str:
    """How every word of *stem* goes on after its first character.

    Stemming turns a later y into i, and dying into die.
    """
    if len(stem) > 3:
        return stem[1:3]
    return "[iy]" if stem[1:2] == "i" else stem[1:2]


@lru_cache(maxsize=8192)
def _stems_of(word: str) -> frozenset[str]:
    """What *word* is found by."""
    if word.isascii() and word.isalpha() and word[1:].islower():
        return frozenset(stems([word.lower()]))
    plain = strip_accents(word)
    return frozenset(stems(_PIECE.findall(f"{plain} {identifier_parts(plain)}".lower())))


def _with_accents(text: str, end: int) -> int:
    """*end* after the combining characters that belong to the word before it."""
    while end < len(text) and unicodedata.category(text[end]).startswith("M"):
        end += 1
    return end


def _densest_cluster(matches: list[_TermMatch]) -> list[_TermMatch]:
    """The matches that are close together and hold most of the stems; the first such."""
    total = len(_stems_in(matches))
    best: list[_TermMatch] = []
    best_count = end = 0
    for number, first in enumerate(matches):
        end = max(end, number + 1)
        while end < len(matches) and matches[end].end <= first.start + CLUSTER:
            end += 1
        found = len(_stems_in(matches[number:end]))
        if found > best_count:
            best, best_count = matches[number:end], found
        if best_count == total:
            break
    return best


def _stems_in(matches: list[_TermMatch]) -> frozenset[str]:
    return frozenset[str]().union(*(match.stems for match in matches))


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


def _marked(text: str, window: Span, matches: list[_TermMatch]) -> str:
    parts: list[str] = []
    position = window.start
    for match in matches:
        word = text[match.start : match.end]
        is_bold = text.endswith(MARK, 0, match.start) and text.startswith(MARK, match.end)
        parts += [text[position : match.start], word if is_bold else f"{MARK}{word}{MARK}"]
        position = match.end
    return "".join([*parts, text[position : window.end]])
