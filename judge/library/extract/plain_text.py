"""Text of a page made fit to show: on one line, without invisible characters, not too long."""

import re

from judge.text.english import fold_space, strip_invisible

MAX_WORD_CHARACTERS = 100
"""No word of prose is longer; a page may contain one of 2 MiB."""

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that are invisible although Unicode classes them as letters or marks."""


def clean_text(text: str) -> str:
    """*text* on one line, without invisible characters (they can hide instructions)."""
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    if "  " not in text and text.isprintable():  # nearly always; both calls take a third more
        return text.strip()
    return fold_space(strip_invisible(text))


def cut_text(text: str, max_words: int) -> str:
    """The first *max_words* words of *text*, with `...` appended if there are more."""
    text = shorten_words(text)
    if text.count(" ") < max_words:
        return text
    return " ".join(text.split(" ", max_words)[:max_words]) + "..."


def shorten_words(text: str) -> str:
    """*text* with every word cut to `MAX_WORD_CHARACTERS`."""
    if not _has_long_word(text):
        return text
    return " ".join([word[:MAX_WORD_CHARACTERS] for word in text.split(" ")])


def _has_long_word(text: str) -> bool:
    """Jump from space to space, each time as far as one word may reach: faster than splitting."""
    start = 0
    while len(text) - start > MAX_WORD_CHARACTERS:
        space = text.rfind(" ", start, start + MAX_WORD_CHARACTERS + 1)
        if space == -1:
            return True
        start = space + 1
    return False
