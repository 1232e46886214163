"""Chooses the block that is a page's first real paragraph.

Fourth and last step of extraction. A block is prose by its words; the content is where most of the
prose is; the result is the first paragraph there, or a lead between it and the title.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from judge.library.extract.page_blocks import (
    HEADING_TAGS,
    Boilerplate,
    PageBlock,
    PageBlocks,
    is_byline,
    read_boilerplate,
)

_SENTENCE_END = re.compile(
    r"[.!?\u2026\u3002:]"
    r"(?:(?<!:)(?<![ap]\.m\.)[\"'\u201d\u2019\u00bb)\]\ufffd]*(?:\s|$)|(?<=:)$)"
)
"""U+FFFD may be a quotation mark that a wrong encoding lost; "9 a.m." does not end a sentence.

The marks are one character class at the start: an alternation there would be tried everywhere.
"""

_BY_SOMEBODY = r"[Bb][Yy]:? [A-Z][^\s,]* (?:[a-z]{1,3} )?[A-Z]"
"""Requires two capitals, since guidance says "By law" and "By post"."""

_NON_PROSE_OPENING = re.compile(
    rf"\W*(?:{_BY_SOMEBODY}|(?i:posted\s|published\b|written by|"
    r"(?:(?:this )?page (?:was )?)?(?:last )?(?:updated|reviewed)\b|"
    r"(?:photo(?:graph)?|image)s?\b|credit:|source:|share (?:this|on|via)\b|\d+ min"
    r"|(?:medically|clinically|legally|expert|fact)[ -](?:reviewed|checked)\b"
    r"|(?:read more|read next|related|see also|also read|watch|listen)(?: articles?| stories)?:))"
)
"""How bylines, dates, captions, credits and related items begin; long prose may begin so too."""

_BOILERPLATE = (
    *("use cookies", "uses cookies", "our cookies", "accept cookies", "essential cookies"),
    *("additional cookies", "enable javascript"),
    *("your browser", "official website", ".gov website", "affiliate links", "earn a commission"),
    *("a small commission", "advertising partners", "our newsletter", "to your inbox"),
    *("sign up for our", "sign up to our", "subscribe now", "by clicking", "you agree to our"),
    *(", you agree to", "\u00a9", "originally published", "is licensed under", "copyright holder"),
    *("all rights reserved", "available in welsh", "lorem ipsum", "in your inbox", "was this page"),
    *("page is also available", "guide is also available", "help us improve", "not legal advice"),
    *("general information only", "substitute for legal", "substitute for medical"),
    *("{{", "{%", "<%", "${"),  # what a script should have filled in
)
"""Phrases that sites repeat on every page, in lower case.

They are long because guidance says "if you agree to a plan" and "sign up to a service" too.
"""

_BYLINE = re.compile(rf"{_BY_SOMEBODY}|(?i:(?:written|reviewed|words|story|posted) by\b|by:?$)")
"""Bylines."""

MIN_WORDS = 8
"""Shorter sentences are mostly labels and calls to action."""

_MAX_LINK_SHARE = 0.6
"""Share of link text above which a block is navigation."""

_ENOUGH_CHARACTERS = 300
"""If less text than this is left, likely boilerplate is used as well."""

_MAIN_CHARACTERS = 200
"""`<main>` is trusted if it holds this much prose; some sites leave it nearly empty."""

_CONTENT_SHARE = 0.9
"""The content is the smallest element with this share of the prose."""

_TRUSTED_SHARE = 0.4
"""An element with this share of the page's prose is not boilerplate, whatever its class says."""

_PARAGRAPH_SHARE = 0.7
"""If `<p>` elements hold this share of the prose, other blocks are cards, lists and boxes."""


@dataclass(frozen=True, slots=True)
class Content:
    """Which part of a page is its own text, and which of its blocks are prose."""

    page: PageBlocks
    prose: list[PageBlock]
    boilerplate: list[Boilerplate]
    inside: range
    """The indexes of the trusted elements: those of `<main>`, or all."""
    heading: PageBlock | None
    """The `<h1>` that names the page; some sites use another for their own name."""
    title: int
    """Order of the block after which the content begins, -1 for the start of the page."""
    max_boilerplate: Boilerplate
    """The highest level of an element that a lead may be in."""

    def contains(self, block: PageBlock, max_level: Boilerplate = Boilerplate.NONE) -> bool:
        """Whether *block* is the page's own text, up to the boilerplate level *max_level*."""
        return (
            block.order > self.title
            and block.element in self.inside
            and self.boilerplate[block.element] <= max(max_level, self.max_boilerplate)
        )


