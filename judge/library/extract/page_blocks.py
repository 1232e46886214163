"""Flattens a page's tree of elements into a list of text blocks, each with its enclosing element.

A name of a class is listed if on 255 real pages the text under it was more often junk than content.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from selectolax.lexbor import LexborNode

Attributes = Mapping[str, str | None]

LINE_BREAKS = frozenset({"br", "img"})

SKIPPED_TAGS = frozenset(
    "script style noscript noframes noembed template svg math iframe object embed canvas video "
    "audio picture map br select option datalist button textarea input img nav footer dialog head "
    "title figcaption caption legend label menu progress meter rp rt del s strike".split()
) | {"-comment", ""}
"""Elements whose text is not prose of the page: code, controls, navigation, captions, struck-out
text. The last two are the parser's names for comments and for instructions such as `<?php`."""

INLINE_TAGS = frozenset(
    "a abbr acronym b bdi bdo big cite code data dfn em font i ins kbd mark nobr q ruby samp "
    "small span strong sub sup time tt u var wbr".split()
)
"""Elements that do not interrupt a line; every other element begins and ends a block."""

HEADING_TAGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "summary"})

_BOILERPLATE_TAGS = frozenset({"aside", "form", "header", "figure", "pre", "address"})

_SKIPPED_ROLES = frozenset(
    "navigation contentinfo search dialog alertdialog menu menubar toolbar tooltip".split()
)

_BOILERPLATE_WORDS = frozenset(
    "navbar navigation menu megamenu footer sidebar masthead toolbar tooltip dropdown modal popup "
    "share sharing social comment comments related recommended popular trending newsletter promo "
    "ad ads advert advertisement sponsor sponsored announcement subscribe signup login byline "
    "author caption credit credits tag tags meta metadata pagination pager survey feedback "
    "disclaimer disclosure copyright licence license footnote footnotes notification cookie "
    "cookies cookiebanner consent gdpr onetrust breadcrumb breadcrumbs".split()
)
"""Words of a class or id that mark text as rarely the page's own."""

_LEAD_WORDS = frozenset({"lead", "summary"})
"""Class words of the descriptive paragraph that guidance pages show under their title."""

_SCREEN_READER_CLASS = re.compile("sr-only|visually-?hidden|screen-reader-text|off-?screen")

_CSS_SPACE = re.compile(r"/\*[^*]{0,99}\*/| ?!important| ?([:;,(/]) ?")
_HIDING_STYLE = re.compile(
    r";(?:display:none|(?:content-)?visibility:(?:hidden|collapse)|clip:rect\([01]\D|scale:0;"
    r"|(?:left|top):-\d{3}|(?:margin-(?:left|top)|right|bottom|inset):-(?:\d{4}|99\d)"
    r"|font:(?:[^;]* )?0(?:px)?[/ ]|font-size:(?:0*\.?0+(?:[a-z%]|;)|(?:1|0?\.\d+)px|0?\.[0-2])"
    r"|text-indent:(?:-\d{3}|\d{3}%)|width:[01](?:px)?;|zoom:0?\.[0-2]|filter:[^;]*opacity\(0%?\)"
    r"|transform:[^;]*(?:translate\w{0,2}\(-(?:\d{4}|\d{3}(?:%|v))|scale[xy]?\(0[,)]|rotate[xy]\(90deg)"
    r"|clip-path:(?:inset\((?:[5-9]\d%|[^)]*\b100%)|(?:circle|ellipse)\(0(?![.\d])"
    r"|polygon\([\s0,px%]*\)))"
)
"""Zero opacity or height does not count: scripts reveal such text on scrolling or unfolding (of 298
real pages two would lose their lead)."""

_COLOURS = re.compile(r"(?<=;)(background|[\w-]*color):([^;]+)")
_CLEAR = re.compile(
    r"transparent|#(?:...0|.{6}00)|(?:rgb|hsl)a?\((?:(?:[^,]*,){3}|[^,]*/)0*\.?0+%?\)"
)
_WHITE = re.compile(
    r"(?<=:)(?:#f{3,4}|#(?:f[b-f]){3}(?:ff)?|rgba?\((?:(?:255|100%)[\s,]?){3}(?:[,/]1)?\)"
    r"|hsl\([^;:)]*100%\))(?=;)"
)

