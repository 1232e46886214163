"""Ranks definitions by relevance to a query: by the words of their names, then of their lines.

There is no index: each query scans all files for its terms, which takes a few milliseconds per
megabyte, counts them by definition and scores these with BM25F (Robertson and Zaragoza, "The
Probabilistic Relevance Framework", 2009, section 3.6). The constants were tuned with
`benchmarks/code_search.py` on one half of the projects that `docs/codegraph.md` names.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from math import log
from pathlib import PurePosixPath
from typing import NamedTuple

from judge.codegraph.models import SearchItem
from judge.codegraph.query.graph import Graph
from judge.codegraph.query.sections import PROSE, Section, innermost, sections_of
from judge.codegraph.query.snippets import snippet
from judge.codegraph.query.tests_of import is_test
from judge.codegraph.query.text_search import SEARCHED
from judge.codegraph.source_text import decoded
from judge.codegraph.store.artifact import FileRecord
from judge.text.bm25 import B
from judge.text.english import STOP_WORDS, stems
from judge.text.identifiers import identifier_parts

#: Field weights of a section: its lines, its name, the names of outer definitions, its path.
_BODY_WEIGHT = 0.25
_NAME_WEIGHT = 25.0
_OUTER_NAME_WEIGHT = 3.0
_PATH_WEIGHT = 6.0
#: Term frequency saturates later in code, where names are repeated: in prose K1 is 1.2.
_K1 = 4.0
#: The score of the whole file, added to each of its sections.
_FILE_SHARE = 0.13
_FILE_PATH_WEIGHT = 10.0
_FILE_K1 = 1.2
#: Added for the share of the file's name that is in the query, and for the sum of its sections.
_FILE_NAME_SHARE = 0.2
_FILE_SECTIONS_SHARE = 0.2
#: Prose and tests describe the code, but the query is for the code itself.
_PROSE_FACTOR = 0.5
_TEST_FACTOR = 0.4
#: Applied for each better section of the same file: who reads that one sees the others.
_SAME_FILE_FACTOR = 0.6
_WORD = re.compile(r"[^\W_]+")
_MIN_STEM_LENGTH = 2
#: More than any query has; each term costs a scan of the repository.
_MAX_TERMS = 24
_CAPITALS = frozenset(range(ord("A"), ord("Z") + 1))
_LETTERS = _CAPITALS | frozenset(range(ord("a"), ord("z") + 1))

Counts = dict[int, int]


class _Term(NamedTuple):
    """A term of the query: its stem, and a pattern for a whole word that begins with it."""

    stem: bytes
    word: re.Pattern[bytes]


class _File(NamedTuple):
    """The term frequencies of a file in its text, path and name, and its length.

    *name_share* is the share of the words of its name that are terms, *factor* applies to the
    scores of all its sections.
    """

    path: str
    body: Counts
    in_path: Counts
    in_name: Counts
    name_share: float
    lines: int
    sections: int
    factor: float


class _MatchedSection(NamedTuple):
    """A section, and its term frequencies: in its lines, its name and the outer names."""

    file: _File
    section: Section
    body: Counts
    in_name: Counts
    in_outer_names: Counts
    lines: list[int]


def ranked_sections(
    graph: Graph, query: str, read: Callable[[str], bytes | None], limit: int
) -> tuple[list[SearchItem], bool]:
    """The *limit* sections most relevant to *query*, and whether there are more."""
    terms = _terms(query)
    matches: list[_MatchedSection] = []
    for file in graph.artifact.files if terms else ():
        content = read(file.path) if file.status in SEARCHED else None
        if content is not None:
            matches += _matches_in(graph, file, content, terms)
    best = _diversified(_scored(matches, query.strip(), len(terms)))
    return [_item(match, read) for match in best[:limit]], len(best) > limit


def _terms(query: str) -> list[_Term]:
    """The stems of the words of *query*: identifiers split, stop words left out unless alone."""
    words = [word.lower() for word in _words(f"{query} {identifier_parts(query)}")]
    words = [word for word in dict.fromkeys(words) if word not in STOP_WORDS] or words
    prefixes = map(_prefix, words, stems(words))
    unique = dict.fromkeys(prefix for prefix in prefixes if len(prefix) >= _MIN_STEM_LENGTH)
    # As bytes, since `bytes.lower` changes only ASCII and so keeps all offsets.
    encoded = (prefix.encode() for prefix in islice(unique, _MAX_TERMS))
    return [_Term(s, re.compile(rb"(?i:%s)[a-z]{0,5}(?![a-z])" % re.escape(s))) for s in encoded]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.replace("_", " "))


def _prefix(word: str, stem: str) -> str:
    """The common prefix of all forms of *word*: "quer", while the stem of "query" is "queri"."""
    is_changed = not word.startswith(stem) or word.endswith(("ies", "ied"))
    return stem.removesuffix("i") if is_changed else stem


def _matches_in(
    graph: Graph, file: FileRecord, content: bytes, terms: Sequence[_Term]
) -> Iterator[_MatchedSection]:
    """The sections of a file that contain a term; the first one when only the path does."""
    hits = list(_hits(content, terms))
    in_path = _counts(file.path, terms)
    if not hits and not in_path:
        return
    lines = content.splitlines(keepends=True)
    sections = sections_of(lines, graph.nodes_of(file.path), file.lang)
    if not sections:
        return
    owners, ends = innermost(sections, len(lines)), list(accumulate(map(len, lines)))
    body: dict[int, Counter[int]] = defaultdict(Counter)
    hit_lines: dict[int, list[int]] = defaultdict(list)
    for term, offset in hits:
        line = bisect_right(ends, offset) + 1
        body[owners[line]][term] += 1
        hit_lines[owners[line]].append(line)
    counts = Counter(term for term, _ in hits)
    factor = _PROSE_FACTOR if file.lang in PROSE else 1.0
    factor *= _TEST_FACTOR if is_test(file.path) else 1.0
    stem = PurePosixPath(file.path).name.partition(".")[0]
    in_name = _counts(stem, terms)
    share = min(len(in_name) / max(len(_words(stem)), 1), 1)
    scanned = _File(file.path, counts, in_path, in_name, share, len(lines), len(sections), factor)
    for index in body or (0,):
        outer_names, _, name = sections[index].name.rpartition(".")
        own, outer = _counts(name, terms), _counts(outer_names, terms)
        yield _MatchedSection(scanned, sections[index], body[index], own, outer, hit_lines[index])


def _hits(content: bytes, terms: Sequence[_Term]) -> Iterator[tuple[int, int]]:
    """The number and the offset of each term at the start of a word or a part of an identifier."""
    lowered = content.lower()
    for number, term in enumerate(terms):
        at = lowered.find(term.stem)
        while at >= 0:
            before = content[at - 1] if at else 0
            begins = before not in _LETTERS or (
                before not in _CAPITALS and content[at] in _CAPITALS
            )
            if begins and term.word.match(content, at):
                yield number, at
            at = lowered.find(term.stem, at + 1)


def _counts(name: str, terms: Sequence[_Term]) -> Counts:
    return Counter(term for term, _ in _hits(name.encode(), terms)) if name else {}


def _scored(
    matches: Sequence[_MatchedSection], query: str, terms: int
) -> Iterator[tuple[float, _MatchedSection]]:
    files = {m.file.path: m.file for m in matches}
    frequencies = Counter(term for m in matches for term in m.body)
    total = max(sum(file.sections for file in files.values()), 1)
    counted = ((term, frequencies[term]) for term in range(terms))
    idf = {term: log(1 + (total - n + 0.5) / (n + 0.5)) for term, n in counted}
    maximum = sum(idf[term] for term in frequencies)
    average = sum(_length(m.section) for m in matches) / max(len(matches), 1)
    average_file = sum(file.lines for file in files.values()) / max(len(files), 1)
    file_scores = {path: _file_score(file, idf, average_file) for path, file in files.items()}
    for m in matches:
        norm = _K1 * (1 - B + B * _length(m.section) / average)
        score = file_scores[m.file.path]
        for term in {*m.body, *m.in_name, *m.in_outer_names, *m.file.in_path}:
            weighted = (
                _BODY_WEIGHT * m.body.get(term, 0)
                + _NAME_WEIGHT * (term in m.in_name)
                + _OUTER_NAME_WEIGHT * (term in m.in_outer_names)
                + _PATH_WEIGHT * (term in m.file.in_path)
            )
            score += idf[term] * weighted / (weighted + norm)
        # A query that is just a name is for its definition.
        score += maximum * (m.section.name.rpartition(".")[2] == query)
        yield score * m.file.factor, m


def _length(section: Section) -> int:
    return section.end - section.start + 1


def _file_score(file: _File, idf: dict[int, float], average: float) -> float:
    norm = _FILE_K1 * (1 - B + B * file.lines / max(average, 1))
    score = 0.0
    for term in {*file.body, *file.in_path}:
        weighted = file.body.get(term, 0) + _FILE_PATH_WEIGHT * (term in file.in_path)
        score += idf[term] * weighted / (weighted + norm)
    name = file.name_share * sum(idf[term] for term in file.in_name)
    return _FILE_SHARE * score + _FILE_NAME_SHARE * name


def _diversified(scored: Iterable[tuple[float, _MatchedSection]]) -> list[_MatchedSection]:
    """Best first: scores raised in files with many good sections, lowered for each further one."""
    scored = list(scored)
    sums: dict[str, float] = defaultdict(float)
    for score, m in scored:
        sums[m.file.path] += score
    maximum = _FILE_SECTIONS_SHARE * max((score for score, _ in scored), default=0)
    largest = max(sums.values(), default=0)
    bonus = {path: maximum * total / largest for path, total in sums.items()}
    raised = ((score + bonus[m.file.path], m) for score, m in scored)
    seen: Counter[str] = Counter()
    lowered = []
    for score, m in sorted(raised, key=_sort_key):
        lowered.append((score * _SAME_FILE_FACTOR ** seen[m.file.path], m))
        seen[m.file.path] += 1
    return [m for _, m in sorted(lowered, key=_sort_key)]


def _sort_key(scored: tuple[float, _MatchedSection]) -> tuple[float, str, int]:
    score, match = scored
    return -score, match.file.path, match.section.start


def _item(match: _MatchedSection, read: Callable[[str], bytes | None]) -> SearchItem:
    path, section, hits = match.file.path, match.section, match.lines
    lines = decoded(read(path) or b"").split("\n")
    if section.name or not hits:
        line = section.start
        piece = snippet(path, lines, line, min(section.end, line + 4), around=0)
    else:
        line = Counter(hits).most_common(1)[0][0]
        piece = snippet(path, lines, line)
    kind = "definition" if section.name else "match"
    shown = range(piece.location.start_line, piece.location.end_line + 1)
    matching = tuple(sorted({hit for hit in hits if hit in shown})) or (line,)
    return SearchItem(path, line, kind, "text", piece, matching)