def locate_content(page: PageBlocks, head_title: str) -> Content:
    """Where *page*'s own text is: in `<main>`, after the title, outside boilerplate.

    *head_title* is the text of `<title>`.
    """
    prose = [block for block in page.blocks if is_prose(block)]
    inside = _main(page, prose)
    trusted = [block for block in prose if block.element in inside]
    heading = _heading(page, inside, head_title.casefold())
    title = heading.order if heading else -1
    after = [block for block in page.blocks[title + 1 :] if block.element in inside]
    boilerplate = _boilerplate_by_element(
        page, prose, {block.element for block in [*prose, *after]}
    )
    sure = (b for b in trusted if b.order > title and boilerplate[b.element] == Boilerplate.NONE)
    most = Boilerplate.NONE if _size(sure) >= _ENOUGH_CHARACTERS else Boilerplate.SOME
    return Content(page, prose, boilerplate, inside, heading, title, most)


def choose_paragraph(content: Content) -> PageBlock | None:
    """The first real paragraph of *content*, or None when it has none."""
    chosen = _choose(content, content.prose)
    if chosen is None or _is_quotable(chosen):
        return chosen
    return _choose(content, [block for block in content.prose if _is_quotable(block)])


def _choose(content: Content, prose: list[PageBlock]) -> PageBlock | None:
    page = content.page
    candidates = [block for block in prose if content.contains(block)]
    if not candidates:
        return None
    candidates = _paragraphs(page, candidates)
    start = _content_start(page, candidates)
    chosen = _lead(content, prose, candidates, start) or start
    following = next((block for block in candidates if block.order > chosen.order), None)
    may_be_teaser = chosen.order < start.order or chosen.tag != "p"
    if following and may_be_teaser and _is_teaser(page, chosen, following):
        return following
    return chosen


def is_prose(block: PageBlock) -> bool:
    """Whether *block* reads like a paragraph, mostly by its words."""
    text, words = block.text, block.word_count
    if words < MIN_WORDS or block.tag in {"pre", "h1"} or block.link_share >= _MAX_LINK_SHARE:
        return False
    if block.tag in HEADING_TAGS and text[-1] not in ".!":
        return False  # but a heading that is a whole sentence may be the lead
    if not _SENTENCE_END.search(text):
        return False
    return not (words < 25 and has_non_prose_opening(text))


def _is_quotable(block: PageBlock) -> bool:
    """Whether *block*, which is prose, belongs to this page and not to the site's template."""
    return block.word_count >= 60 or not is_boilerplate(block.text)


def has_non_prose_opening(text: str) -> bool:
    """Whether *text* begins like a byline, a date, a caption or a credit."""
    return _NON_PROSE_OPENING.match(text) is not None


def is_boilerplate(text: str) -> bool:
    """Whether *text* contains a phrase that sites repeat on every page."""
    lowered = text.lower()
    return any(phrase in lowered for phrase in _BOILERPLATE)


def _boilerplate_by_element(
    page: PageBlocks, prose: Sequence[PageBlock], elements: set[int]
) -> list[Boilerplate]:
    """Each element's level: the higher of its own and its parent's.

    One with much of the prose has no level of its own, one with the title only FULL. Only
    *elements* and their ancestors are looked at, since most of a page is menus.
    """
    sizes = _sizes(page, prose)
    titled = _with_ancestors(page, {block.element for block in page.blocks if block.tag == "h1"})
    enough = _TRUSTED_SHARE * sizes[0]
    boilerplate = [Boilerplate.NONE] * len(page.tags)
    for index in sorted(_with_ancestors(page, elements)):
        level = boilerplate[page.parents[index]]
        if sizes[index] < enough:
            own = read_boilerplate(page.tags[index], page.attributes[index])
            if own > level and (own == Boilerplate.FULL or index not in titled):
                level = own
        boilerplate[index] = level
    return boilerplate


