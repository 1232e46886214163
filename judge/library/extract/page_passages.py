"""Groups the blocks of a page's own text into passages: a heading and a text short enough to quote.

A list is joined to the line that introduces it, since neither says much alone; a long text is split
between sentences.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from judge.library.extract.lead_paragraph import Content, has_non_prose_opening, is_boilerplate
from judge.library.extract.page_blocks import HEADING_TAGS, Boilerplate, PageBlock, PageBlocks
from judge.text.english import fold_space, sentences, strip_invisible

MAX_PASSAGES = 60
"""Per page; with more, neighbours under the same heading are joined, and the rest is left out."""

MAX_WORDS = 80
"""Per passage."""

_MAX_CHARACTERS = 60_000
"""Per paragraph or list."""

_MIN_WORDS = 4
"""Shorter lines are labels."""

_MIN_WORDS_UNENDED = 12
"""A line of this many words is a text even if it does not end like a sentence."""

_MAX_LINK_SHARE = 0.6
"""Share of link text above which a list, or a line that is not a sentence, is navigation."""

_ITEM_TAGS = frozenset({"li", "dt", "dd", "tr"})

_ENDS = (".", "!", "?", ":", ";", "\u2026", ".)", '."', ".\u201d", ".\u2019")

_ITEM_END = re.compile("(?<=;) ")


@dataclass(frozen=True, slots=True)
class PagePassage:
    """A few sentences of a page and the nearest heading above them, "" if there is none."""

    heading: str
    text: str


def read_passages(page: PageBlocks, content: Content | None = None) -> tuple[PagePassage, ...]:
    """The passages of *content*, or of all of *page*, in order and within the limits."""
    reader = _PassageReader(page, _items(page))
    for block in page.blocks:
        if content is None or content.contains(block, Boilerplate.SUPPLEMENTARY):
            reader.add_block(block)
    reader.close()
    passages = list(dict.fromkeys(reader.passages))  # templates repeat a text for narrow screens
    if len(passages) > MAX_PASSAGES:
        by_heading = groupby(passages, key=itemgetter(0))
        passages = [passage for _, group in by_heading for passage in _joined(group)]
    return tuple([PagePassage(heading, text) for heading, text in passages[:MAX_PASSAGES]])


def _items(page: PageBlocks) -> list[int]:
    """For each element the outermost list item or table row around it (or itself), or 0."""
    items: list[int] = []
    for index, (parent, tag) in enumerate(zip(page.parents, page.tags, strict=True)):
        around = items[parent] if items else 0
        items.append(index if tag in _ITEM_TAGS and not around else around)
    return items


_HeadedText = tuple[str, str]
"""The heading and the text of a future passage."""


@dataclass(slots=True)
class _PassageReader:
    """Takes blocks in order and joins each list or table to its lead-in."""

    page: PageBlocks
    items: list[int]
    passages: list[_HeadedText] = field(default_factory=list)
    _heading: str = ""
    _lead_in: PageBlock | None = None
    _list: dict[int, list[PageBlock]] = field(default_factory=dict)
    """The blocks of each item or row that follows the lead-in."""

    def add_block(self, block: PageBlock) -> None:
        """Add *block* to the open passage, ending that first if *block* does not belong to it."""
        if block.tag in HEADING_TAGS:
            self.close()
            self._heading = clean_text(block.text).strip(" #\u00b6")
        elif item := self.items[block.element]:
            self._list.setdefault(item, []).append(block)
        else:
            self.close()
            self._lead_in = block

    def close(self) -> None:
        """Close the open passage: a paragraph, a list, or both."""
        lead_in, items = self._lead_in, list(self._list.values())
        self._lead_in, self._list = None, {}
        listed = "; ".join(" ".join(block.text for block in blocks) for blocks in items)
        if lead_in is not None and items and lead_in.text.endswith(":"):
            self._add(f"{lead_in.text} {listed}")
            return
        if lead_in is not None and _is_text(lead_in):
            self._add(lead_in.text)
        if not _is_linked([block for blocks in items for block in blocks]):
            self._add(listed)

    def _add(self, text: str) -> None:
        text = shorten_words(clean_text(text[:_MAX_CHARACTERS]))
        words = text.count(" ") + 1
        if words > MAX_WORDS:
            self.passages += _joined((self._heading, piece) for piece in _pieces(text))
        elif words >= _MIN_WORDS:
            self.passages.append((self._heading, text))


def _is_linked(blocks: Sequence[PageBlock]) -> bool:
    characters = sum(len(block.text) for block in blocks)
    return (
        bool(blocks)
        and sum(block.link_characters for block in blocks) >= _MAX_LINK_SHARE * characters
    )


def _is_text(block: PageBlock) -> bool:
    """Whether *block* belongs to the text, even if too short to be its lead."""
    text = block.text
    is_ended = text.endswith(_ENDS)
    if not is_ended and (block.word_count < _MIN_WORDS_UNENDED or _is_linked([block])):
        return False
    if block.tag == "pre":
        return False
    return not (block.word_count < 25 and has_non_prose_opening(text)) and not (
        block.word_count < 60 and is_boilerplate(text)
    )


def _pieces(text: str) -> Iterator[str]:
    """The sentences and listed items of *text*, in pieces of at most `MAX_WORDS` words."""
    for span in sentences(text):
        for item in _ITEM_END.split(text[span.start : span.end]):
            words = item.split(" ")
            for start in range(0, len(words), MAX_WORDS):
                yield " ".join(words[start : start + MAX_WORDS])


def _joined(texts: Iterable[_HeadedText]) -> Iterator[_HeadedText]:
    """Yield *texts*, neighbours joined up to `MAX_WORDS` words under the first one's heading."""
    first, open_text, open_words = "", "", 0
    for heading, text in texts:
        words = text.count(" ") + 1
        if open_words and open_words + words > MAX_WORDS:
            yield first, open_text
            open_words = 0
        if not open_words:
            first, open_text = heading, text
        else:
            open_text += f" {text}"
        open_words += words
    if open_words:
        yield first, open_text


MAX_WORD_CHARACTERS = 100
"""No word of prose is longer; a page may contain one of 2 MiB."""

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that are invisible although Unicode classes them as letters or marks."""


def clean_text(text: str) -> str:
    """*text* on one line, without invisible characters (they can hide instructions)."""
    return fold_space(strip_invisible(_INVISIBLE.sub("", text)))


def cut_text(text: str, max_words: int) -> str:
    """The first *max_words* words of *text*, with `...` appended if there are more."""
    text = shorten_words(text)
    if text.count(" ") < max_words:
        return text
    return " ".join(text.split(" ", max_words)[:max_words]) + "..."


def shorten_words(text: str) -> str:
    """*text* with every word cut to `MAX_WORD_CHARACTERS`."""
    return " ".join([word[:MAX_WORD_CHARACTERS] for word in text.split(" ")])
