"""A page becomes a flat list of text blocks, each knowing which elements it stands in.

Third step of extraction, after `decode.py` and `taming.py`;
`paragraph.py` chooses among the blocks.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from judge.judging.pages.markup_hints import (
    DOUBTFUL_TAGS,
    INLINE_TAGS,
    SAYS_NOTHING,
    UNREAD_TAGS,
    Attributes,
    Doubt,
    NameHints,
    is_unread,
    read_name,
)

MAX_NODES = 200_000
"""Nodes visited of one page, since the parser makes more of them than there are tags (0.3 s)."""

ENOUGH_CHARACTERS = 12_000
"""Characters of `<p>` after which reading stops: the first paragraph is among them, and it saves a
fifth of the time. On 255 pages nothing changes from 8,000 up."""


class PageBlock(NamedTuple):
    """A run of text with no block boundary inside, white space folded."""

    order: int
    text: str
    tag: str
    place: int
    link_characters: int

    @property
    def word_count(self) -> int:
        """How many words the text has."""
        return self.text.count(" ") + 1

    @property
    def link_share(self) -> float:
        """How much of the text is inside links, 0 to 1."""
        return self.link_characters / len(self.text)


class Place(NamedTuple):
    """An element that can hold blocks; `parent` is the index of the one around it."""

    parent: int
    tag: str
    doubt: Doubt = Doubt.NONE
    is_main: bool = False
    is_byline: bool = False
    is_lead: bool = False


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
    _names: dict[str | None, NameHints] = field(default_factory=dict)

    def read(self, root: LexborNode) -> None:
        """Visit everything inside *root* in document order."""
        self.page.places.append(Place(0, root.tag or ""))
        node = root.child
        for _ in range(MAX_NODES):
            if node is None:
                if not self._trail or self._paragraph_characters > ENOUGH_CHARACTERS:
                    break
                node = self._leave()
            elif (tag := node.tag) == "-text":
                self._add_text(node.text_content or "")
                node = node.next
            else:
                node = self._visit(node, tag or "")
        self._end_block()

    def _add_text(self, text: str) -> None:
        if self._parts or not text.isspace():
            self._parts.append(text)
            if self._open_links:
                self._link_characters += len(text.strip())

    def _visit(self, node: LexborNode, tag: str) -> LexborNode | None:
        """Take in *node* and return the next one: its first child, or its sibling."""
        if tag in INLINE_TAGS:
            return self._enter_inline(node, tag)
        if tag == "br":
            self._break_line(node)
        elif tag == "img":
            self._add_text(" ")  # a picture in a line, such as an emoji, doesn't end it
        elif tag in {"nav", "footer", "hr"}:
            self._end_block()
        elif tag not in UNREAD_TAGS and tag[:1] not in "-!":
            # A block would have ended the paragraph: what is in one is of the site's own making.
            is_inline = self.page.places[self._place].tag == "p"
            return self._enter_inline(node, tag) if is_inline else self._enter_block(node, tag)
        return node.next

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

    def _enter_inline(self, node: LexborNode, tag: str) -> LexborNode | None:
        attributes = node.attributes
        if attributes and (is_unread(attributes) or self._class(attributes).is_hidden):
            return node.next
        self._open_links += tag == "a"
        self._trail.append((node.next, tag, self._place))
        return node.child

    def _enter_block(self, node: LexborNode, tag: str) -> LexborNode | None:
        if self._parts:
            self._end_block()
        attributes = node.attributes
        named = self._class(attributes) if attributes else SAYS_NOTHING
        if attributes and (is_unread(attributes) or named.is_hidden):
            return node.next
        self._trail.append((node.next, "", self._place))
        places = self.page.places
        places.append(self._new_place(tag, attributes, named))
        self._place = len(places) - 1
        return node.child

    def _new_place(self, tag: str, attributes: Attributes, named: NameHints) -> Place:
        doubt = Doubt.SOME if tag in DOUBTFUL_TAGS and not named.doubt else named.doubt
        if "id" in attributes:
            doubt = max(doubt, self._hints(attributes["id"]).doubt)
        is_main = tag == "main" or attributes.get("role") == "main"
        if is_main or tag == "article":
            doubt = Doubt.NONE  # their names are the theme's: "post-author-jo", "has-sidebar"
        return Place(self._place, tag, doubt, is_main, named.is_byline, named.is_lead)

    def _class(self, attributes: Attributes) -> NameHints:
        return self._hints(attributes["class"]) if "class" in attributes else SAYS_NOTHING

    def _hints(self, name: str | None) -> NameHints:
        """Pages repeat a few names a thousand times, so each is read once."""
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = read_name(name or "")
        return known

    def _break_line(self, node: LexborNode) -> None:
        """One `<br>` is white space; two in a row are how old pages end a paragraph."""
        self._parts.append("\n")
        following = node.next
        if following is not None and following.tag == "-text":
            following = following.next if not (following.text_content or "").strip() else None
        if following is not None and following.tag == "br":
            self._end_block()

    def _end_block(self) -> None:
        text = " ".join("".join(self._parts).split())
        if text:
            blocks, place = self.page.blocks, self._place
            tag = self.page.places[place].tag
            if tag == "p":
                self._paragraph_characters += len(text) - self._link_characters
            blocks.append(PageBlock(len(blocks), text, tag, place, self._link_characters))
        self._parts.clear()
        self._link_characters = 0
