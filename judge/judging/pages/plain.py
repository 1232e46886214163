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
    return fold_space(strip_invisible(text if text.isascii() else _UNSEEN.sub("", text)))


def cut_text(text: str, max_words: int) -> str:
    """Return the first *max_words* words of *text*, and `...` when there are more."""
    words = text.split(" ", max_words)
    if max(map(len, words)) > MAX_WORD_CHARACTERS:
        words = [word[:MAX_WORD_CHARACTERS] for word in words]
    elif len(words) <= max_words:
        return text
    return " ".join(words) if len(words) <= max_words else " ".join(words[:max_words]) + "..."
