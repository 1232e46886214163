"""Markdown and HTML -> blocks: headings, fences, paragraphs and lists, with their lines.

Linear in the length; other markup stays part of a paragraph, so that nothing is lost. HTML is read
as an approved page is and written as Markdown first; lines are those of the Markdown.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from html import unescape
from itertools import groupby
from json import dumps
from string import ascii_lowercase, ascii_uppercase
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from judge.library.extract import page_blocks
from judge.library.extract.html_page import read_head_title
from judge.library.extract.markup import MAX_BYTES, MAX_TAGS, limit_markup, parse_markup
from judge.library.extract.page_blocks import PageBlock, PageBlocks, is_aside, is_skipped
from judge.library.extract.text_blocks import (
    PICTURE,
    DocumentText,
    TextBlock,
    below_header,
    block_of,
    fenced,
    split_lines,
)
from judge.library.scopes.scopes import parse_moment
from judge.text.decoding import html_as_utf8, xhtml_as_html

MAX_LINES = 200
MAX_CHARACTERS = 5_000
"""A dotted key of TOML takes memory quadratic in its depth: 40 MB for so many characters."""

_UNQUOTED = re.compile(r"(?m)^(\w[\w -]*: +)(?![\"'>|#&]|[\[{][^\[\]{}]*[\]}]\s*$)([^\0-\x1f]*\S)")
"""A value without quotation marks that is not a list."""

_ENDS = {"---": ("---", "..."), "+++": ("+++",)}


def read_front_matter(lines: Sequence[str]) -> tuple[int, DocumentText]:
    """The lines of the YAML or TOML at the top of *lines*, 0 without any, and what it tells."""
    rule = lines[0].rstrip()
    block = lines[1:MAX_LINES]
    ends = (at for at, line in enumerate(block) if line.rstrip() in _ENDS.get(rule, ()))
    end = next(ends, 0)
    fields = _fields("\n".join(block[:end]), is_toml=rule == "+++")
    if not fields:
        return 0, DocumentText(())
    known = {name.lower(): value for name, value in fields.items()}
    named = known.get("tags")
    named = named.split(",") if isinstance(named, str) else _texts(named)
    tags = tuple(dict.fromkeys(filter(None, (" ".join(tag.split()).lstrip("#") for tag in named))))
    title = next(iter(_texts(known.get("title"))), None)
    return end + 2, DocumentText((), title, tags=tags, date=_moment(known.get("date")))


def _fields(text: str, *, is_toml: bool) -> Mapping[str, object]:
    """The fields of *text*; none when it is something else, too long or nested too deep."""
    import yaml  # type: ignore[import-untyped]  # noqa: PLC0415 - most documents have none

    if not text or len(text) > MAX_CHARACTERS:
        return {}
    with suppress(tomllib.TOMLDecodeError, RecursionError):
        if is_toml:
            return tomllib.loads(text)
        # Many write `title: Part 1: The start` or `title: [Draft] Lease`, which is not valid YAML.
        quoted = _UNQUOTED.sub(lambda field: field[1] + dumps(field[2], ensure_ascii=False), text)
        for attempt in (text, quoted):
            with suppress(yaml.YAMLError):
                # Not libyaml, which crashes the process where lists stand in one another too deep.
                fields = yaml.load(attempt, yaml.BaseLoader)  # noqa: S506 - it makes only text
                return fields if isinstance(fields, dict) else {}
    return {}


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str) and text]


def _moment(value: object) -> datetime | None:
    """*value* as a time, in UTC if it names no zone; None when it is not a time."""
    try:
        return parse_moment(str(value))
    except (ValueError, OverflowError):
        return None


_HEADING = re.compile(r" {0,3}(?:(#{1,6})(?:[ \t]+(.*))?|(?is:<h([1-6])\b[^<>]*>(.*)</h\3>)\s*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_DELIMITER = re.compile(r"\s*+\|?(?:\s*+:?-++:?\s*+\|)++(?:\s*+:?-++:?)?\s*+")
_URL = r"\((?:<[^<>]{0,2000}>|(?:[^()\s]|\([^()\s]{0,500}\)){0,2000}(?:[ \t]+\"[^\"]{0,200}\")?)\)"
_LINK = re.compile(
    rf"!?(?<!\\)\[([^\[\]]{{0,500}})\](?:{_URL}|(?<=\D\])\[[^\[\]]{{0,200}}\])"
    r"|!?\[\[(?:[^\[\]|]{0,500}\|)?([^\[\]|]{1,500})\]\]"
)
_MARKS = re.compile(
    r"\\([!-/:-@\[-`{-~])|\*+(?=\S)|(?<=\S)\*+|`+|~~|(?<!\w)_+|(?<!_)_++(?!\w)|\[\^[^\[\]\s]{1,50}\]"
    r"|\s*\{[#.:][^{}]{0,200}\}\s*|<!--(?:(?!<!--).)*?-->"
    r"|</?(?:a|b|br|code|em|i|img|kbd|picture|source|span|strong|sub|sup)\b[^<>]{0,500}>"
)
_ANCHOR = re.compile(r"^#\s+|\s*[¶\u200b]\s*$|\s+[#§]\s*$")
"""What generators put before or after a heading, to link to it."""

_NO_COMMENT = re.compile(r"`[^`]*`|(?<=\S)[ \t]*<!--(?:(?!<!--).)*?-->")
"""What opens no comment that hides lines: code, and a note at the end of a line."""


class _Heading(NamedTuple):
    level: int
    text: str


_Segment = tuple[int, int, _Heading | None, bool]
"""The first line, the line after the last, their heading if they are one, and whether code."""


def read_markdown(text: str, *, has_front_matter: bool = True) -> DocumentText:
    """The blocks of *text*; its title is the front matter's, or the first heading of level 1."""
    lines = split_lines(re.sub(PICTURE, "", text))
    end, front = read_front_matter(lines) if has_front_matter else (0, DocumentText(()))
    # Front matter alone is the text.
    segments = list(_segments(lines, end)) or [(0, end, None, False)][: end > 0]
    headings = (heading for _, _, heading, _ in segments if heading and heading.text)
    title = front.title or next((h.text for h in headings if h.level == 1), None)
    blocks = tuple(_blocks(lines, segments, title))
    return replace(front, blocks=blocks, title=title, language="markdown")


