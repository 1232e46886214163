"""What a source's selector finds in the tree of a page."""

from itertools import chain

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from judge.judging.pages.lead_paragraph import is_prose
from judge.judging.pages.markup_hints import is_hidden
from judge.judging.pages.page_blocks import read_page

_MOST_MATCHES = 10
"""Elements read for one selector: `*` would read a page once for each level of nesting."""


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
        if is_hidden(around.attributes):
            return False
        around = around.parent
    return True
