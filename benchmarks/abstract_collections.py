"""Judged collections of abstracts and of long questions: RFCs that cite one another, GNU manuals.

    apt-get install doc-rfc emacs-common-non-dfsg glibc-doc-reference gcc-12-doc gawk-doc octave-doc

(of Debian's `non-free`; or `apt-get download` and `dpkg -x` into a folder). An RFC is its title,
authors and abstract, if it has one; relevant to it are the RFCs that its text names, with twice the
grade if often. Relevant to a paragraph of a manual are the sections that it refers to.
"""

import gzip
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.judged import Judged

RFCS, PARAGRAPHS = 240, 300
"""How many are used as queries."""

LEAST_WORDS, MOST_WORDS = 15, 350
"""Of an abstract; a longer text is more than an abstract."""

ASKED_WORDS = (20, 100)
"""Of a paragraph that is used as a query."""

CITED_BY_ALL = 250
"""RFCs cited more often than this do not count: they are cited by convention, not by topic."""

OFTEN = 5

_ENTRY = re.compile(r"(?m)^(\d{4}) (.*(?:\n     .*)*)")
_AUTHORS = re.compile(
    r"(.*?)\. ((?:[A-Z]\.[-A-Z. ]*[^.]*?(?:, Ed\.)?(?:, )?)+)\. [A-Z][a-z]+ \d{4}"
)
_PAGE_BREAK = re.compile(r"\n*[^\n]*\[Page \w+\]\s*\f?\s*\n(?:RFC[^\n]*\n)?")
_ABSTRACT = re.compile(r"(?mi)^ {0,8}abstract\s*\n((?:[ \t]*\n|[ \t]+\S.*\n)+)")
_POINTER = re.compile(r"\(?\*[Nn]ote\s+([^:]+):(?::|\s+([^:.,]+)[.,])\)?")


@dataclass
class Rfc:
    title: str
    authors: str
    abstract: str
    cites: Counter[str]


def abstracts(root: Path) -> Iterator[Judged]:
    """The collections that the documents below *root* allow; none if there are no documents."""
    if (root / "usr/share/doc/RFC").exists():
        yield from rfcs(root)
    sections = dict(_sections(root))
    if len(sections) > PARAGRAPHS:
        yield manual_paragraphs(sections)


def rfcs(root: Path) -> Iterator[Judged]:
    """The same RFCs with three kinds of queries: abstract, title, and a sentence with both."""
    found = dict(_rfcs(root / "usr/share/doc/RFC"))
    cited = Counter(name for rfc in found.values() for name in rfc.cites)
    for rfc in found.values():
        kept = {n: k for n, k in rfc.cites.items() if n in found and cited[n] <= CITED_BY_ALL}
        rfc.cites = Counter(kept)
    may_ask = [
        name
        for name, rfc in sorted(found.items())
        if len(rfc.abstract.split()) >= 2 * LEAST_WORDS and 4 <= len(rfc.cites) <= 40
    ]
    random.Random(11).shuffle(may_ask)
    asking = may_ask[:RFCS]
    forms: dict[str, Callable[[Rfc], str]] = {
        "abstracts": lambda rfc: _words(rfc.abstract, 110),
        "abstracts, by title": lambda rfc: rfc.title,
        "abstracts, in a sentence": lambda rfc: (
            f"I am interested in articles on {rfc.title.lower()}, especially where they concern "
            f"{_words(rfc.abstract, 25)}"
        ),
    }
    for form, asked in forms.items():
        made = Judged(form)
        for name, rfc in found.items():
            if name not in asking:
                made.documents[name] = (rfc.title, f"{rfc.authors}\n\n{rfc.abstract}".strip())
        for name in asking:
            rfc = found[name]
            made.ask(name, asked(rfc), set(rfc.cites), least=3)
            for other in made.grades.get(name, {}):
                made.grades[name][other] = 2 if rfc.cites[other] >= OFTEN else 1
        yield made


def _rfcs(folder: Path) -> Iterator[tuple[str, Rfc]]:
    texts = {re.sub(r"\D", "", path.name).zfill(4): path for path in folder.glob("*/rfc*.txt.gz")}
    for name, entry in _ENTRY.findall(_text(folder / "rfc-index.txt.gz")):
        told = " ".join(entry.split()).partition(" (Format")[0]
        if told.startswith("Not Issued"):
            continue
        parts = _AUTHORS.match(told)
        title, authors = parts.groups() if parts else (told.partition(". ")[0], "")
        text = _text(texts[name]) if name in texts else ""
        cites = Counter(number.zfill(4) for number in re.findall(r"\bRFC[ -]?(\d{3,4})\b", text))
        del cites[name]
        yield name, Rfc(title, authors, _abstract(text), cites)


def _abstract(text: str) -> str:
    found = _ABSTRACT.search(_PAGE_BREAK.sub("\n", text))
    abstract = " ".join(found[1].split()) if found else ""
    return abstract if LEAST_WORDS <= len(abstract.split()) <= MOST_WORDS else ""


Section = tuple[str, str]
"""A manual, and the name of a node in it."""


def manual_paragraphs(sections: dict[Section, tuple[str, str]]) -> Judged:
    """Paragraphs without their cross-references as queries for the sections these name."""
    asked: dict[Section, tuple[str, set[str]]] = {}
    paragraphs = [
        (section, paragraph)
        for section, (_, text) in sections.items()
        for paragraph in re.split(r"\n\s*\n", text)
    ]
    random.Random(5).shuffle(paragraphs)
    for section, paragraph in paragraphs:
        pointed = {
            (section[0], " ".join((other or name).split()))
            for name, other in _POINTER.findall(paragraph)
        }
        named = {"/".join(one) for one in pointed - {section} if one in sections}
        plain = " ".join(re.sub(r"[‘’'`\"“”]", " ", _POINTER.sub("", paragraph)).split())
        is_asked = section in asked or len(asked) == PARAGRAPHS
        if named and not is_asked and ASKED_WORDS[0] <= len(plain.split()) <= ASKED_WORDS[1]:
            asked[section] = (plain, named)
    made = Judged("manual sections")
    for section, (heading, text) in sections.items():
        if section not in asked:
            made.documents["/".join(section)] = (heading, re.sub(r"\*[Nn]ote\s+", "see ", text))
    for section, (question, named) in asked.items():
        made.ask("/".join(section), question, named)
    return made


def _sections(root: Path) -> Iterator[tuple[Section, tuple[str, str]]]:
    """Heading and text of each node of 20 words or more."""
    manuals: dict[str, list[Path]] = defaultdict(list)
    for path in (root / "usr/share/info").rglob("*.info*.gz"):
        manuals[path.name.partition(".info")[0]].append(path)
    for name, paths in sorted(manuals.items()):
        whole = "\n".join(map(_text, sorted(paths, key=lambda path: (len(path.name), path.name))))
        for node in whole.split("\x1f"):
            head = re.match(r"\s*File: [^,]+,\s+Node: ([^,\n]+),[^\n]*\n", node)
            body = node[head.end() :].partition("\n* Menu:")[0].strip("\n") if head else ""
            heading, _, text = body.partition("\n")
            text = re.sub(r"\A\s*[*=.-]+\s*$", "", text, count=1, flags=re.MULTILINE)
            if head and len(text.split()) >= 20:
                plain = re.sub(r"^[\dA-Z.]*\d[\d.]* +", "", heading).strip()
                yield (name, head[1].strip()), (plain, text)


def _text(path: Path) -> str:
    with gzip.open(path, "rt", errors="replace") as file:
        return file.read()


def _words(text: str, most: int) -> str:
    return " ".join(text.split()[:most])
