"""The text of a search -> SearchQuery: plain words, "exact phrases" and -excluded words.

`judge.library.scopes.scopes` has removed the @mentions before. Any text is a valid query.
"""

import re
from itertools import pairwise

from judge.text.english import STOP_WORDS, tokens, words
from judge.text.index_tokens import identifier_parts
from judge.types.search import SearchQuery

_QUOTED = re.compile(r'(?:(?<!\S)([-+]))?(?:"([^"]*)"|“([^“”]*)”)')
_EXCLUDED = re.compile(r"(?<!\S)-(?=[^\W_])(\S+)")
MAX_WORDS_WITH_OPERATORS = 20
"""Longest text, in words, in which `-` and quotes are operators; in a longer one, which is prose,
they are punctuation."""

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
"""How a sentence asks, before it names its subject: "What papers are there on …"."""

_CAMEL = re.compile(r"(?<![^\W_])[a-z]+[A-Z][A-Za-z0-9]*")


def parse_query(text: str) -> SearchQuery:
    """The query in *text*; an unclosed quote and a lone dash are plain text.

    Quoted words are required where they are the whole query, or where an operator (`-`, `+`) shows
    that the person knows the syntax; in other sentences they only raise the rank of passages.

    >>> parse_query('robot "service dog" -cat').phrases
    ('service dog',)
    >>> parse_query('he has a "service dog"').optional_phrases
    ('service dog',)
    """
    phrases = [(sign, _normalized(a or b)) for sign, a, b in _QUOTED.findall(text)]
    unquoted = _QUOTED.sub(" ", text)
    excluded_words = _EXCLUDED.findall(unquoted)
    unquoted = _EXCLUDED.sub(" ", unquoted)
    quoted = dict.fromkeys(phrase for sign, phrase in phrases if phrase and sign != "-")
    excluded = dict.fromkeys(phrase for sign, phrase in phrases if phrase and sign == "-")
    excluded |= dict.fromkeys(map(_normalized, excluded_words))
    has_operator = bool(excluded_words) or any(sign for sign, _ in phrases)
    is_short = len(words(text)) <= MAX_WORDS_WITH_OPERATORS
    if (has_operator and is_short) or not words(unquoted):
        ranked = _ranking_words(unquoted, has_phrases=bool(quoted))
        return SearchQuery(text, ranked, tuple(quoted), tuple(excluded))
    ranked = _ranking_words(text, has_phrases=False)
    return SearchQuery(text, ranked, optional_phrases=tuple(quoted), pairs=_content_pairs(text))


def _normalized(text: str) -> str:
    """The words of *text* in lower case, joined by spaces."""
    return " ".join(tokens(text.lower()))


def _ranking_words(text: str, *, has_phrases: bool) -> tuple[str, ...]:
    """The content words of *text*; if there are none and no phrases either, all its words."""
    every_word = words(text)
    subject = filter(_is_content, words(_REQUEST.sub(" ", text)))
    content = [*subject] or [*filter(_is_content, every_word)]
    if not content and has_phrases:
        return ()
    # The engines split "landlord's" into two tokens; the "s" is no content.
    ranked = [tokens(word)[0] if "'" in word else word for word in content or every_word]
    return (*ranked, *_camel_case_parts(text))


def _content_pairs(text: str) -> tuple[str, ...]:
    """The pairs of adjacent content words in *text*."""
    every_word = words(text)
    return tuple(
        f"{first} {second}"
        for first, second in pairwise(every_word)
        if _is_content(first) and _is_content(second)
    )


def _is_content(word: str) -> bool:
    """Whether *word* is no stop word; "what's" is one, as "what" is."""
    return word not in STOP_WORDS and word.partition("'")[0] not in STOP_WORDS


def _camel_case_parts(text: str) -> list[str]:
    """The parts of camelCase names, so that `getUserId` finds `get_user_id` too.

    Names that begin with a capital are not split: GitHub should not find `hub`.
    """
    lowered = identifier_parts(" ".join(_CAMEL.findall(text))).lower().split()
    return [part for part in lowered if part not in STOP_WORDS]
