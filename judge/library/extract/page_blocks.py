"""Flattens a page's tree of elements into a list of text blocks, each with its enclosing element.

Third step of extraction, after `decoding.py` and `extract/markup.py`;
`lead_paragraph.py` chooses among the blocks.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from judge.library.extract.markup_hints import (
    INLINE_TAGS,
    LINE_BREAKS,
    SKIPPED_TAGS,
    Attributes,
    is_skipped,
)

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

    @property
    def link_share(self) -> float:
        """The share of the characters that are link text, 0 to 1."""
        return self.link_characters / len(self.text)


@dataclass(frozen=True, slots=True)
class PageBlocks:
    """The blocks in reading order, and the block-level elements, each listed after its parent.

    Elements are parallel lists, by index: an object for each took a quarter longer.
    """

    blocks: list[PageBlock] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    """The index of each element's parent; the root, 0, is its own parent."""
    tags: list[str] = field(default_factory=list)
    attributes: list[Attributes] = field(default_factory=list)
    """Unparsed: `markup_hints.py` reads them later, for the few elements that matter."""

    def add_element(self, parent: int, tag: str, attributes: Attributes) -> int:
        """Append an element; return its index."""
        self.parents.append(parent)
        self.tags.append(tag)
        self.attributes.append(attributes)
        return len(self.tags) - 1


def read_blocks(  # noqa: C901, PLR0912 - calls cost a sixth more
    root: LexborNode | None, enough: int = ENOUGH_CHARACTERS
) -> PageBlocks:
    """The text blocks inside *root*, if any, without hidden elements and non-text ones.

    Reading stops after *enough* characters inside `<p>`.

    An explicit stack instead of recursion: trees may be deeper than Python's stack.
    """
    page = PageBlocks()
    builder = _BlockBuilder(page)
    tags, parts = page.tags, builder.parts
    stack: list[tuple[LexborNode | None, int, bool]] = []
    element = page.add_element(0, (root and root.tag) or "", {})
    is_linked, node = False, root and root.first_child
    for _ in range(MAX_NODES):
        while node is None and stack and builder.paragraph_characters <= enough:
            node, around, is_linked = stack.pop()
            if parts and around != element:
                builder.end_block(element)
            element = around
        if node is None:
            break
        if (text := node.text_content) is not None:
            if parts or not text.isspace() or tags[element] == "pre":
                parts.append(text)
                if is_linked:
                    builder.link_characters += len(text.strip())
            node = node.next
        elif (tag := node.tag or "") in SKIPPED_TAGS:
            if tag in LINE_BREAKS:
                builder.break_line(node, element)
            node = node.next
        else:
            is_inline = tag in INLINE_TAGS or tags[element] in _WHOLE
            if is_inline and tag not in INLINE_TAGS:
                parts.append("\n")
            elif parts and not is_inline:
                builder.end_block(element)
            child, following = node.first_child, node.next
            if (
                child is None
                or (tag == "sup" and child.tag == "a")  # a footnote
                or ((attributes := node.attributes) and is_skipped(attributes))
            ):
                node = following
                continue
            stack.append((following, element, is_linked))
            node, is_linked = child, is_linked or tag == "a"
            if not is_inline:
                element = page.add_element(element, tag, attributes)
    builder.end_block(element)
    return page


@dataclass(slots=True)
class _BlockBuilder:
    """Collects text nodes until their block ends."""

    page: PageBlocks
    parts: list[str] = field(default_factory=list)
    link_characters: int = 0
    paragraph_characters: int = 0

    def break_line(self, node: LexborNode, element: int) -> None:
        """Treat an `<img>` or one `<br>` as white space, two `<br>` as the end of a paragraph."""
        self.parts.append("\n")
        following = node.next if node.tag == "br" else None
        if following is not None and following.tag == "-text":
            following = following.next if not (following.text_content or "").strip() else None
        if following is not None and following.tag == "br":
            self.end_block(element)

    def end_block(self, element: int) -> None:
        """Append a block of the collected parts to *element*, if they contain a word."""
        if words := "".join(self.parts).split():
            text, links = " ".join(words), self.link_characters
            blocks, tag = self.page.blocks, self.page.tags[element]
            if tag == "p":
                self.paragraph_characters += len(text) - links
            lines = "".join(self.parts).strip("\n") if tag == "pre" else ""
            blocks.append(PageBlock(len(blocks), text, tag, element, links, len(words), lines))
        self.parts.clear()
        self.link_characters = 0