def without_markup(text: str) -> str:
    """*text* without the markup of links, of pictures within them, of emphasis and of code."""
    unlinked = " ".join(_LINK.sub(r"\1\2", _LINK.sub(r"\1\2", text)).split())
    return _ANCHOR.sub("", unescape(" ".join(_MARKS.sub(r"\1", unlinked).split())))


def _blocks(
    lines: Sequence[str], segments: Sequence[_Segment], title: str | None
) -> Iterator[TextBlock]:
    """The blocks of *segments* with their section and chapter; *title* is never a chapter."""
    path: list[_Heading] = []
    section = chapter = None
    for start, end, heading, is_code in segments:
        if heading and heading.text:
            path = [above for above in path if above.level < heading.level] + [heading]
            section = heading.text
            others = {title, section}
            chapter = next((h.text for h in reversed(path[:-1]) if h.text not in others), None)
        opens = heading is not None
        traits = {"section": section, "chapter": chapter, "starts_passage": opens}
        rules = (at for at in range(start + 1, end - 1) if _DELIMITER.fullmatch(lines[at]))
        if rule := 0 if is_code else next(rules, 0):
            rows = [block_of(lines, at, at + 1, **traits) for at in range(rule - 1, end)]
            first, *more = below_header(rows[2:], rows[:2])
            text = "\n".join((*lines[start : rule - 1], first.text))  # with its introduction
            yield from (first._replace(text=text, start_line=start + 1), *more)
        else:
            yield block_of(lines, start, end, **traits, is_heading=opens, is_code=is_code)


