"""The bytes of a page become the one paragraph of it that we quote.

`decode.py`, `taming.py`, `blocks.py` and `paragraph.py`, in that order; text in, text out.
Safe to run in a thread. `retrieve.py` calls it with what the fetcher brought.
"""

import re
import unicodedata
from itertools import chain

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from judge.judging.pages.lead_paragraph import choose_paragraph, is_prose
from judge.judging.pages.markup_hints import is_hidden, read_name
from judge.judging.pages.page_blocks import read_page
from judge.text.decoding import decode_html
from judge.text.markup_limits import limit_markup

_MAX_WORD_CHARACTERS = 100
"""No word of prose is longer; a page may hold one of 2 MiB."""

_MOST_MATCHES = 10
"""Elements read for one selector: `*` would read a page once for each level of nesting."""

_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that show nothing though Unicode counts them as letters or marks."""


def extract_snippet(body: bytes, *, charset: str, selector: str = "", max_words: int = 80) -> str:
    """Return the paragraph to quote from *body*, on one line, or "" when there is none.

    Never raises. *charset* is the HTTP header's. The first text that *selector* (CSS) finds wins; a
    selector that is wrong or finds no text is passed over, and the page is read the ordinary way.
    A text of more than *max_words* words is cut there and ends in `...`.
    """
    tree = _parse(decode_html(body, charset))
    text = (_selected(tree, selector) if selector else "") or _first_paragraph(tree)
    return _cut(_clean(text), max_words)


def first_paragraph(html: str | bytes, url: str = "") -> str | None:  # noqa: ARG001
    """Return the first real paragraph of *html* in full, or None; the benchmark's signature.

    Never raises. *url* is taken because extractors that this one is compared with need it.
    """
    markup = decode_html(html) if isinstance(html, bytes) else html
    return _clean(_first_paragraph(_parse(markup))) or None


def _parse(markup: str) -> LexborHTMLParser:
    # As bytes, since a lone surrogate in a str would be an error.
    return LexborHTMLParser(limit_markup(markup).encode("utf-8", "replace"))


def _first_paragraph(tree: LexborHTMLParser) -> str:
    found = choose_paragraph(read_page(tree.body)) if tree.body is not None else None
    return found.text if found else ""


def _selected(tree: LexborHTMLParser, selector: str) -> str:
    """Return the first paragraph, else the first text at all, of what *selector* matches."""
    try:
        matches = tree.css(selector)[:_MOST_MATCHES]
    except (SelectolaxError, UnicodeEncodeError):
        return ""
    shown = (match for match in matches if _is_shown(match))
    blocks = list(chain.from_iterable(read_page(match).blocks for match in shown))
    paragraphs = (block.text for block in blocks if is_prose(block))
    return next(paragraphs, blocks[0].text if blocks else "")


def _is_shown(node: LexborNode) -> bool:
    """Tell whether neither *node* nor anything around it is hidden.

    The body doesn't count: some sites hide it until a script has run.
    """
    around: LexborNode | None = node
    while around is not None and around.tag not in {"body", "html"}:
        attributes = around.attributes
        if is_hidden(attributes) or read_name(attributes.get("class") or "").is_hidden:
            return False
        around = around.parent
    return True


def _clean(text: str) -> str:
    """Return *text* on one line, without characters that are not seen (they can hide orders)."""
    text = _UNSEEN.sub("", text)
    if not text.isprintable():
        text = "".join(map(_printed, text))
    return " ".join(text.split())


def _printed(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":  # zero-width, bidirectional, soft hyphen, tags
        return ""
    return " " if category == "Cc" else character


def _cut(text: str, max_words: int) -> str:
    words = [word[:_MAX_WORD_CHARACTERS] for word in text.split(" ", max_words)]
    return " ".join(words) if len(words) <= max_words else " ".join(words[:max_words]) + "..."
