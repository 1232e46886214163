"""HTML -> text with headings in the form of Markdown, which is then read as Markdown.

The page is read as an approved page is, by `page_blocks`. Line numbers are those of the Markdown,
since readers never see the lines of the HTML.
"""

import re
from dataclasses import replace

from judge.library.extract.html_page import read_head_title
from judge.library.extract.markdown import read_markdown
from judge.library.extract.markup import limit_markup, parse_markup
from judge.library.extract.page_blocks import PageBlock, read_blocks
from judge.library.extract.text_blocks import DocumentText
from judge.text.decoding import html_as_utf8

_SKIPPED = "aside, form:not(:has(h1, main, article))"
"""Not a form around the whole page, as ASP.NET has it."""

_MAIN = "main, [role=main]"
_PREFIXES = {**{f"h{level}": "#" * level + " " for level in range(1, 7)}, "li": "- ", "dd": "- "}
_BACKTICKS = re.compile("`+")


def read_html(body: bytes, charset: str = "") -> DocumentText:
    """The text of a page in blocks, menus and the like left out.

    *charset* is that of the HTTP header, if any.
    """
    markup = html_as_utf8(body, charset)
    tree = parse_markup(limit_markup(markup))
    for node in tree.css(_SKIPPED):
        node.decompose()
    page = read_blocks(tree.css_first(_MAIN) or tree.body, enough=len(markup))
    # Without front matter, or a page could set its own tags.
    text = "\n\n".join(map(_as_markdown, page.blocks))
    reading = read_markdown(text, has_front_matter=False)
    # `limit_markup` removes the title of the head, so it is taken from the original.
    return replace(reading, title=reading.title or read_head_title(markup) or None, language="")


def _as_markdown(block: PageBlock) -> str:
    if block.tag != "pre":
        return _PREFIXES.get(block.tag, "") + block.text
    longest = max(map(len, _BACKTICKS.findall(block.lines)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{block.lines}\n{fence}"
