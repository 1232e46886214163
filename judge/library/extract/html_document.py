"""HTML -> text with headings in the form of Markdown, which is then read as Markdown.

Line numbers are those of that text, since readers never see the lines of the HTML.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape

from selectolax.lexbor import LexborNode

from judge.library.extract.markdown import read_markdown
from judge.library.extract.markup import limit_markup, parse_markup
from judge.library.extract.text_blocks import DocumentText
from judge.text.decoding import html_as_utf8

_SKIPPED = (
    "script, style, template, noscript, svg, nav, footer, aside, iframe, [hidden], "
    "form:not(:has(h1, main, article))"
)
"""Not a form around the whole page, as ASP.NET has it."""

_TITLE = re.compile(rb"<title\b[^<>]{0,200}>([^<]{0,500})</title", re.IGNORECASE)
_MAIN = "main, [role=main]"
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_BLOCKS = frozenset(
    "address article aside blockquote body caption dd details div dl dt fieldset figcaption figure "
    "footer header hr html legend li main menu ol p section summary table tbody td tfoot th thead "
    "tr ul".split()
)
_ITEMS = frozenset({"li", "dd"})
_LINES = "br, div, p"
"""What ends a line in a heading or in `pre`; highlighters make each line of code a `div`."""

_BACKTICKS = re.compile("`+")


def read_html(body: bytes, charset: str = "") -> DocumentText:
    """The text of a page in blocks, menus and the like left out.

    *charset* is that of the HTTP header, if any.
    """
    markup = html_as_utf8(body, charset)
    tree = parse_markup(limit_markup(markup))
    for node in tree.css(_SKIPPED):
        node.decompose()
    root = tree.css_first(_MAIN) or tree.body
    # Without front matter, or a page could set its own tags.
    reading = read_markdown(_as_markdown(root) if root else "", has_front_matter=False)
    # `limit_markup` removes the title of the head, so it is taken from the original.
    title = _TITLE.search(markup)
    page_title = " ".join(unescape(title[1].decode("utf-8", "replace")).split()) if title else ""
    return replace(reading, title=reading.title or page_title or None, language="")


def _as_markdown(root: LexborNode) -> str:
    paragraphs: list[str] = []
    words: list[str] = []
    prefix = ""

    def flush(following: str = "") -> None:
        nonlocal prefix
        text = " ".join("".join(words).split())
        if text:
            paragraphs.append(prefix + text)
        words.clear()
        prefix = following

    for tag, text in _events(root):
        if tag in _HEADINGS:
            flush()
            if heading := " ".join(text.split()):
                paragraphs.append(f"{_HEADINGS[tag]} {heading}")
        elif tag == "pre":
            flush()
            paragraphs.append(_fenced(text))
        elif tag == "":
            words.append(text)
        else:
            flush("- " if tag in _ITEMS else "")
    flush()
    return "\n\n".join(paragraphs)


def _events(root: LexborNode) -> Iterator[tuple[str, str]]:
    """(tag, text) in reading order: texts have the tag "", and all other tags end a paragraph."""
    stack: list[LexborNode | str] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node, ""
            continue
        tag = node.tag or ""
        if tag == "-text":
            yield "", node.text_content or ""
        elif tag == "br":
            yield "", " "
        elif tag == "pre" or tag in _HEADINGS:
            for line in node.css(_LINES):
                line.insert_after("\n")
            yield tag, node.text()
        elif not tag.startswith(("-", "!", "_")):
            if tag in _BLOCKS:
                yield tag, ""
                stack.append("/")
            stack.extend(reversed(list(node.iter(include_text=True))))


def _fenced(text: str) -> str:
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.strip(chr(10))}\n{fence}"
