"""Groups the blocks of a page into passages: a heading and a text short enough to quote."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from judge.library.extract.lead_paragraph import MAX_LINK_SHARE, Content, is_boilerplate, is_label
from judge.library.extract.page_blocks import HEADING_TAGS, PageBlock, PageBlocks
from judge.text.english import fold_space, grouped, sentences, strip_invisible

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

_ITEM_TAGS = frozenset({"li", "dt", "dd", "tr"})

_ENDS = (".", "!", "?", ":", ";", "\u2026", ".)", '."', ".\u201d", ".\u2019")

_ITEM_END = re.compile("(?<=;) ")


class PagePassage(NamedTuple):
    """A few sentences of a page and the nearest heading above them, "" if there is none."""

    heading: str
    text: str


def read_passages(page: PageBlocks, content: Content | None = None) -> tuple[PagePassage, ...]:
    """The passages of *content*, or of all of *page*, in order and within the limits."""
    blocks = page.blocks if content is None else [*filter(content.contains, page.blocks)]
    texts = _headed_texts(blocks, _items(page))
    # Templates repeat a text for narrow screens.
    passages = list(dict.fromkeys(p for heading, text in texts for p in _cut(heading, text)))
    if len(passages) > MAX_PASSAGES:
        by_heading = groupby(passages, key=itemgetter(0))
        passages = [passage for _, group in by_heading for passage in _joined(group)]
    return tuple(passages[:MAX_PASSAGES])


def _items(page: PageBlocks) -> list[int]:
    """For each element the outermost item, row or term around it (or itself or above it), or 0."""
    items, term = [0], 0
    for index, (parent, tag) in enumerate(zip(page.parents[1:], page.tags[1:], strict=True), 1):
        term = index if tag == "dt" else term
        own = term if tag == "dd" and page.parents[term] == parent else index
        items.append(items[parent] or (own if tag in _ITEM_TAGS else 0))
    return items


def _headed_texts(blocks: Iterable[PageBlock], items: Sequence[int]) -> Iterator[tuple[str, str]]:
    """The paragraphs, and the lists or tables joined to their lead-ins, with their headings."""
    heading, lead_in = "", None
    rows: dict[int, list[PageBlock]] = {}
    for block in (*blocks, None):
        is_heading = block is not None and block.tag in HEADING_TAGS
        if block and not is_heading and (item := items[block.element]):
            rows.setdefault(item, []).append(block)
            continue
        for text in _texts(lead_in, [*rows.values()]):
            yield heading, text
        lead_in, rows = None if is_heading else block, {}
        if block and is_heading:
            heading = clean_text(block.text).strip(" #\u00b6")


def _texts(lead_in: PageBlock | None, rows: Sequence[Sequence[PageBlock]]) -> Iterator[str]:
    """A paragraph and the list below it; one text if the paragraph introduces the list."""
    listed = "; ".join(" ".join(block.text for block in row) for row in rows)
    if lead_in and rows and lead_in.text.endswith(":"):
        yield f"{lead_in.text} {listed}"
        return
    if lead_in and _is_text(lead_in):
        yield lead_in.text
    if not _is_linked([block for row in rows for block in row]):
        yield listed


def _cut(heading: str, text: str) -> Iterable[PagePassage]:
    """The passages of *text*; none if it is only a label."""
    text = shorten_words(clean_text(text[:_MAX_CHARACTERS]))
    words = text.count(" ") + 1
    if words > MAX_WORDS:
        return _joined(PagePassage(heading, piece) for piece in _pieces(text))
    return [PagePassage(heading, text)] if words >= _MIN_WORDS else []


def _is_linked(blocks: Sequence[PageBlock]) -> bool:
    characters = sum(len(block.text) for block in blocks)
    linked = sum(block.link_characters for block in blocks)
    return bool(blocks) and linked >= MAX_LINK_SHARE * characters


def _is_text(block: PageBlock) -> bool:
    """Whether *block* belongs to the text, even if too short to be its lead."""
    text, words = block.text, block.word_count
    is_ended = text.endswith(_ENDS) or (words >= _MIN_WORDS_UNENDED and not _is_linked([block]))
    is_junk = (words < 25 and is_label(text)) or (words < 60 and is_boilerplate(text))
    return is_ended and block.tag != "pre" and not is_junk


def _pieces(text: str) -> Iterator[str]:
    """The sentences and listed items of *text*, in pieces of at most `MAX_WORDS` words."""
    for span in sentences(text):
        for item in _ITEM_END.split(text[span.start : span.end]):
            words = item.split(" ")
            for start in range(0, len(words), MAX_WORDS):
                yield " ".join(words[start : start + MAX_WORDS])


def _joined(texts: Iterable[PagePassage]) -> Iterator[PagePassage]:
    """Yield *texts*, neighbours joined up to `MAX_WORDS` words under the first one's heading."""
    for group in grouped(texts, lambda one: one.text.count(" ") + 1, MAX_WORDS):
        yield PagePassage(group[0].heading, " ".join(one.text for one in group))


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
