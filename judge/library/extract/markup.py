"""Parses HTML after cheap counts in linear time, so that no page keeps the parser busy for long.

lexbor takes quadratic time for many nested tags, for many attributes or names, and copies unclosed
formatting such as `<b id=1>` into every later paragraph. It cannot be interrupted.
"""

import re
from collections import Counter

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from judge.errors import UnreadableDocument
from judge.library.extract.text_blocks import PICTURE

MAX_BYTES = 2 * 1024 * 1024
"""As much as the fetcher accepts; longer markup is cut."""

MAX_TAGS = 30_000
"""Longer markup is cut there. The largest of 313 real pages has 12,861."""

MAX_DEPTH = 500
"""Elements open at a time, by a count that hostile pages can deceive by a quarter of their tags,
which costs less than a second. Real pages stay under 60."""

MAX_ATTRIBUTES = 64
"""Of one tag; tags of 632 real pages have up to 28."""

MAX_NAMES = 8_000
"""Different names of tags and attributes; no real page has more than 5,000."""

MAX_FORMATTING = 100
"""Different formatting tags; those of a page with more lose their attributes."""

_UNREAD = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|template|noscript|textarea|svg|math)\b.*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""What is never quoted, to its end or to the end of the page."""

_NAME = rb"[^\s/>][^\s/>=]*+"
_VALUE = rb"(?:\s*+=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^\s>\"'][^\s>]*+)?+)?+"
_NAMES = re.compile(rb"(" + _NAME + rb")" + _VALUE)
_TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*+)((?:[\s/]++|" + _NAME + _VALUE + rb")*+)")
"""A tag as the HTML standard defines it; possessive, so that it never backtracks."""

_SELF_CLOSING = frozenset(
    b"area base br col embed hr img input link meta source track wbr "
    b"p li dt dd option tr td th thead tbody tfoot colgroup html head body".split()
)
"""Elements that are void, or end where the next of their kind begins."""

_FORMATTING = re.compile(rb"(?i)<(b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/][^>]*+")


def limit_markup(html: bytes) -> bytes:
    """*html* without scripts and comments, cut to the limits; raises UnreadableDocument."""
    # The parser takes a vertical tab for a letter and the patterns for a space.
    html = re.sub(PICTURE.encode(), b"", html).replace(b"\v", b" ")
    # An empty comment does not split a word, and keeps its neighbours from forming a tag.
    html = _UNREAD.sub(lambda found: b" " if found[1] else b"<!---->", html)[:MAX_BYTES]
    html = b"<".join(html.split(b"<", MAX_TAGS)[:MAX_TAGS])
    if len({tag[0] for tag in _FORMATTING.finditer(html)}) > MAX_FORMATTING:
        html = _FORMATTING.sub(rb"<\1", html)
    _check_tags(html)
    return html


def _check_tags(html: bytes) -> None:
    known: set[bytes] = set()
    opened: Counter[bytes] = Counter()
    depth = 0
    for slash, tag, attributes in _TAG.findall(html):
        names, name = _NAMES.findall(attributes), tag.lower()
        known.update(names, [name])
        if name not in _SELF_CLOSING and (not slash or opened[name]):
            step = -1 if slash else 1
            opened[name] += step
            depth += step
        if len(names) > MAX_ATTRIBUTES or len(known) > MAX_NAMES:
            raise UnreadableDocument("Its markup has too many attributes.")
        if depth > MAX_DEPTH:
            raise UnreadableDocument("Its markup is nested too deeply.")


def parse_markup(html: bytes) -> LexborHTMLParser:
    """The tree of *html*, without events: these compare each `<option>` with all others."""
    return LexborHTMLParser(html, options=LexborDocumentOptions.WO_EVENTS)
