"""Parses a whole HTML page: its lead, its passages, and what it says about itself."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from html import unescape

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from judge.errors import UnreadableDocument
from judge.library.extract.lead_paragraph import Content, choose_paragraph, is_prose, locate_content
from judge.library.extract.markup import limit_markup, parse_markup
from judge.library.extract.page_blocks import is_hidden, is_lead, read_blocks
from judge.library.extract.page_passages import (
    MAX_WORDS,
    PagePassage,
    clean_text,
    cut_text,
    read_passages,
)
from judge.library.extract.page_status import (
    RegionNames,
    find_updated,
    is_withdrawn,
    nations_of,
    read_nations,
)
from judge.text.decoding import html_as_utf8

MAX_TITLE_WORDS = 40

_MAX_METAS = 200

_MAX_MATCHES = 10
"""Elements read per selector: `*` would read a page once for each level of nesting."""

_REFRESH = re.compile(r"\s*[0-3]?\d(?:\.\d*)?\s*[;,\s]\s*\S")

_HEAD_TITLE = re.compile(rb"<title[^<>]{0,200}>([^<]{0,1000})", re.IGNORECASE)
_SITE_SUFFIX = re.compile(r"\s+[|\u2013\u2014\u00b7\u00bb-]\s+[^|\u2013\u2014\u00b7\u00bb]{1,60}$")


@dataclass(frozen=True, slots=True)
class ReadPage:
    """What was read from a page; nothing to quote if it is withdrawn or has moved."""

    title: str = ""
    lead: str | None = None
    """The first real paragraph, cut to what may be quoted."""
    passages: tuple[PagePassage, ...] = ()
    updated: date | None = None
    """The publisher's date."""
    nations: tuple[str, ...] = ()
    """Where the page says it applies; empty if it does not say."""
    withdrawn: bool = False
    has_moved: bool = False
    """Whether a `<meta>` sends the reader elsewhere at once."""
    head_title: str = ""
    """The text of its `<title>`."""


def read_html(
    body: bytes,
    *,
    charset: str = "",
    selector: str = "",
    max_words: int = MAX_WORDS,
    has_description: bool = False,
    regions: RegionNames = (),
) -> ReadPage:
    """The page parsed from the HTML in *body*; never raises.

    The first text that *selector* (CSS) matches is the lead; an invalid selector or one without a
    match is ignored. If the site *has_description*, its paragraph of class "lead" only describes
    the page, and the paragraph after it is used.
    """
    markup = html_as_utf8(body, charset)
    try:
        limited = limit_markup(markup)
    except UnreadableDocument:
        return ReadPage()
    tree = parse_markup(limited)
    page = read_blocks(tree.body)
    metas, head_title = _metas(tree), read_head_title(markup)
    content = locate_content(page, head_title)
    facts = ReadPage(
        title=_title(content, metas, head_title),
        updated=find_updated(metas, markup, limited),
        nations=read_nations(content, regions),
        withdrawn="govuk:withdrawn" in metas or is_withdrawn(content, head_title),
        head_title=cut_text(head_title, MAX_TITLE_WORDS),
        has_moved=_has_moved(tree),
    )
    if facts.withdrawn or facts.has_moved:
        return facts
    passages = read_passages(page, content)
    chosen = _selected_text(tree, selector) if selector else ""
    lead = chosen or _lead(content, regions, has_description=has_description)
    return replace(facts, lead=cut_text(clean_text(lead), max_words) or None, passages=passages)


def _has_moved(tree: LexborHTMLParser) -> bool:
    """Whether a `<meta http-equiv=refresh>`, which some pages have in the body, leads elsewhere."""
    nodes = tree.css("meta[http-equiv][content]")[:_MAX_METAS]
    return any(
        (node.attributes["http-equiv"] or "").lower() == "refresh"
        and _REFRESH.match(node.attributes["content"] or "")
        for node in nodes
    )


def _lead(content: Content, regions: RegionNames, *, has_description: bool) -> str:
    paragraph = choose_paragraph(content)
    if paragraph is None:
        return ""
    is_note = paragraph.word_count < 25 and nations_of(paragraph.text, regions)
    if is_note or (has_description and is_lead(content.page.attributes[paragraph.element])):
        after = (block for block in content.prose if block.order > paragraph.order)
        paragraph = next(filter(content.contains, after), paragraph)
    return paragraph.text


def _selected_text(tree: LexborHTMLParser, selector: str) -> str:
    """The first paragraph, else the first text, of what *selector* matches."""
    try:
        matches = tree.css(selector)[:_MAX_MATCHES]
    except (SelectolaxError, UnicodeEncodeError):
        return ""
    blocks = [b for match in matches if _is_shown(match) for b in read_blocks(match).blocks]
    paragraphs = (block.text for block in blocks if is_prose(block))
    return next(paragraphs, blocks[0].text if blocks else "")


def _is_shown(node: LexborNode | None) -> bool:
    """Whether neither *node* nor any ancestor is hidden, but for the body, which scripts reveal."""
    while node is not None and node.tag != "body":
        if is_hidden(node.attributes):
            return False
        node = node.parent
    return True


def _title(content: Content, metas: Mapping[str, str], head_title: str) -> str:
    """The page's title: its `<h1>`, else `og:title`, else `<title>` without the site."""
    heading = content.heading
    title = heading.text if heading else metas.get("og:title") or _SITE_SUFFIX.sub("", head_title)
    return cut_text(clean_text(title).rstrip("\u00b6 "), MAX_TITLE_WORDS)


def read_head_title(markup: bytes) -> str:
    """The text of `<title>` in *markup*, "" if there is none."""
    match = _HEAD_TITLE.search(markup)
    return clean_text(unescape(match[1].decode("utf-8", "replace"))) if match else ""


def _metas(tree: LexborHTMLParser) -> dict[str, str]:
    """The content of each `<meta>` by its name in lower case; the first one wins."""
    metas: dict[str, str] = {}
    nodes = tree.head.css("meta[content]") if tree.head is not None else []
    for node in nodes[:_MAX_METAS]:
        attributes = node.attributes
        names = map(attributes.get, ("name", "property", "itemprop", "http-equiv"))
        if name := next(filter(None, names), None):
            metas.setdefault(name.lower(), attributes["content"] or "")
    return metas
