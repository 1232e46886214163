"""A question as typed -> SearchQuery: plain words, "exact phrases" and -excluded words.

The scope's mentions are taken out before (`judge.search.scopes`). Any text is a query; none raises.
"""

import re
from itertools import pairwise

from judge.text.english import STOP_WORDS, WORD, words
from judge.text.identifiers import identifier_parts
from judge.types.search import SearchQuery

_QUOTED = re.compile(r'(?:(?<!\S)([-+]))?(?:"([^"]*)"|“([^“”]*)”)')
_EXCLUDED = re.compile(r"(?<!\S)-(?=[^\W_])(\S+)")
LONGEST_COMMAND = 20
"""Words: whoever writes more is telling something, and a dash or a quotation mark in it is a mark
like any other."""

_REQUEST = re.compile(
    r"""
    (?:^|(?<=[.?!;])) \s*+ (?:
    (?:(?:I|we)\b [^.?!;]{0,15}
        \b(?:interested\s+in|looking\s+for|like|want|need)\b (?:\s+to\s+\w+)?
      | (?:please\s+)? (?:find|list|give|show)\b (?:\s+(?:me|us)\b)?
      | (?:what|which|(?:are|is)\s+there)\b)?
    (?:\s*\b(?:all|any|some|the))*
    \s*\b(?:articles?|papers?|documents?|literature|information|references|publications)
    (?:\s+(?:exist|are\s+there))?
    \s+(?:about|on|concerning|regarding|(?:that\s+|which\s+)?
        (?:deal(?:s|ing)?\s+with|discuss(?:es|ing)?|describes?|describing|cover(?:s|ing)?))\b
    | (?:I\W?a?m|we\W?a?re)\s+(?:interested\s+in|looking\s+for)\b)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""How a sentence says that it asks, before it says for what: "What papers are there on …"."""

_CAMEL = re.compile(r"(?<![^\W_])[a-z]+[A-Z][A-Za-z0-9]*")
_TOKEN = re.compile(WORD)


def parse_query(text: str) -> SearchQuery:
    """What *text* asks for; a quote that is not closed and a lone dash are plain text.

    Quoted words are a command where nothing else is asked or an operator (`-`, `+`) shows that
    the person knows the language; within other words they are how people write.

    >>> parse_query('robot "service dog" -cat').phrases
    ('service dog',)
    >>> parse_query('he has a "service dog"').wishes
    ('service dog',)
    """
    marked = [(found[1], _plain(found[2] or found[3] or "")) for found in _QUOTED.finditer(text)]
    unquoted = _QUOTED.sub(" ", text)
    left_out = _EXCLUDED.findall(unquoted)
    unquoted = _EXCLUDED.sub(" ", unquoted)
    quoted = dict.fromkeys(phrase for sign, phrase in marked if phrase and sign != "-")
    excluded = dict.fromkeys(phrase for sign, phrase in marked if phrase and sign == "-")
    excluded |= dict.fromkeys(map(_plain, left_out))
    has_operator = bool(left_out) or any(sign for sign, _ in marked)
    is_short = len(words(text)) <= LONGEST_COMMAND
    if (has_operator and is_short) or not words(unquoted):
        ranked = _ranked_by(unquoted, has_phrases=bool(quoted))
        return SearchQuery(text, ranked, tuple(quoted), tuple(excluded))
    return SearchQuery(
        text, _ranked_by(text, has_phrases=False), wishes=tuple(quoted), pairs=_pairs(text)
    )


def _plain(text: str) -> str:
    """The words of *text* in lower case, a space between them."""
    return " ".join(_TOKEN.findall(text.lower()))


def _ranked_by(text: str, *, has_phrases: bool) -> tuple[str, ...]:
    """The words of *text* that carry content; all of them when none does and nothing else asks."""
    every_word = words(text)
    asked = filter(_is_content, words(_REQUEST.sub(" ", text)))
    content = [*asked] or [*filter(_is_content, every_word)]
    if not content and has_phrases:
        return ()
    # "landlord's" is two tokens to the engines, and the "s" says nothing.
    tokens = [_TOKEN.findall(word)[0] if "'" in word else word for word in content or every_word]
    return (*tokens, *_parts(text))


def _pairs(text: str) -> tuple[str, ...]:
    """The content words that stand side by side in *text*."""
    every_word = words(text)
    return tuple(
        f"{first} {second}"
        for first, second in pairwise(every_word)
        if _is_content(first) and _is_content(second)
    )


def _is_content(word: str) -> bool:
    """Whether *word* carries content; "what's" does as little as "what"."""
    return word not in STOP_WORDS and word.partition("'")[0] not in STOP_WORDS


def _parts(text: str) -> list[str]:
    """The parts of camelCase names, so that `getUserId` finds `get_user_id` too.

    Not of those that begin with a capital: GitHub is no hub.
    """
    lowered = identifier_parts(" ".join(_CAMEL.findall(text))).lower().split()
    return [part for part in lowered if part not in STOP_WORDS]