def _segments(lines: Sequence[str], at: int) -> Iterator[_Segment]:
    """The paragraphs, headings and fences from line *at* on."""
    start = at
    last = max((number for number, line in enumerate(lines) if "-->" in line), default=-1)
    while at < len(lines):
        whole, line = lines[at], lines[at].strip()
        if at <= last and "<!--" in line and "<!--" in _NO_COMMENT.sub("", line):
            end = next(end + 1 for end in range(at, len(lines)) if "-->" in lines[end])
            is_alone = line.startswith("<!--") and lines[end - 1].rstrip().endswith("-->")
            if is_alone and start < at:
                yield start, at, None, False
            start, at = end if is_alone else start, end
            continue
        end = _end_of_heading(lines, at)
        fence = _FENCE.match(whole)
        heading = _HEADING.fullmatch("\n".join(lines[at:end]))
        is_line = at - start == 1 and lines[start].lstrip()[:2] not in {"- ", "* ", "+ ", "> "}
        underline = _UNDERLINE.fullmatch(whole) if is_line else None
        if start < at and (fence or heading or not line):
            yield start, at, None, False
        if fence:
            end = _end_of_fence(lines, at, fence[1])
            yield at, end, None, True
            at = start = end
            continue
        if heading:
            words = (heading[2] or heading[4] or "").split()
            is_closed = words and not words[-1].strip("#")  # as in `## Title ##`
            title = without_markup(" ".join(words[:-1] if is_closed else words))
            yield at, end, _Heading(len(heading[1] or "") or int(heading[3]), title), False
            at = start = end
            continue
        at += 1
        if underline:
            level = 1 if underline[1][0] == "=" else 2
            yield start, at, _Heading(level, without_markup(lines[start])), False
            start = at
        elif not line:
            start = at
    if start < at:
        yield start, at, None, False


def _end_of_heading(lines: Sequence[str], at: int) -> int:
    """The line after *at*, or after the end of a heading in HTML, which may hold a logo."""
    within = range(at, min(at + 30, len(lines))) if lines[at].lstrip()[:2].lower() == "<h" else ()
    return next((end + 1 for end in within if "</h" in lines[end].lower()), at + 1)


def _end_of_fence(lines: Sequence[str], at: int, mark: str) -> int:
    """The line after the one that closes the fence opened at *at*, or after the last line."""
    for end in range(at + 1, len(lines)):
        closing = lines[end].strip()
        if len(closing) >= len(mark) and not closing.strip(mark[0]):
            return end + 1
    return len(lines)


_ASIDE = "aside,form:not(:has(h1,main,article)),[role=doc-backlink],[data-tag-name],.mw-editsection"
"""Not a form around the whole page, as ASP.NET has it."""

_MAIN = "main, [role=main]"

MAX_OPTIONS = 30
"""Of a list to choose from; longer ones are of countries or years."""

MAX_CELL_WORDS = 60
"""Of a cell of a table of data; others are for the layout, as those with headings are."""

_WHOLE = frozenset({"pre", "h1", "h2", "h3", "h4", "h5", "h6"})
_JOINER = "\u2060"
"""A word joiner, which passages lose, keeps text from being read as markup, or tells a number."""

_ROMAN = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx"
_NUMBERS = dict(
    zip("aAiI", (ascii_lowercase, ascii_uppercase, _ROMAN.split(), _ROMAN.upper().split()))
)
_PREFIXES = {**{f"h{level}": "#" * level + " " for level in range(1, 7)}, "li": "- ", "dd": "- "}


def read_html(body: bytes, charset: str = "") -> DocumentText:
    """The text of a page in blocks, menus and the like left out."""
    markup = html_as_utf8(body, charset)
    if b"xhtml" in markup[:1000].lower():
        markup = xhtml_as_html(markup)
    limited = limit_markup(markup)
    tree = parse_markup(limited)
    _reveal(tree)
    _number_lists(tree)
    _keep_main(tree)
    page = page_blocks.read_blocks(tree.body, enough=len(markup))
    # Without front matter, or a page could set its own tags.
    text = "\n\n".join(_texts_of(page))
    reading = read_markdown(text, has_front_matter=False)
    # `limit_markup` removes the title of the head, so it is taken from the original.
    title = reading.title or read_head_title(markup).strip("-") or None
    is_cut = len(limited) == MAX_BYTES or limited.count(b"<") == MAX_TAGS - 1
    warnings = ("Only its beginning was read, since it is too long. Split it.",) if is_cut else ()
    return replace(reading, title=title, language="", warnings=warnings)


