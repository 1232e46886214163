"""Escapes untrusted text for the prompt: what pages and people say is data, never markup.

Escaped text cannot close a block of the prompt, start a new line, or look like the number of a
reference or of a sentence.
"""

import functools
import json
import re

from judge.text.brackets import in_parentheses
from judge.text.english import fold_space, strip_invisible

MAX_REFERENCE_LENGTH = 4000
"""Characters; far more than 80 words need, so that only a page of endless "words" is cut."""

_OPENER = r"[<＜﹤〈]|&(?:amp;)*(?:lt|#0*60|#x0*3c);?|\\+(?:u003c|u\{3c\}|x3c)|%(?:25)*3c"
"""An angle bracket, as it is or as a character reference or an escape that a model reads as one."""

_TAG_OPENING = re.compile(
    rf"(?:{_OPENER})(?=[!?|]|[^\W\d_]|\s*[/／]|[^\w<‹]{{0,8}}(?:references|dispute))", re.IGNORECASE
)


@functools.lru_cache(maxsize=2048)
def safe_text(text: str) -> str:
    """*text* on one line; `<b>` and `&lt;b>` become `‹b>`, `[2]` and `{2}` become `(2)`."""
    return _without_markup(fold_space(strip_invisible(text))[:MAX_REFERENCE_LENGTH].rstrip())


def quoted_text(text: str) -> str:
    """*text* as one JSON string, with its line breaks; nothing in it can end the string."""
    lines = (fold_space(line) for line in strip_invisible(text).splitlines())
    return json.dumps(_without_markup("\n".join(lines).strip()), ensure_ascii=False)


def has_tag(text: str) -> bool:
    """Whether *text* contains something that could be taken for a tag of the prompt."""
    return bool(_TAG_OPENING.search(strip_invisible(text)))


def _without_markup(text: str) -> str:
    text = in_parentheses(text)  # first: `<%5Bx` holds a bracket
    return _TAG_OPENING.sub("‹", text)


def quoted_value(text: str) -> str:
    """*text* of a reply as one JSON string; brackets stay, since a defect may be about them."""
    line = fold_space(strip_invisible(text))
    return json.dumps(_TAG_OPENING.sub("‹", line), ensure_ascii=False)
