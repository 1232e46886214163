"""Chooses the block that is a page's first real paragraph.

Fourth and last step of extraction. A block is prose by its words; the content is where most of the
prose is; the result is the first paragraph there, or a lead between it and the title.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from judge.library.extract.page_blocks import HEADING_TAGS, PageBlock, PageBlocks, is_aside

_SENTENCE_END = re.compile(r"[.!?\u2026\u3002][\"'\u201d\u2019\u00bb)\]\ufffd]*(?:\s|$)|[:\u2014]$")
"""U+FFFD may be a quotation mark that a wrong encoding lost."""

_BOILERPLATE = (
    "use cookies/uses cookies/our cookies/accept cookies/essential cookies/additional cookies"
    "/enable javascript/your browser/official website/.gov website/affiliate links"
    "/earn a commission/a small commission/advertising partners/our newsletter/to your inbox"
    "/sign up for our/sign up to our/subscribe now/by clicking/you agree to our/, you agree to"
    "/\u00a9/originally published/is licensed under/copyright holder/all rights reserved"
    "/available in welsh/lorem ipsum/in your inbox/page is also available"
    "/guide is also available/help us improve/help us to improve/feedback will help"
    "/not legal advice/please donate/our phone lines/our chat is/readspeaker"
    "/leave this site/tracks online/general information only/substitute for legal"
    "/substitute for medical/informational purposes/information purposes/constitute legal advice"
    "/to date with all changes/known outstanding effects/editorial standards"
    "/traditional custodians/traditional owners/products featured/{{/{%/<%/${"
).split("/")
"""Phrases that sites repeat on every page, and what a script should have filled in; guidance says
"if you agree to a plan" too."""

_BYLINE = re.compile(
    r"[Bb][Yy]:? [A-Z][^\s,]* (?:[a-z]{1,3} )?[A-Z]"
    r"|(?i:(?:written|reviewed|words|story|posted) by\b|by:?$)"
)
"""Two capitals are required, since guidance says "By law" and "By post"."""

_LABEL = re.compile(
    r"\W*(?i:(?:posted|published|(?:page |last |\w+ly )*(?:updated|reviewed|checked)|photo|image)\b"
    r"|(?:credit|source|read more|related|see also):)"
)
"""How dates and captions begin; long prose may begin so too."""

MIN_WORDS = 8
"""Shorter sentences are mostly labels and calls to action."""

MAX_LINK_SHARE = 0.6
"""Share of link text above which a block or a list is navigation."""

_ENOUGH_CHARACTERS = 300
"""If less text than this is left, likely boilerplate is used as well."""

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
    asides: list[bool]
    """Whether each element is likely not the page's own text."""
    heading: PageBlock | None
    """The `<h1>` that names the page, after which the content begins."""
    takes_asides: bool
    """Whether too little text is left without them."""

    @property
    def title(self) -> int:
        """The order of the heading, -1 for the start of a page without one."""
        return self.heading.order if self.heading else -1

    def contains(self, block: PageBlock) -> bool:
        """Whether *block* is the page's own text."""
        return block.order > self.title and (self.takes_asides or not self.asides[block.element])


def locate_content(page: PageBlocks, head_title: str) -> Content:
    """Where *page*'s own text is: after the title, outside boilerplate."""
    prose = [block for block in page.blocks if is_prose(block)]
    headings = [block for block in page.blocks if block.tag == "h1"]
    told = head_title.casefold()
    sites = [b for b in headings if told.endswith(text := b.text.casefold()) and text != told]
    if sites and sites == headings:  # Old templates have the name of the site as the <h1>.
        below = (b for b in page.blocks[sites[-1].order :] if b.tag == "h2")
        headings = [b for b in below if told.startswith(b.text.casefold())] or headings
    roles = zip(page.tags, page.attributes)
    main = next((at for at, (tag, a) in enumerate(roles) if "main" in (tag, a.get("role"))), 0)
    place = {block: told.find(block.text.casefold()) for block in headings}
    heading = min(place, key=lambda b: (place[b] < 0, b.element < main, place[b]), default=None)
    title = heading.order if heading else -1
    asides = _asides(page, prose)
    own = [block for block in prose if block.order > title]
    sure = _size(block for block in own if not asides[block.element])
    return Content(page, prose, asides, heading, sure < min(_ENOUGH_CHARACTERS, _size(own) / 2))