def _reveal(tree: LexborHTMLParser) -> None:
    """Make text of what readers see at another moment: tabs, options, descriptions."""
    for caption in tree.css("caption, figcaption:not([aria-hidden=true]), legend, li > label"):
        if captioned := caption.parent:
            captioned.insert_before(caption.text())
    for cell in tree.css("td:empty, th:empty"):
        cell.insert_child("–")  # Else the rest of its row would be shifted.
    controls = (node.attributes.get("aria-controls") or "" for node in tree.css("[aria-controls]"))
    controlled = {name for names in controls for name in names.split()}
    for panel in tree.css("[hidden], [role=tabpanel], [id][aria-hidden], [id][style]"):
        is_shown_later = (panel.attributes.get("hidden") or "").lower() == "until-found"
        is_panel = panel.attributes.get("role") == "tabpanel" or panel.id in controlled
        if is_panel or is_shown_later:
            for name in {"hidden", "aria-hidden", "style"} & panel.attributes.keys():
                del panel.attrs[name]
    for choice in tree.css("select"):
        options = (option.text(strip=True) for option in choice.css("option")[:MAX_OPTIONS])
        choice.replace_with(f" {', '.join(filter(None, options))} ")
    for picture in tree.css("picture, img"):
        image = picture if picture.tag == "img" else picture.css_first("img")
        if image and (described := (image.attributes.get("alt") or "").strip()):
            picture.replace_with(f" {described} ")


def _number_lists(tree: LexborHTMLParser) -> None:
    """Write before each item of a numbered list its number, as readers see it."""
    for numbered in tree.css("ol"):
        names = _NUMBERS.get(numbered.attributes.get("type") or "", "")
        start = (numbered.attributes.get("start") or "")[:6]
        items = (item for item in numbered.iter() if item.tag == "li")
        for number, item in enumerate(items, int(start) if start.isdecimal() else 1):
            inner = next(item.iter(), item)
            if first := (inner if inner.tag in {"p", "div"} | _WHOLE else item).child:
                name = names[number - 1] if 0 < number <= len(names) else number
                first.insert_before(f"{_JOINER}{name}. ")


def _keep_main(tree: LexborHTMLParser) -> None:
    """Remove what is not its own, and what stands before the main part of the page."""
    for other in tree.css(_ASIDE):
        other.decompose()
    main = tree.css_first(_MAIN)
    node: LexborNode | None = main if main and main.text(strip=True) else None
    while node is not None and node.tag != "body":
        while (before := node.prev) is not None:
            before.decompose()
        after = node.next
        while after is not None:
            following, attributes = after.next, after.attributes or {}
            if is_skipped(attributes) or is_aside(after.tag or "", attributes):
                after.decompose()
            after = following
        node = node.parent


def _texts_of(page: PageBlocks) -> Iterator[str]:
    """The blocks of *page* as Markdown; a table of short cells is one, with a line for each row."""
    rows, tables = _around(page, "tr"), _around(page, "table")
    for table, group in groupby(page.blocks, lambda block: tables[block.element]):
        blocks = [*group]
        cells = [[*row] for _, row in groupby(blocks, lambda block: rows[block.element])]
        is_short = all(b.word_count <= MAX_CELL_WORDS and b.tag not in _WHOLE for b in blocks)
        if table and is_short and len(blocks) > len(cells):
            lines = [f"| {' | '.join(block.text for block in row)} |" for row in cells]
            yield "\n".join([lines[0], "|---" * len(cells[0]) + "|", *lines[1:]])
        else:
            yield from (_as_markdown(block) for block in blocks)


def _around(page: PageBlocks, tag: str) -> list[int]:
    """For each element the nearest around it with this *tag*, or itself; else 0."""
    found = [0]
    for at in range(1, len(page.tags)):
        found.append(at if page.tags[at] == tag else found[page.parents[at]])
    return found


def _as_markdown(block: PageBlock) -> str:
    if block.tag == "pre":
        return fenced(block.lines)
    own = _JOINER if block.text[0] in "#`~=-<|" else ""
    is_numbered = block.text[0] == _JOINER and block.tag not in _WHOLE
    prefix = "" if is_numbered else _PREFIXES.get(block.tag, own)
    return prefix + block.text.lstrip(_JOINER).replace("<!--", f"<{_JOINER}!--")
