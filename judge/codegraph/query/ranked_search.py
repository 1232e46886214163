"""Which definitions is a question about? Ranked by their words: names first, then what they say.

No index is kept: the words of the question are looked for in all files, which takes a few
milliseconds a megabyte, and what is found is counted by definition and weighed by BM25F (Robertson
and Zaragoza, "The Probabilistic Relevance Framework", 2009, section 3.6). The constants were chosen
by `benchmarks/code_search.py` on one half of the projects that `docs/codegraph.md` names.
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

#: What a word counts for in the lines, the name, the names around and the path of a section.
_BODY_WEIGHT = 0.25
_NAME_WEIGHT = 25.0
_AROUND_WEIGHT = 3.0
_PATH_WEIGHT = 6.0
#: Names of code repeat more than words of prose before they stop telling: prose has 1.2.
_K1 = 4.0
#: A section of a file that is about the question as a whole is likelier to be meant.
_FILE_SHARE = 0.13
_FILE_PATH_WEIGHT = 10.0
_FILE_K1 = 1.2
#: A file all of whose name is asked for; one whose sections are more about it than any other's.
_FILE_NAME_SHARE = 0.2
_FILE_SECTIONS_SHARE = 0.2
#: Prose and tests speak of what the code does; the code itself is what is looked for.
_PROSE_FACTOR = 0.5
_TEST_FACTOR = 0.4
#: What each further section of one file is worth: who reads the first sees the others.
_SAME_FILE_FACTOR = 0.6
_WORD = re.compile(r"[^\W_]+")
_SHORTEST = 2
#: More than any question has; each is looked for at every word of the repository.
_MOST_TERMS = 24
_CAPITALS = frozenset(range(ord("A"), ord("Z") + 1))
_LETTERS = _CAPITALS | frozenset(range(ord("a"), ord("z") + 1))

Counts = dict[int, int]


class _Term(NamedTuple):
    """The stem of a word of the question, and a whole word that begins with it."""

    stem: bytes
    word: re.Pattern[bytes]


class _File(NamedTuple):
    """How often each term stands in a file, its path and its name, and how long the file is.

    *named* is the share of the words of its name that are terms.
    """

    path: str
    body: Counts
    in_path: Counts
    in_name: Counts
    named: float
    lines: int
    sections: int
    is_prose: bool


class _Found(NamedTuple):
    """A section, and how often each term stands in its lines, its name and the names around."""

    file: _File
    section: Section
    body: Counts
    own: Counts
    around: Counts
    lines: list[int]


def ranked_sections(
    graph: Graph, query: str, read: Callable[[str], bytes | None], limit: int
) -> tuple[list[SearchItem], bool]:
    """The *limit* sections that *query* is about most likely, and whether there are more."""
    terms = _terms(query)
    found: list[_Found] = []
    for file in graph.artifact.files if terms else ():
        content = read(file.path) if file.status in SEARCHED else None
        if content is not None:
            found += _found_in(graph, file, content, terms)
    best = _spread(_scored(found, query.strip(), len(terms)))
    return [_item(one, read) for one in best[:limit]], len(best) > limit


def _terms(query: str) -> list[_Term]:
    """The stems of the words of *query*, identifiers split, without the words of any question."""
    words = [word.lower() for word in _words(f"{query} {identifier_parts(query)}")]
    kept = [word for word in dict.fromkeys(words) if word not in STOP_WORDS]
    kept = kept or words
    starts = map(_start, kept, stems(kept))
    found = dict.fromkeys(start for start in starts if len(start) >= _SHORTEST)
    # Only what is ASCII is lowered in a file, so that places in it stay what they are.
    plain = (stem.encode() for stem in islice(found, _MOST_TERMS))
    return [_Term(s, re.compile(rb"(?i:%s)[a-z]{0,5}(?![a-z])" % re.escape(s))) for s in plain]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.replace("_", " "))


def _start(word: str, stem: str) -> str:
    """What all forms of *word* begin with: "quer", while the stem of "query" is "queri"."""
    has_other = not word.startswith(stem) or word.endswith(("ies", "ied"))
    return stem.removesuffix("i") if has_other else stem


def _found_in(
    graph: Graph, file: FileRecord, content: bytes, terms: Sequence[_Term]
) -> Iterator[_Found]:
    """The sections of a file that hold a term; its first when only the path does."""
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
    where: dict[int, list[int]] = defaultdict(list)
    for term, at in hits:
        line = bisect_right(ends, at) + 1
        body[owners[line]][term] += 1
        where[owners[line]].append(line)
    counts = Counter(term for term, _ in hits)
    is_prose = file.lang in PROSE
    stem = PurePosixPath(file.path).name.partition(".")[0]
    in_name = _counts(stem, terms)
    named = min(len(in_name) / max(len(_words(stem)), 1), 1)
    known = _File(file.path, counts, in_path, in_name, named, len(lines), len(sections), is_prose)
    for place in body or (0,):
        around, _, name = sections[place].name.rpartition(".")
        own, others = _counts(name, terms), _counts(around, terms)
        yield _Found(known, sections[place], body[place], own, others, where[place])


def _hits(content: bytes, terms: Sequence[_Term]) -> Iterator[tuple[int, int]]:
    """Which term begins where, as a word of prose or inside an identifier."""
    lowered = content.lower()
    for place, term in enumerate(terms):
        at = lowered.find(term.stem)
        while at >= 0:
            before = content[at - 1] if at else 0
            begins = before not in _LETTERS or (
                before not in _CAPITALS and content[at] in _CAPITALS
            )
            if begins and term.word.match(content, at):
                yield place, at
            at = lowered.find(term.stem, at + 1)


def _counts(name: str, terms: Sequence[_Term]) -> Counts:
    return Counter(term for term, _ in _hits(name.encode(), terms)) if name else {}


def _scored(found: Sequence[_Found], question: str, terms: int) -> Iterator[tuple[float, _Found]]:
    files = {one.file.path: one.file for one in found}
    frequencies = Counter(term for one in found for term in one.body)
    total = max(sum(file.sections for file in files.values()), 1)
    counted = ((term, frequencies[term]) for term in range(terms))
    rarity = {term: log(1 + (total - n + 0.5) / (n + 0.5)) for term, n in counted}
    most = sum(rarity[term] for term in frequencies)
    average = sum(_length(one.section) for one in found) / max(len(found), 1)
    average_file = sum(file.lines for file in files.values()) / max(len(files), 1)
    whole = {path: _file_score(file, rarity, average_file) for path, file in files.items()}
    for one in found:
        norm = _K1 * (1 - B + B * _length(one.section) / average)
        score = whole[one.file.path]
        for term in {*one.body, *one.own, *one.around, *one.file.in_path}:
            weighed = (
                _BODY_WEIGHT * one.body.get(term, 0)
                + _NAME_WEIGHT * (term in one.own)
                + _AROUND_WEIGHT * (term in one.around)
                + _PATH_WEIGHT * (term in one.file.in_path)
            )
            score += rarity[term] * weighed / (weighed + norm)
        # The definition of a name that is asked for alone, as if all of its words were found again.
        score += most * (one.section.name.rpartition(".")[2] == question)
        score *= _PROSE_FACTOR if one.file.is_prose else 1
        yield score * (_TEST_FACTOR if is_test(one.file.path) else 1), one


def _length(section: Section) -> int:
    return section.end - section.start + 1


def _file_score(file: _File, rarity: dict[int, float], average: float) -> float:
    norm = _FILE_K1 * (1 - B + B * file.lines / max(average, 1))
    score = 0.0
    for term in {*file.body, *file.in_path}:
        weighed = file.body.get(term, 0) + _FILE_PATH_WEIGHT * (term in file.in_path)
        score += rarity[term] * weighed / (weighed + norm)
    name = file.named * sum(rarity[term] for term in file.in_name)
    return _FILE_SHARE * score + _FILE_NAME_SHARE * name


def _spread(scored: Iterable[tuple[float, _Found]]) -> list[_Found]:
    """Best first: what stands among others about the question, each further one put back."""
    scored = list(scored)
    sums: dict[str, float] = defaultdict(float)
    for score, one in scored:
        sums[one.file.path] += score
    most = _FILE_SECTIONS_SHARE * max((score for score, _ in scored), default=0)
    share = {path: most * total / max(sums.values()) for path, total in sums.items()}
    joined = ((score + share[one.file.path], one) for score, one in scored)
    seen: Counter[str] = Counter()
    spread = []
    for score, one in sorted(joined, key=_rank):
        spread.append((score * _SAME_FILE_FACTOR ** seen[one.file.path], one))
        seen[one.file.path] += 1
    return [one for _, one in sorted(spread, key=_rank)]


def _rank(scored: tuple[float, _Found]) -> tuple[float, str, int]:
    score, one = scored
    return -score, one.file.path, one.section.start


def _item(found: _Found, read: Callable[[str], bytes | None]) -> SearchItem:
    path, section = found.file.path, found.section
    lines = decoded(read(path) or b"").split("\n")
    if section.name or not found.lines:
        line = section.start
        piece = snippet(path, lines, line, min(section.end, line + 4), around=0)
    else:
        line = Counter(found.lines).most_common(1)[0][0]
        piece = snippet(path, lines, line)
    kind = "definition" if section.name else "match"
    shown = range(piece.location.start_line, piece.location.end_line + 1)
    places = tuple(sorted({one for one in found.lines if one in shown})) or (line,)
    return SearchItem(path, line, kind, "text", piece, places)
