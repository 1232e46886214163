"""The words of a query: split, without stop words, stemmed."""

import re

import Stemmer

#: Function words. Negations (not, no, never, without) are left out: they carry meaning.
STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between both
    but by can could did do does doing down each even few for from further get had has have having
    he her here hers herself him himself his how i if in into is it its itself just let like may me
    might more most must my myself of off on once only or other our ours ourselves out over own s
    same shall she should so some such t than that the their theirs them themselves then there these
    they this those through to too under until up us very was we were what when where which while
    who whom why will with would you your yours yourself yourselves
    """.split()
)
_WORD = re.compile(r"[^\W_]+")
#: Where a part of an identifier begins: `get|User|Id`, `HTTP|Server`, `utf|8`.
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z]{2})(?=[0-9])")


def words_of(text: str) -> list[str]:
    """The words of *text* as written; an underscore ends a word."""
    return _WORD.findall(text)


def query_words(query: str) -> list[str]:
    """The words of *query* and the parts of its identifiers, without stop words unless alone."""
    found = words_of(f"{query} {_BORDER.sub(' ', query)}".lower())
    words = list(dict.fromkeys(found))
    return [word for word in words if word not in STOP_WORDS] or words


def stems(words: list[str]) -> list[str]:
    """Snowball's English stem of each word."""
    return list(Stemmer.Stemmer("english").stemWords(words))
