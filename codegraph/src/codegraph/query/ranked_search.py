"""Ranks definitions by relevance to a query: by the words of their names, then of their lines.

There is no index: each query reads all files and counts its terms in each definition, which takes
about three seconds for a million lines. Definitions are scored with BM25F (Robertson and Zaragoza,
"The Probabilistic Relevance Framework", 2009, section 3.6). The constants were tuned with
`benchmarks/code_search.py` on one half of the projects that `docs/codegraph.md` names.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from math import log
from string import ascii_letters, ascii_uppercase
from typing import NamedTuple

import Stemmer

from codegraph.models import SearchItem
from codegraph.query.graph import Graph
from codegraph.query.sections import PROSE, Section, guess_sections, is_test
from codegraph.query.text_search import SEARCHED
from codegraph.source_text import decoded, snippet
from codegraph.store.artifact import FileRecord

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
#: Strength of length normalisation; the usual value.
_B = 0.75
#: Added for the sum of the sections of the file.
_FILE_SECTIONS_SHARE = 0.2
#: Prose and tests describe the code, but the query is for the code itself.
_PROSE_FACTOR = 0.5
_TEST_FACTOR = 0.4
#: Applied for each better section of the same file: who reads that one sees the others.
_SAME_FILE_FACTOR = 0.6
_MIN_STEM_LENGTH = 2
#: More than any query has; each term costs a scan of the repository.
_MAX_TERMS = 24
_CAPITALS = frozenset(ascii_uppercase)
_LETTERS = frozenset(ascii_letters)
#: Function words. Negations (not, no, never, without) are left out: they carry meaning.
_STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between both
    but by can could did do does doing down each even few for from further get had has have having
    he her here hers herself him himself his how i if in into is it its itself just let like may me
    might more most must my myself of off on once only or other our ours ourselves out over own s
    same shall she should so some such t than that the their theirs them themselves then there these
    they this those through to too under until up us very was we were what when where which while
    who whom why will with would you your yours yourself yourselves
    """.split()
)
_WORD = re.compile(r"[^\W_]+")
#: Where a part of an identifier begins: `get|User|Id`, `HTTP|Server`, `utf|8`.
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z]{2})(?=[0-9])")

#: The offset and the number of each term that was found, in the order of the offsets.
_Hits = list[tuple[int, int]]
#: Weights by the number of the term.
_Weights = dict[int, float]


class _Term(NamedTuple):
    """A term of the query: its stem, and a pattern for a whole word that begins with it."""

    stem: str
    word: re.Pattern[str]


class _MatchedSection(NamedTuple):
    """A section with terms: their weights, the terms in its lines, and these lines."""

    section: Section
    weights: _Weights
    in_body: tuple[int, ...]
    lines: list[int]

    @property
    def length(self) -> int:
        return self.section.end - self.section.start + 1


class _MatchedFile(NamedTuple):
    """A file with terms, whose sections have their scores times *factor*."""

    path: str
    weights: _Weights
    factor: float
    lines: int
    sections: int
    matches: list[_MatchedSection]


def ranked_sections(
    graph: Graph, query: str, read: Callable[[str], bytes | None], limit: int
) -> tuple[list[SearchItem], bool]:
    """The *limit* sections most relevant to *query*, and whether there are more."""
    query, terms = query.strip().removesuffix("()"), _terms(query)
    records = [r for r in graph.artifact.files if terms and r.status in SEARCHED]
    matched = (_matched_file(graph, r, decoded(read(r.path) or b""), terms) for r in records)
    files = [file for file in matched if file is not None]
    ranked = _diversified(_scored(files, query, len(terms)))
    best = nsmallest(limit, ranked, key=lambda r: (-r[0], r[1], r[2].section.start))
    has_more = sum(len(file.matches) for file in files) > limit
    return [_item(path, match, read) for _, path, match in best], has_more


def _terms(query: str) -> list[_Term]:
    """The stems of the words of *query*, identifiers' parts too; stop words only if alone."""
    words = list(dict.fromkeys(_WORD.findall(f"{query} {_BORDER.sub(' ', query)}".lower())))
    words = [word for word in words if word not in _STOP_WORDS] or words
    prefixes = map(_prefix, words, Stemmer.Stemmer("english").stemWords(words))
    short_names = query.strip().lower().split(".")
    unique = dict.fromkeys(p for p in prefixes if len(p) >= _MIN_STEM_LENGTH or p in short_names)
    endings = {prefix: "[a-z]{0,5}" if len(prefix) >= _MIN_STEM_LENGTH else "" for prefix in unique}
    return [
        _Term(prefix, re.compile(rf"(?i:{re.escape(prefix)}){ending}(?![a-z])"))
        for prefix, ending in islice(endings.items(), _MAX_TERMS)
    ]


def _prefix(word: str, stem: str) -> str:
    """The common prefix of all forms of *word*: "quer", while the stem of "query" is "queri"."""
    is_changed = not word.startswith(stem) or word.endswith(("ies", "ied"))
    return stem.removesuffix("i") if is_changed else stem


def _matched_file(
    graph: Graph, record: FileRecord, text: str, terms: Sequence[_Term]
) -> _MatchedFile | None:
    """A file and its sections that contain a term; the first one when only the path does."""
    hits, in_path = _hits(text, terms), _hits(record.path, terms)
    lines = text.removesuffix("\n").split("\n") if text else []
    sections = graph.sections_of(record.path) or guess_sections(lines, record.lang)
    if not sections or not (hits or in_path):
        return None
    weights = _added({}, (term for _, term in hits), 1.0)
    path_terms = {term for _, term in in_path}
    factor = _PROSE_FACTOR if record.lang in PROSE else 1.0
    return _MatchedFile(
        path=record.path,
        weights=_added(weights, path_terms, _FILE_PATH_WEIGHT),
        factor=factor * (_TEST_FACTOR if is_test(record.path) else 1.0),
        lines=len(lines),
        sections=len(sections),
        matches=_matched_sections(text, sections, hits, path_terms, terms),
    )


