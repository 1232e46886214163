"""The bytes of a page become the one paragraph of it that we quote.

`decoding.py`, `markup_limits.py`, `page_blocks.py` and `lead_paragraph.py`, in that order; text in,
text out. Safe to run in a thread. `read.py` reads pages whole with the same steps.
"""

from itertools import chain

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from judge.judging.pages.lead_paragraph import choose_paragraph, find_content, is_prose
from judge.judging.pages.markup_hints import is_hidden, read_name
from judge.judging.pages.page_blocks import read_page
from judge.judging.pages.plain import clean_text, cut_text
from judge.text.decoding import decode_html
from judge.text.markup_limits import limit_markup

_MOST_MATCHES = 10
"""Elements read for one selector: `*` would read a page once for each level of nesting."""


def extract_snippet(body: bytes, *, charset: str, selector: str = "", max_words: int = 80) -> str:
    """Return the paragraph to quote from *body*, on one line, or "" when there is none.

    Never raises. *charset* is the HTTP header's. The first text that *selector* (CSS) finds wins; a
    selector that is wrong or finds no text is passed over, and the page is read the ordinary way.
    A text of more than *max_words* words is cut there and ends in `...`.
    """
    tree = parse_markup(limit_markup(decode_html(body, charset)))
    text = (selected_text(tree, selector) if selector else "") or _first_paragraph(tree)
    return cut_text(clean_text(text), max_words)


def first_paragraph(html: str | bytes, url: str = "") -> str | None:  # noqa: ARG001
    """Return the first real paragraph of *html* in full, or None; the benchmark's signature.

    Never raises. *url* is taken because extractors that this one is compared with need it.
    """
    markup = decode_html(html) if isinstance(html, bytes) else html
    return clean_text(_first_paragraph(parse_markup(limit_markup(markup)))) or None


def parse_markup(markup: str) -> LexborHTMLParser:
    """Return the tree of *markup*, which `limit_markup` has bounded."""
    # As bytes, since a lone surrogate in a str would be an error.
    return LexborHTMLParser(markup.encode("utf-8", "replace"))


def _first_paragraph(tree: LexborHTMLParser) -> str:
    if tree.body is None:
        return ""
    found = choose_paragraph(find_content(read_page(tree.body)))
    return found.text if found else ""


def selected_text(tree: LexborHTMLParser, selector: str) -> str:
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
