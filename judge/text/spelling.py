"""Lets British and American spellings of a word meet, in an index and in questions.

Rules by the endings of words: what they write need not be a word, as long as no two different
words become one (`prise` and `prize`, `tour` and `tor`, `filling` and `filing` stay apart).
"""

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Za-z]{4,40}")

_ENDINGS = r"s|d|r|rs|ed|es|ing|er|ers"
_IZE_STEM = (
    r"(?!(?:com)?prom|(?:pr|d|ch)em|parad|treat)(?=\w{3,}is)"
    r"(\w*[aeiouy](?:[bdglmnrst]|gn|rd|gm|th|ph)|\w+ic)"
)
"""What stands before -ise where Americans write -ize: not in precise, promise, revise, surprise."""

_OUR_ENDINGS = "s|ed|ing|ings|er|ers|able|ably|al|ful|fully|hood|hoods|ist|ism|ite|ites|less|ly|y"
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), american)
    for pattern, american in (
        (rf"{_IZE_STEM}is(e|e?(?:{_ENDINGS})|ations?|ational|able|ingly)", r"\1iz\2"),
        (rf"(\w{{2,}}l)ys(e|e?(?:{_ENDINGS}))", r"\1yz\2"),
        (rf"(\w{{3,}}|od|arm)our({_OUR_ENDINGS})?", r"\1or\2"),
        (r"(?!timbre)(\w{2,}[bt])re(s?)", r"\1er\2"),
        (r"(\w{2,}[bt])r(ed|ing)", r"\1er\2"),
        (r"(practi)s(e|ed|es|ing)", r"\1c\2"),
        (r"(\w{3,}l)ogu(?:e(s|d)?|(ing))", r"\1og\2\3"),
        (
            r"(\w*[aeiouy]\w*[^aeiouy][aeiou])ll(ed|ing|ings|er|ers|or|ors|ist|ous)",
            r"\1l\2",
        ),
        (r"(def|off|lic|pret)enc(e|es|ed|ing|eless)", r"\1ens\2"),
        (r"(program)me(s)?", r"\1\2"),
        (r"(fulfil|enrol|instal)l(s|ment|ments)?", r"\1\2"),
        (r"(skil|wil)l(ful|fully)", r"\1\2"),
        (r"(acknowledg|judg|lodg|abridg)e(ments?)", r"\1\2"),
        (r"(an|pr|h|p|orthop|encyclop|leuk|arch|medi|isch)ae(sth\w+|mo\w*|mi\w+|di\w+|ology\w*|val\w*)",
         r"\1e\2"),
        (r"(f|d)oe(t\w+|s?trog\w+)|oe(str\w+|soph\w+)", r"\1e\2\3"),
        (r"(\w*m)anoeuv(?:re|er)(s|d|ed)?", r"\1aneuver\2"),
    )
)  # fmt: skip
_WORDS = {
    "grey": "gray", "greys": "grays", "plough": "plow", "ploughs": "plows", "ploughed": "plowed",
    "mould": "mold", "moulds": "molds", "mouldy": "moldy", "cosy": "cozy", "sceptic": "skeptic",
    "sceptical": "skeptical", "aluminium": "aluminum", "jewellery": "jewelry", "ageing": "aging",
    "pyjamas": "pajamas", "artefact": "artifact", "artefacts": "artifacts", "draught": "draft",
    "draughty": "drafty", "sulphur": "sulfur", "axe": "ax", "licence": "license",
}  # fmt: skip


def meeting_spellings(text: str) -> str:
    """*text* with one spelling for each word that British and American English write apart.

    >>> meeting_spellings("Colour and color, centre, travelling")
    'color and color, center, traveling'
    """
    return _WORD.sub(_respelled, text)


def _respelled(word: re.Match[str]) -> str:
    return _spelling(word[0].lower()) or word[0]


@lru_cache(maxsize=50_000)
def _spelling(word: str) -> str:
    """The American spelling of *word*, an empty string where that is its own."""
    if listed := _WORDS.get(word):
        return listed
    for pattern, american in _RULES:
        if found := pattern.fullmatch(word):
            return found.expand(american)
    return ""