def _matched_sections(
    text: str,
    sections: Sequence[Section],
    hits: _Hits,
    path_terms: set[int],
    terms: Sequence[_Term],
) -> list[_MatchedSection]:
    # For each line the last section around it, which is the innermost; without one the first.
    innermost = [0] * (text.count("\n") + 2)
    for index, (start, end, _) in enumerate(sections):
        innermost[start : end + 1] = [index] * (end + 1 - start)
    body: dict[int, _Weights] = {} if hits else {0: {}}
    lines: dict[int, list[int]] = defaultdict(list)
    line, counted = 1, 0
    for offset, term in hits:
        line, counted = line + text.count("\n", counted, offset), offset
        index = innermost[line]
        _added(body.setdefault(index, {}), [term], _BODY_WEIGHT)
        lines[index].append(line)
    matches = [_MatchedSection(sections[i], w, tuple(w), lines[i]) for i, w in body.items()]
    for match in matches:
        _added(match.weights, path_terms, _PATH_WEIGHT)
        dot = match.section.name.rfind(".")
        in_name = _hits(match.section.name, terms)
        _added(match.weights, {term for at, term in in_name if at > dot}, _NAME_WEIGHT)
        _added(match.weights, {term for at, term in in_name if at < dot}, _OUTER_NAME_WEIGHT)
    return matches


def _added(weights: _Weights, terms: Iterable[int], weight: float) -> _Weights:
    """*weights*, to which *weight* was added for each of *terms*."""
    for term in terms:
        weights[term] = weights.get(term, 0.0) + weight
    return weights


def _hits(text: str, terms: Sequence[_Term]) -> _Hits:
    """The terms at the start of a word or of a part of an identifier."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters become two; offsets matter more than these
        lowered = text
    hits: _Hits = []
    for number, term in enumerate(terms):
        at = lowered.find(term.stem)
        while at >= 0:
            if _begins_word(text, at) and term.word.match(text, at):
                hits.append((at, number))
            at = lowered.find(term.stem, at + 1)
    hits.sort()
    return hits


def _begins_word(text: str, at: int) -> bool:
    """Whether a word, or a part of an identifier, begins there: `getUserId`, `HTTPServer`."""
    before = text[at - 1] if at else ""
    if before not in _LETTERS:
        return True
    is_border = before not in _CAPITALS or text[at + 1 : at + 2].islower()
    return is_border and text[at] in _CAPITALS


def _scored(
    files: Sequence[_MatchedFile], query: str, terms: int
) -> Iterator[tuple[_MatchedFile, list[float]]]:
    """Each file with the scores of its matches."""
    lengths = [match.length for file in files for match in file.matches]
    average = sum(lengths) / max(len(lengths), 1)
    average_lines = max(sum(file.lines for file in files) / max(len(files), 1), 1)
    frequencies = Counter(term for file in files for m in file.matches for term in m.in_body)
    total = max(sum(file.sections for file in files), 1)
    counts = [frequencies[term] for term in range(terms)]
    idf = [log(1 + (total - n + 0.5) / (n + 0.5)) for n in counts]
    maximum = sum(idf[term] for term in frequencies)
    for file in files:
        file_score = _FILE_SHARE * _bm25(file.weights, idf, _FILE_K1, file.lines / average_lines)
        scores = []
        for match in file.matches:
            score = file_score + _bm25(match.weights, idf, _K1, match.length / average)
            # A query that is just a name is for its definition.
            score += maximum * f".{match.section.name}".endswith(f".{query}")
            scores.append(score * file.factor)
        yield file, scores


def _bm25(
    weights: Mapping[int, float], idf: Sequence[float], k1: float, relative_length: float
) -> float:
    norm = k1 * (1 - _B + _B * relative_length)
    return sum([idf[term] * weight / (weight + norm) for term, weight in weights.items()])


def _diversified(
    scored: Iterable[tuple[_MatchedFile, list[float]]],
) -> Iterator[tuple[float, str, _MatchedSection]]:
    """Each section with its score and path; scores are raised in files with many good sections.

    And lowered for each further section of a file.
    """
    scored = list(scored)
    maximum = _FILE_SECTIONS_SHARE * max((max(scores) for _, scores in scored), default=0)
    largest = max((sum(scores) for _, scores in scored), default=0)
    for file, scores in scored:
        bonus = maximum * sum(scores) / largest
        pairs = zip(scores, file.matches, strict=True)
        best_first = sorted(pairs, key=lambda pair: (-pair[0], pair[1].section.start))
        for better, (score, match) in enumerate(best_first):
            yield (score + bonus) * _SAME_FILE_FACTOR**better, file.path, match


def _item(path: str, match: _MatchedSection, read: Callable[[str], bytes | None]) -> SearchItem:
    section, hits = match.section, match.lines
    lines = decoded(read(path) or b"").split("\n")
    if section.name or not hits:
        line = section.start
        piece = snippet(path, lines, line, min(section.end, line + 4), context=0)
    else:
        line = Counter(hits).most_common(1)[0][0]
        piece = snippet(path, lines, line)
    kind = "definition" if section.name else "match"
    piece_lines = range(piece.location.start_line, piece.location.end_line + 1)
    matching = tuple(sorted({hit for hit in hits if hit in piece_lines})) or (line,)
    return SearchItem(path, line, kind, "text", piece, matching)
