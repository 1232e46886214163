"""Which definitions is a question about? Ranked by their words: names first, then what they say.

No index is kept: the words of the question are looked for in all files, which takes a few
milliseconds a megabyte, and what is found is counted by definition and weighed by BM25F (Robertson
and Zaragoza, "The Probabilistic Relevance Framework", 2009, section 3.6).
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from heapq import nsmallest
from itertools import islice
from math import log
from typing import NamedTuple

from judge.codegraph.models import CodeSnippet, Node, SearchItem, SnippetLocation
from judge.codegraph.query.graph import Graph
from judge.codegraph.query.snippets import snippet
from judge.codegraph.query.tests_of import is_test
from judge.codegraph.source_text import decoded
from judge.text.bm25 import B
from judge.text.english import STOP_WORDS, stems
from judge.text.identifiers import identifier_parts

#: A word in a name counts like this many in the body, one in the path or the class like fewer.
_NAME_WEIGHT = 10.0
_PATH_WEIGHT = 1.0
#: Prose and tests speak of what the code does; the code itself is what is looked for.
_TEXT_FACTOR = 0.5
_TEST_FACTOR = 0.4
#: Names of code repeat more than words of prose before they stop telling: prose has 1.2.
_K1 = 4.0
_WORD = re.compile(r"[^\W_]+")
_SHORTEST = 2
#: More than any question has; each is looked for at every word of the repository.
_MOST_TERMS = 24
_TEXT_LINES = 30
_SEARCHED = frozenset({"parsed", "text", "syntax-error"})


class _Section(NamedTuple):
    """A definition without those inside it, or some lines of a text, and what stands in it."""

    file: str
    start: int
    end: int
    name: str
    counts: Counter[int]
    lines: list[int]
    is_definition: bool


def ranked_sections(
    graph: Graph, query: str, read: Callable[[str], bytes | None], limit: int
) -> tuple[list[SearchItem], bool]:
    """The *limit* sections that *query* is about most likely, and whether there are more."""
    terms = _terms(query)
    if not terms:
        return [], False
    pattern = _pattern(terms)
    sections: list[_Section] = []
    for file in graph.artifact.files:
        content = read(file.path) if file.status in _SEARCHED else None
        if content is not None:
            sections += _sections(file.path, decoded(content), _spans(graph, file.path), pattern)
    scored = _scored(sections, terms, sum(1 for _ in graph.nodes()))
    best = nsmallest(limit + 1, scored, key=lambda one: (-one[0], one[1].file, one[1].start))
    items = [_item(section, read) for _, section in best[:limit]]
    return items, len(best) > limit


def _terms(query: str) -> list[str]:
    """The stems of the words of *query*, identifiers split, without the words of any question."""
    words = [
        w.lower() for w in _WORD.findall(f"{query} {identifier_parts(query)}".replace("_", " "))
    ]
    kept = [word for word in dict.fromkeys(words) if word not in STOP_WORDS]
    terms = dict.fromkeys(stem for stem in stems(kept or words) if len(stem) >= _SHORTEST)
    return list(islice(terms, _MOST_TERMS))


def _pattern(terms: Sequence[str]) -> re.Pattern[str]:
    """Where a word of some term begins, in prose or inside an identifier; the group tells which."""
    either = "|".join(f"((?i:{re.escape(term)}[a-z]{{0,5}}))" for term in terms)
    return re.compile(rf"(?:(?<![A-Za-z])|(?<=[a-z0-9])(?=[A-Z]))(?:{either})(?![a-z])")


def _spans(graph: Graph, path: str) -> list[Node]:
    kinds = ("module", "class", "function", "method")
    return [node for node in graph.nodes_of(path) if node.kind in kinds]


def _sections(
    path: str, text: str, nodes: Sequence[Node], pattern: re.Pattern[str]
) -> Iterator[_Section]:
    """The sections of a file that hold a term in their lines, or in their names."""
    owners = _innermost(nodes)
    counts: dict[int, Counter[int]] = {}
    lines: dict[int, list[int]] = {}
    starts = _line_starts(text)
    for match in pattern.finditer(text):
        line = bisect_right(starts, match.start())
        place = owners[line] if line < len(owners) else (line - 1) // _TEXT_LINES
        counts.setdefault(place, Counter())[match.lastindex or 0] += 1
        lines.setdefault(place, []).append(line)
    total = len(starts)
    for place, counted in counts.items():
        if nodes:
            node = nodes[place]
            yield _Section(path, *node.span, node.fqn, counted, lines[place], True)
        else:
            start = place * _TEXT_LINES + 1
            end = min(start + _TEXT_LINES - 1, total)
            yield _Section(path, start, end, "", counted, lines[place], False)


def _innermost(nodes: Sequence[Node]) -> list[int]:
    """The place among *nodes* of the innermost definition around each line, counted from 1."""
    last = max((node.span[1] for node in nodes), default=-1)
    owners = [0] * (last + 1)
    for place, node in sorted(enumerate(nodes), key=lambda one: one[1].span[0] - one[1].span[1]):
        start, end = node.span
        owners[start : end + 1] = [place] * (end + 1 - start)
    return owners


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _scored(
    sections: list[_Section], terms: Sequence[str], total: int
) -> Iterator[tuple[float, _Section]]:
    pattern = _pattern(terms)
    frequencies = Counter(term for section in sections for term in section.counts)
    total = max(total, len(sections))
    rarity = {t: log(1 + (total - n + 0.5) / (n + 0.5)) for t, n in frequencies.items()}
    average = sum(s.end - s.start + 1 for s in sections) / max(len(sections), 1)
    for section in sections:
        counts: Counter[int] = Counter()
        counts.update(section.counts)
        own, outer = _named(section, pattern)
        norm = _K1 * (1 - B + B * (section.end - section.start + 1) / average)
        score = 0.0
        for term, count in counts.items():
            weighed = count + _NAME_WEIGHT * own[term] + _PATH_WEIGHT * outer[term]
            score += rarity[term] * weighed * (_K1 + 1) / (weighed + norm)
        score *= 1 if section.is_definition else _TEXT_FACTOR
        yield score * (_TEST_FACTOR if is_test(section.file) else 1), section


def _named(section: _Section, pattern: re.Pattern[str]) -> tuple[Counter[int], Counter[int]]:
    """How often terms stand in the name of a section, and in the names around it."""
    around, _, name = section.name.rpartition(".")
    own = Counter(m.lastindex or 0 for m in pattern.finditer(name))
    outer = Counter(m.lastindex or 0 for m in pattern.finditer(around or section.file))
    return own, outer


def _item(section: _Section, read: Callable[[str], bytes | None]) -> SearchItem:
    lines = decoded(read(section.file) or b"").split("\n")
    if section.is_definition:
        shown = lines[section.start - 1 : min(section.end, section.start + 4)]
        location = SnippetLocation(section.file, section.start, section.start + len(shown) - 1)
        piece, line = CodeSnippet("\n".join(shown), location), section.start
    else:
        line = Counter(section.lines).most_common(1)[0][0]
        piece = snippet(section.file, lines, line)
    kind = "definition" if section.is_definition else "match"
    return SearchItem(section.file, line, kind, "text", piece, tuple(dict.fromkeys(section.lines)))