def _with_ancestors(page: PageBlocks, elements: set[int]) -> set[int]:
    """*elements* and all their ancestors."""
    ancestors: set[int] = set()
    for element in elements:
        at = element
        while at not in ancestors:
            ancestors.add(at)
            at = page.parents[at]
    return ancestors


def _main(page: PageBlocks, prose: list[PageBlock]) -> range:
    """The elements of the first `<main>`, or all elements if it holds too little prose."""
    mains = (
        index
        for index, (tag, attributes) in enumerate(zip(page.tags, page.attributes, strict=True))
        if tag == "main" or attributes.get("role") == "main"
    )
    main = next(mains, 0)
    parents = enumerate(page.parents[main + 1 :], main + 1)
    inside = range(main, next((at for at, parent in parents if parent < main), len(page.tags)))
    inside_main = (block for block in prose if block.element in inside)
    return inside if _size(inside_main) >= _MAIN_CHARACTERS else range(len(page.tags))


def _heading(page: PageBlocks, inside: range, head_title: str) -> PageBlock | None:
    """The `<h1>` that comes first in *head_title* (case-folded), else the first `<h1>`."""
    headings = [block for block in page.blocks if block.tag == "h1"]
    positions = [(head_title.find(block.text.casefold()), block) for block in headings]
    named = min((pair for pair in positions if pair[0] >= 0), default=(0, None))[1]
    believed = (block for block in headings if block.element in inside)
    return named or next(chain(believed, headings), None)


def _paragraphs(page: PageBlocks, prose: list[PageBlock]) -> list[PageBlock]:
    """The `<p>`, headings and sibling `<div>` blocks if `<p>` hold most text, else all."""
    marked = [block for block in prose if block.tag == "p" or block.tag in HEADING_TAGS]
    if _size(marked) < _PARAGRAPH_SHARE * _size(prose):
        return prose
    around = {page.parents[block.element] for block in marked if block.tag == "p"}
    return [
        block
        for block in prose
        if block.tag == "p"
        or block.tag in HEADING_TAGS
        or (block.tag == "div" and page.parents[block.element] in around)
    ]


def _content_start(page: PageBlocks, prose: list[PageBlock]) -> PageBlock:
    """The first block of the smallest element that holds nearly all the prose."""
    sizes = _sizes(page, prose)
    enough = _CONTENT_SHARE * sizes[0]
    content = max(index for index, size in enumerate(sizes) if size >= enough)
    return next(block for block in prose if block.element >= content)


def _lead(
    content: Content, prose: list[PageBlock], candidates: list[PageBlock], start: PageBlock
) -> PageBlock | None:
    """The paragraph between the title and the start of the content, if any.

    On guidance pages it is the sentence to quote, and it is often outside the content element.
    """
    page, title = content.page, content.title
    if title < 0:
        return None
    beside = page.parents[page.blocks[title].element]
    for block in prose:
        is_near = title < block.order < min(start.order, title + 4)
        is_beside = block.tag == "p" and page.parents[block.element] == beside
        if is_near and is_beside and content.boilerplate[block.element] == Boilerplate.NONE:
            return block
    between = (block for block in candidates if title < block.order < start.order)
    return next((block for block in between if block.tag not in HEADING_TAGS), None)


def _is_teaser(page: PageBlocks, paragraph: PageBlock, following: PageBlock) -> bool:
    """Whether a byline stands between *paragraph* and the next paragraph."""
    between = page.blocks[paragraph.order + 1 : following.order]
    return any(_is_byline(page, b) for b in between)


def _is_byline(page: PageBlocks, block: PageBlock) -> bool:
    around = page.parents[block.element]
    named = is_byline(page.attributes[block.element]) or is_byline(page.attributes[around])
    return named or _BYLINE.match(block.text) is not None


def _size(blocks: Iterable[PageBlock]) -> int:
    return sum(len(block.text) for block in blocks)


def _sizes(page: PageBlocks, blocks: Sequence[PageBlock]) -> list[int]:
    """How many characters of *blocks* each element holds, descendants included."""
    sizes = [0] * len(page.tags)
    for block in blocks:
        sizes[block.element] += len(block.text)
    for index in range(len(sizes) - 1, 0, -1):
        sizes[page.parents[index]] += sizes[index]
    return sizes