def choose_paragraph(content: Content) -> PageBlock | None:
    """The first real paragraph of *content*, or None when it has none."""
    page = content.page
    prose = (block for block in content.prose if content.contains(block))
    candidates = [b for b in prose if b.word_count >= 60 or not is_boilerplate(b.text)]
    if not candidates:
        return None
    candidates = _paragraphs(page, candidates)
    start = _content_start(page, candidates)
    chosen = start
    if content.heading:  # On guidance pages the sentence to quote often precedes the content.
        before = (block for block in candidates if block.order < start.order)
        chosen = next((block for block in before if block.tag not in HEADING_TAGS), start)
    following = next((block for block in candidates if block.order > chosen.order), None)
    may_be_teaser = chosen.order < start.order or chosen.tag != "p"
    if following and may_be_teaser and _is_teaser(page, chosen, following):
        return following
    return chosen


def is_prose(block: PageBlock) -> bool:
    """Whether *block* reads like a paragraph, mostly by its words."""
    text, words = block.text, block.word_count
    is_linked = block.link_characters >= MAX_LINK_SHARE * len(text)
    if words < MIN_WORDS or block.tag in {"pre", "h1"} or is_linked:
        return False
    if block.tag in HEADING_TAGS and text[-1] not in ".!":
        return False  # but a heading that is a whole sentence may be the lead
    return _SENTENCE_END.search(text) is not None and not (words < 25 and is_label(text))


def is_label(text: str) -> bool:
    """Whether *text* begins like a byline, a date or a caption."""
    return bool(_BYLINE.match(text) or _LABEL.match(text))


def is_boilerplate(text: str) -> bool:
    """Whether *text* contains a phrase that sites repeat, or in short tells to print its page."""
    lowered, is_short = text.lower(), text.count(" ") < 20
    return (is_short and " this page" in text) or any(p in lowered for p in _BOILERPLATE)


def _asides(page: PageBlocks, prose: Sequence[PageBlock]) -> list[bool]:
    """Whether each element is an aside or in one; none is that has much prose or the title."""
    sizes = _sizes(page, prose)
    titled: set[int] = set()
    for block in page.blocks:
        at = block.element
        while block.tag == "h1" and at not in titled:
            titled.add(at)
            at = page.parents[at]
    enough = _TRUSTED_SHARE * sizes[0]
    asides: list[bool] = []
    for index, parent in enumerate(page.parents):
        may_be = sizes[index] < enough and index not in titled
        is_inside = bool(asides) and asides[parent]
        asides.append(is_inside or (may_be and is_aside(page.tags[index], page.attributes[index])))
    return asides


def _paragraphs(page: PageBlocks, prose: list[PageBlock]) -> list[PageBlock]:
    """The `<p>`, headings and sibling `<div>` blocks if `<p>` hold most text, else all."""
    tags = {"p", *HEADING_TAGS}
    marked = [block for block in prose if block.tag in tags]
    if _size(marked) < _PARAGRAPH_SHARE * _size(prose):
        return prose
    parents = {page.parents[block.element] for block in marked if block.tag == "p"}
    return [
        b for b in prose if b.tag in tags or (b.tag == "div" and page.parents[b.element] in parents)
    ]


def _content_start(page: PageBlocks, prose: list[PageBlock]) -> PageBlock:
    """The first block of the smallest element that holds nearly all the prose."""
    sizes = _sizes(page, prose)
    enough = _CONTENT_SHARE * sizes[0]
    content = max(index for index, size in enumerate(sizes) if size >= enough)
    return next(block for block in prose if block.element >= content)


def _is_teaser(page: PageBlocks, paragraph: PageBlock, following: PageBlock) -> bool:
    """Whether a byline stands between *paragraph* and the next paragraph."""

    def is_byline(block: PageBlock) -> bool:
        nodes = (page.attributes[at] for at in (block.element, page.parents[block.element]))
        classes = " ".join(attributes.get("class") or "" for attributes in nodes).lower()
        is_named = "author" in classes or "byline" in classes
        return is_named or _BYLINE.match(block.text) is not None

    return any(map(is_byline, page.blocks[paragraph.order + 1 : following.order]))


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