_HIDING_CLASSES = frozenset(
    "d-none hidden is-hidden u-hidden invisible display-none uk-hidden w3-hide sf-hidden "
    "element-invisible element-hidden ng-hide show-for-sr visible-print-block print-only".split()
)
_SHOWING_CLASS = re.compile(
    r"(?:^|\s)(?:(?:sm|md|lg|xl|2xl|xxl):(?:block|inline|flex|grid|table|contents|visible|"
    r"not-)|d-(?:sm|md|lg|xl|xxl)-(?!none)|(?:js|no-js)\b)"
)
"""A class that shows on some screens what another one hides on the rest."""


def is_aside(tag: str, attributes: Attributes) -> bool:
    """Whether the element's text is likely not the page's own, by its tag, class and id."""
    name = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower()
    return tag in _BOILERPLATE_TAGS or not _BOILERPLATE_WORDS.isdisjoint(_words(name))


def is_lead(attributes: Attributes) -> bool:
    """Whether the element's class marks an opening paragraph."""
    return not _LEAD_WORDS.isdisjoint(_words((attributes.get("class") or "").lower()))


def _words(name: str) -> list[str]:
    """The words of a class or id; a BEM modifier, after "--", stays part of its word."""
    return name.replace("_", " ").replace("--", "+").replace("-", " ").split()


def is_hidden(attributes: Attributes) -> bool:
    """Whether the element is invisible, decorative, or for screen readers only."""
    classes = (attributes.get("class") or "").lower()
    if _SCREEN_READER_CLASS.search(classes):
        return True  # as in "opens in a new tab"
    style = f"color:{attributes.get('color') or ''};{attributes.get('style') or ''}"  # of a <font>
    is_off = "inert" in attributes or "popover" in attributes
    if is_off or (len(style) > len("color:;") and _has_hiding_style(style)):
        return attributes.get("role") != "tabpanel"
    if attributes.get("role") == "tabpanel":
        return False
    if "hidden" in attributes:
        # "until-found" text is shown as soon as a search in the page finds it.
        is_streamed = (attributes.get("id") or "").startswith("S:")  # by React; a script shows it
        return attributes["hidden"] != "until-found" and not is_streamed
    if attributes.get("aria-hidden") == "true":
        return True
    return not (_HIDING_CLASSES.isdisjoint(classes.split()) or _SHOWING_CLASS.search(classes))


def _has_hiding_style(style: str) -> bool:
    """Whether *style* hides the text, by its place, its size or its colour."""
    style = ";" + _CSS_SPACE.sub(r"\1", " ".join(style.lower().split())) + ";"
    if _HIDING_STYLE.search(style):
        return True
    colours = dict(_COLOURS.findall(_WHITE.sub("white", style)))
    text = colours.get("-webkit-text-fill-color") or colours.get("color", "")
    if _CLEAR.fullmatch(text):
        return "background-clip" not in style  # else the text shows the background
    if text == "white" and "background" not in style and "shadow" not in style:
        return True  # as the page is
    behind = {colours.get("background"), colours.get("background-color")}
    return text not in {"", "none", "inherit"} and text in behind


def is_skipped(attributes: Attributes) -> bool:
    """Whether the element is hidden, or its role is navigation or another control."""
    return attributes.get("role") in _SKIPPED_ROLES or is_hidden(attributes)


MAX_NODES = 200_000
"""Nodes visited per page (0.3 s): the parser can create more nodes than the markup has tags."""

ENOUGH_CHARACTERS = 30_000
"""Characters inside `<p>` after which reading stops: about as much as all passages may hold."""

_WHOLE = frozenset({"p", "pre", "h1", "h2", "h3", "h4", "h5", "h6"})
"""Elements that stay one block, whatever is inside: a `div` for each line of code, an anchor."""


class PageBlock(NamedTuple):
    """A run of text with no block boundary inside, white space folded; `order` is its index."""

    order: int
    text: str
    tag: str
    element: int
    link_characters: int
    word_count: int
    lines: str = ""
    """Of a `<pre>`: the text with its white space."""


