"""A page becomes a flat list of text blocks, each knowing which elements it stands in.

Third step of extraction, after `decoding.py` and `markup_limits.py`;
`lead_paragraph.py` chooses among the blocks.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from judge.judging.pages.markup_hints import (
    INLINE_TAGS,
    UNREAD_TAGS,
    Attributes,
    is_unread,
)

NO_ATTRIBUTES: Attributes = {}

MAX_NODES = 200_000
"""Nodes visited of one page, since the parser makes more of them than there are tags (0.3 s)."""

ENOUGH_CHARACTERS = 30_000
"""Characters of `<p>` after which reading stops: about what the kept passages hold."""


class PageBlock(NamedTuple):
    """A run of text with no block boundary inside, white space folded."""

    order: int
    text: str
    tag: str
    place: int
    link_characters: int
    word_count: int

    @property
    def link_share(self) -> float:
        """How much of the text is inside links, 0 to 1."""
        return self.link_characters / len(self.text)


class Place(NamedTuple):
    """An element that can hold blocks; `parent` is the index of the one around it."""

    parent: int
    tag: str
    attributes: Attributes = NO_ATTRIBUTES
    """What they say is found out (`markup_hints.py`) where it matters: for few elements."""


@dataclass(frozen=True, slots=True)
class PageBlocks:
    """The blocks in reading order, and the elements that hold them, each after its parent."""

    blocks: list[PageBlock] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)


def read_page(root: LexborNode) -> PageBlocks:
    """Return the text blocks inside *root*, leaving out what isn't shown or isn't text."""
    reader = _Reader()
    reader.read(root)
    return reader.page


@dataclass(slots=True)
class _Reader:
    """Walks the tree without recursion, since trees may be deeper than Python's stack."""

    page: PageBlocks = field(default_factory=PageBlocks)
    _place: int = 0
    _open_links: int = 0
    _parts: list[str] = field(default_factory=list)
    _link_characters: int = 0
    _paragraph_characters: int = 0
    _trail: list[tuple[LexborNode | None, str, int]] = field(default_factory=list)

    def read(self, root: LexborNode) -> None:
        """Visit everything inside *root* in document order."""
        self.page.places.append(Place(0, root.tag or ""))
        parts = self._parts
        node = root.child
        for _ in range(MAX_NODES):
            if node is None:
                if not self._trail or self._paragraph_characters > ENOUGH_CHARACTERS:
                    break
                node = self._leave()
            elif (tag := node.tag or "") == "-text":
                text = node.text_content or ""
                if parts or not text.isspace():
                    parts.append(text)
                    if self._open_links:
                        self._link_characters += len(text.strip())
                node = node.next
            elif tag in UNREAD_TAGS:
                if tag == "img" and parts:
                    parts.append(" ")  # such as an emoji in a line
                node = node.next
            elif tag == "br":
                node = self._break_line(node)
            else:
                node = self._enter(node, tag) or node.next
        self._end_block()

    def _leave(self) -> LexborNode | None:
        """Close the innermost open element and return what follows it."""
        following, tag, place = self._trail.pop()
        if tag == "a":
            self._open_links -= 1
        elif not tag:
            if self._parts:
                self._end_block()
            self._place = place
        return following

    def _enter(self, node: LexborNode, tag: str) -> LexborNode | None:
        """Return the first child of *node*, or None when it has none or is passed over."""
        places = self.page.places
        place = self._place
        # A block would have ended the paragraph: what is in one is of the site's own making.
        is_inline = tag in INLINE_TAGS or places[place].tag == "p"
        if self._parts and not is_inline:
            self._end_block()
        child = node.child
        if child is None:
            return None
        attributes = node.attributes
        if attributes and is_unread(attributes):
            return None
        self._trail.append((node.next, tag if is_inline else "", place))
        if is_inline:
            self._open_links += tag == "a"
        else:
            self._place = len(places)
            places.append(Place(place, tag, attributes))
        return child

    def _break_line(self, node: LexborNode) -> LexborNode | None:
        """One `<br>` is white space; two in a row are how old pages end a paragraph."""
        self._parts.append("\n")
        following = node.next
        if following is not None and following.tag == "-text":
            following = following.next if not (following.text_content or "").strip() else None
        if following is not None and following.tag == "br":
            self._end_block()
        return node.next

    def _end_block(self) -> None:
        if words := "".join(self._parts).split():
            text, blocks, place = " ".join(words), self.page.blocks, self._place
            tag = self.page.places[place].tag
            if tag == "p":
                self._paragraph_characters += len(text) - self._link_characters
            links = self._link_characters
            blocks.append(PageBlock(len(blocks), text, tag, place, links, len(words)))
        self._parts.clear()
        self._link_characters = 0
