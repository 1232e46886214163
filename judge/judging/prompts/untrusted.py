"""Make text from outside harmless: what pages and people say is data, never markup.

After this no text can close a block of the prompt, begin a line of its own, or look like a number
that we gave to a reference or to a sentence.
"""

import functools
import json
import re

from judge.text.brackets import in_parentheses
from judge.text.english import fold_space, strip_invisible

LONGEST_REFERENCE = 4000
"""Characters, far above 80 words: only a page with endless "words" is cut."""

_OPENERS = "<＜﹤〈"
_TAG_OPENING = re.compile(
    rf"[{_OPENERS}](?=[!?|]|[^\W\d_]|\s*[/／]|[^\w<‹]{{0,8}}(?:references|dispute|settled))",
    re.IGNORECASE,
)


@functools.lru_cache(maxsize=2048)
def safe_text(text: str) -> str:
    """*text* on one line, with no tag and no number in a bracket that is no parenthesis.

    `<b>` becomes `‹b>`, `[2]` and `{2}` become `(2)`; everything else is kept, so that a person
    still reads the page's own words. Remembered: the same few pages are quoted all day.
    """
    return _without_markup(fold_space(strip_invisible(text))[:LONGEST_REFERENCE].rstrip())


def quoted_text(text: str) -> str:
    """*text* as one JSON string: its lines are kept, and nothing in it can end the string."""
    lines = (fold_space(line) for line in strip_invisible(text).splitlines())
    return json.dumps(_without_markup("\n".join(lines).strip()), ensure_ascii=False)


def holds_tag(text: str) -> bool:
    """Whether *text* holds what could be taken for a tag of the prompt."""
    return bool(_TAG_OPENING.search(strip_invisible(text)))


def _without_markup(text: str) -> str:
    text = in_parentheses(text)  # first: `<%5Bx` holds a bracket
    return _TAG_OPENING.sub("‹", text) if any(one in text for one in _OPENERS) else text


def quoted_value(text: str) -> str:
    """*text* of a defective reply as one JSON string; its brackets stay, for they are the point."""
    line = fold_space(strip_invisible(text))
    return json.dumps(_TAG_OPENING.sub("‹", line), ensure_ascii=False)
