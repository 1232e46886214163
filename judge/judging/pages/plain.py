"""Text of a page as it can be shown: on one line, without what is not seen, not too long."""

import re

from judge.text.english import fold_space, strip_invisible

MAX_WORD_CHARACTERS = 100
"""No word of prose is longer; a page may hold one of 2 MiB."""

_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that show nothing though Unicode counts them as letters or marks."""


def clean_text(text: str) -> str:
    """Return *text* on one line, without characters that are not seen (they can hide orders)."""
    if not text.isascii():
        text = _UNSEEN.sub("", text)
    if "  " not in text and text.isprintable():  # as nearly always: asking twice takes a third more
        return text.strip()
    return fold_space(strip_invisible(text))


def cut_text(text: str, max_words: int) -> str:
    """Return the first *max_words* words of *text*, and `...` when there are more."""
    text = shorten_words(text)
    if text.count(" ") < max_words:
        return text
    return " ".join(text.split(" ", max_words)[:max_words]) + "..."


def shorten_words(text: str) -> str:
    """Return *text* with no word longer than `MAX_WORD_CHARACTERS`."""
    if not _has_long_word(text):
        return text
    return " ".join([word[:MAX_WORD_CHARACTERS] for word in text.split(" ")])


def _has_long_word(text: str) -> bool:
    """Tell so by steps from space to space, each as far as one word may reach."""
    start = 0
    while len(text) - start > MAX_WORD_CHARACTERS:
        space = text.rfind(" ", start, start + MAX_WORD_CHARACTERS + 1)
        if space == -1:
            return True
        start = space + 1
    return False
