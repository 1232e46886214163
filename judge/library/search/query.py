"""The text of a search -> SearchQuery: plain words, "exact phrases" and -excluded words."""

import re

from judge.text.data import package_data
from judge.text.english import STOP_WORDS, strip_invisible, tokens, words
from judge.text.index_tokens import as_one_word, identifier_parts
from judge.types.search import SearchQuery

_QUOTED = re.compile(r'(?:(?<!\S)([-+]))?(?:"([^"]*)"|“([^“”]*)”)')
_EXCLUDED = re.compile(r"(?<!\S)-(?=[^\W_]{2})(?!\d{1,3}(?!\w))(\S+)")  # not tar -x, not -18 °C
MAX_WORDS_WITH_OPERATORS = 20
"""Longest text, in words, in which `-` and quotes are operators; in a longer one, which is prose,
they are punctuation."""

_MIXED = re.compile(r"(?<![^\W_])(?:[a-z]+[A-Z]\w*|[A-Za-z]{2,}\d+|\d+[A-Za-z]{1,4}(?![^\W_]))")


def parse_query(text: str) -> SearchQuery:
    """The query in *text*; an unclosed quote and a lone dash are plain text.

    Quoted words are required where they are the whole query, or where an operator (`-`, `+`) shows
    that the person knows the syntax; in other sentences they are words like others.

    >>> parse_query('robot "service dog" -cat').phrases
    ('service dog',)
    >>> parse_query('he has a "service dog"').words
    ('service', 'dog')
    """
    seen = strip_invisible(text)
    phrases = [(sign, _normalized(a or b)) for sign, a, b in _QUOTED.findall(seen)]
    unquoted = _QUOTED.sub(" ", seen)
    excluded_words = _EXCLUDED.findall(unquoted)
    unquoted = _EXCLUDED.sub(" ", unquoted)
    has_operator = bool(excluded_words) or any(sign for sign, _ in phrases)
    is_short = len(words(seen)) <= MAX_WORDS_WITH_OPERATORS
    if not ((has_operator and is_short) or not words(unquoted)):
        return SearchQuery(text, _ranking_words(seen))
    quoted = dict.fromkeys(phrase for sign, phrase in phrases if phrase and sign != "-")
    excluded = [phrase for sign, phrase in phrases if phrase and sign == "-"]
    excluded += map(_normalized, excluded_words)
    ranked = _ranking_words(unquoted)
    if quoted and all(word in STOP_WORDS for word in ranked):
        ranked = ()
    return SearchQuery(text, ranked, tuple(quoted), tuple(dict.fromkeys(excluded)))


def _normalized(text: str) -> str:
    """The words of *text* in lower case, joined by spaces."""
    return " ".join(tokens(text.lower()))


def _ranking_words(text: str) -> tuple[str, ...]:
    """The content words of *text*; if there are none, all its words."""
    text = as_one_word(text)
    every_word = words(text)
    asked = re.sub(package_data("documents")["questions"]["unspaced"], " ", text)
    content = [word for word in words(asked) if _is_content(word)]
    # The engines split "landlord's" and "l'avocat" into two tokens; the shorter is no content.
    ranked = [max(tokens(word), key=len) if "'" in word else word for word in content or every_word]
    # `getUserId` finds `get_user_id` too; GitHub, which begins with a capital, not `hub`.
    parts = identifier_parts(" ".join(_MIXED.findall(text))).lower().split()
    return (*ranked, *filter(_is_content, parts))


def _is_content(word: str) -> bool:
    """Whether *word* is no stop word; "what's" is one, as "what" is, and not "s'abonner"."""
    first, _, rest = word.partition("'")
    return word not in STOP_WORDS and (first not in STOP_WORDS or len(rest) > 2)
