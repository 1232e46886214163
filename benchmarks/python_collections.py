"""Judged collections from Python's documentation: its FAQ, and "What's New".

`apt-get install python3.11-doc` brings it, or `apt-get download` and `dpkg -x` into a folder. The
documents are the sections of all pages. A question of the FAQ has to find its answer; a paragraph
of "What's New", the sections of the functions and classes that it links to.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from benchmarks.judged import Judged

QUESTIONS = 300
LEAST_WORDS = 20
"""Of a section."""

NEWS_WORDS = (12, 80)


@dataclass
class Section:
    """The text below a heading without its subsections; links refer to its `anchors`."""

    name: str
    page: str
    heading: str
    text: str = ""
    anchors: set[str] = field(default_factory=set)
    paragraphs: list[tuple[str, list[str]]] = field(default_factory=list)
    """Each paragraph with the URLs that it links to."""


def python_documentation(root: Path) -> Iterator[Judged]:
    """The collections that the pages below *root* allow; none if there are no pages."""
    pages = sorted(root.glob("usr/share/doc/python3*/html/[!_]*/**/*.html"))
    sections = [section for path in pages for section in _sections(path)]
    if sections:
        yield faq(sections)
        yield news(sections)


def faq(sections: list[Section]) -> Judged:
    """Questions of the FAQ as queries for their answers among all sections."""
    made = Judged("python, faq")
    for one in sections:
        if len(one.text.split()) >= LEAST_WORDS:
            asks = one.page.startswith("faq/") and one.heading.endswith("?")
            made.documents[one.name] = ("" if asks else one.heading, one.text)
    for one in sections:
        if one.page.startswith("faq/") and one.heading.endswith("?"):
            made.ask(one.name, one.heading, {one.name})
    return made


def news(sections: list[Section]) -> Judged:
    """Paragraphs about a release as queries for the sections that they link to."""
    made = Judged("python, news")
    held = [one for one in sections if not one.page.startswith("whatsnew/")]
    where = {f"{one.page}#{anchor}": one.name for one in held for anchor in one.anchors}
    for one in held:
        if len(one.text.split()) >= LEAST_WORDS:
            made.documents[one.name] = (one.heading, one.text)
    told = [one for one in sections if re.match(r"whatsnew/3\.\d+\.html", one.page)]
    paragraphs = sorted({text: links for one in told for text, links in one.paragraphs}.items())
    random.Random(6).shuffle(paragraphs)
    for number, (text, links) in enumerate(paragraphs):
        if NEWS_WORDS[0] <= len(text.split()) <= NEWS_WORDS[1] and len(made.grades) < QUESTIONS:
            linked = {link.removeprefix("../") for link in links}
            made.ask(f"n{number}", text, {where[link] for link in linked if link in where})
    return made


def _sections(path: Path) -> Iterator[Section]:
    page = f"{path.parent.name}/{path.name}"
    body = LexborHTMLParser(path.read_text(encoding="utf-8")).css_first("div.body")
    for node in body.css("section[id]") if body else ():
        title = node.css_first("h1, h2, h3, h4, h5")
        if title is None:
            continue
        heading = title.text().rstrip("¶").strip()
        one = Section(f"{page}#{node.id}", page, heading, anchors={node.id or ""})
        for child in node.iter():
            if child.tag != "section" and child.mem_id != title.mem_id:
                _read(child, one)
        yield one


def _read(node: LexborNode, into: Section) -> None:
    into.text += " ".join(node.text(separator="").replace("¶", "").split()) + "\n\n"
    into.anchors |= {one.id for one in node.css("[id]") if one.id}
    for paragraph in [node, *node.css("p")] if node.tag == "p" else node.css("p"):
        links = [link.attributes.get("href") or "" for link in paragraph.css("a.reference")]
        into.paragraphs.append((" ".join(paragraph.text().split()), links))