@dataclass(frozen=True, slots=True)
class PageBlocks:
    """The blocks in reading order, and the elements in parallel lists, each after its parent."""

    blocks: list[PageBlock] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    """The index of each element's parent; the root, 0, is its own parent."""
    tags: list[str] = field(default_factory=list)
    attributes: list[Attributes] = field(default_factory=list)
    """Unparsed: the functions above read them later, for the few elements that matter."""

    def add_element(self, parent: int, tag: str, attributes: Attributes) -> int:
        """Append an element; return its index."""
        self.parents.append(parent)
        self.tags.append(tag)
        self.attributes.append(attributes)
        return len(self.tags) - 1


def read_blocks(root: LexborNode | None, enough: int = ENOUGH_CHARACTERS) -> PageBlocks:
    """The text blocks inside *root*, if any, without hidden elements and non-text ones.

    Reading stops after *enough* characters inside `<p>`. An explicit stack instead of recursion:
    trees may be deeper than Python's stack.
    """
    page = PageBlocks()
    builder = _BlockBuilder(page, page.add_element(0, (root and root.tag) or "", {}))
    stack = [(child, 0, False) for child in _children_reversed(root)]
    for _ in range(MAX_NODES):
        if not stack or builder.paragraph_characters > enough:
            break
        node, element, is_linked = stack.pop()
        if element != builder.element:
            builder.end_block()
            builder.element = element
        tag = node.tag or ""
        is_title = tag == "button" and not builder.parts and page.tags[element] in HEADING_TAGS
        if (text := node.text_content) is not None:
            builder.add_text(text, is_linked=is_linked)
        elif tag in LINE_BREAKS:
            builder.break_line(node)
        elif is_title or tag not in SKIPPED_TAGS:  # The heading of an accordion is a button.
            is_inline = builder.begin(tag)
            children, attributes = _children_reversed(node), node.attributes
            is_footnote = tag == "sup" and children and children[-1].tag == "a"
            if children and not is_footnote and not (attributes and is_skipped(attributes)):
                inner = element if is_inline else page.add_element(element, tag, attributes)
                stack += [(child, inner, is_linked or tag == "a") for child in children]
    builder.end_block()
    return page


def _children_reversed(node: LexborNode | None) -> list[LexborNode]:
    children = []
    child = node and node.last_child
    while child is not None:
        children.append(child)
        child = child.prev
    return children


@dataclass(slots=True)
class _BlockBuilder:
    """Collects text nodes until their block ends."""

    page: PageBlocks
    element: int
    parts: list[str] = field(default_factory=list)
    link_characters: int = 0
    paragraph_characters: int = 0

    def begin(self, tag: str) -> bool:
        """End the block where an element of *tag* begins, unless it is part of the line."""
        is_whole = self.page.tags[self.element] in _WHOLE
        if tag in INLINE_TAGS or is_whole:
            self.parts += [] if tag in INLINE_TAGS else ["\n"]
            return True
        self.end_block()
        return False

    def add_text(self, text: str, *, is_linked: bool) -> None:
        """Add a text node."""
        if self.parts or not text.isspace() or self.page.tags[self.element] == "pre":
            self.parts.append(text)
            self.link_characters += len(text.strip()) if is_linked else 0

    def break_line(self, node: LexborNode) -> None:
        """Treat an `<img>` or one `<br>` as white space, two `<br>` as the end of a paragraph."""
        self.parts.append("\n")
        following = node.next if node.tag == "br" else None
        if following is not None and following.tag == "-text":
            following = following.next if not (following.text_content or "").strip() else None
        if following is not None and following.tag == "br":
            self.end_block()

    def end_block(self) -> None:
        """Append a block of the collected parts, if they contain a word."""
        if words := "".join(self.parts).split():
            text, links = " ".join(words), self.link_characters
            blocks, tag = self.page.blocks, self.page.tags[self.element]
            if tag == "p":
                self.paragraph_characters += len(text) - links
            lines = "".join(self.parts).strip("\n") if tag == "pre" else ""
            blocks.append(PageBlock(len(blocks), text, tag, self.element, links, len(words), lines))
        self.parts.clear()
        self.link_characters = 0
