"""Reads the citation marks of a text: the one reader for verdicts, `judge check` and answers.

A mark is a square bracket of any script, in any disguise, that holds only numbers of any script,
separators and ranges, and words for a reference or a place in one: `[1]`, `[1, 3]`, `[1-3]`,
`[see 2]`, `[Ref 2, p. 4]`, `[^1]`. All else is text: quotation marks, braces, links, sums, dates,
times, amounts, `[sic]`, `[2019] UKSC 28`, `Form [N5B]`. Takes linear time.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, NamedTuple

from judge.citations.facts import SMALL_NUMBERS
from judge.text.english import fold_space
from judge.text.untrusted import CLOSERS, OPENERS, Seen, as_seen, bracket_spans

_MAX_RANGE: Final = 20
"""Numbers in a range, about as many as a prompt has references: a longer one is malformed."""
_MAX_LENGTH: Final = 200
"""Characters in a bracket; a longer one is text."""
_MAX_FRACTION: Final = 20
"""`[1/2]` cites two references; with a greater number it is a date, a share or `24/7`."""

_TENS = ("", "x", "xx", "xxx")
_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_WORDS: Final = {
    **{f"{ten}{one}": 10 * t + o for t, ten in enumerate(_TENS) for o, one in enumerate(_ONES)},
    **{word: number for number, word in enumerate(SMALL_NUMBERS)},
    **{word: number for number, word in enumerate(_ORDINALS)},
}
"""The value of each number word and Roman numeral, which count only beside a reference word."""
_SAID: Final = "|".join(sorted(filter(None, _WORDS), key=len, reverse=True))

_REFERENCE: Final = (
    r"(?:references?|refs?|sources?|citations?|cite[sd]?|footnotes?|notes?|fn|documents?|docs?"
    r"|passages?|excerpts?|snippets?|files?|guidance|r[ée]f[ée]rences?|r[ée]f|quellen?|fuentes?|fonte|bron)"
)
_DASH: Final = r"[-‐‑‒–—―−~]"
_TOKEN: Final = re.compile(
    r"(?P<place>(?:(?:p|page|para|paragraph|section|sentence|line|chapter|art|article|clause|rule|part"
    r"|fig|figure|table|bullet|step|item|point|box|s)s?|pp|ch|cl|col|l|[§¶]+)"
    rf"\.?\s?\d+(?:\s?{_DASH}\s?l?\d+|\s?ff?\b|(?:\(\w{{1,3}}\))+)?|\{{\d+\}}|†\D.*)"
    rf"|(?P<reference>{_REFERENCE}(?![^\W\d_]))"
    r"|(?P<number>\d+)(?P<ordinal>(?:st|nd|rd|th)\b)?"
    rf"|(?P<range>{_DASH}|\.\.+|\b(?:to|through)\b)"
    r"|(?P<separator>[^\w\s£$¢¥\u20a0-\u20cf%‰°=×÷+?!≈±<>{}]"
    r"|(?<![^\W\d_])(?:see|also|and)(?![^\W\d_])"
    r"|\b(?:cf|the|numbers?|nos?|nr|n(?=\.)|n°|cit|ibid|or|(?:et|und|y|en?)(?= )"
    r"|siehe|voir|v[ée]ase|vedi|zie)(?![^\W\d_]))"
    rf"|(?P<linked>\b(?:from|in|per|by|above|below)\b)|(?P<said>\b(?:{_SAID})\b)"
    r"|(?P<space> )"
)
_NO_NUMBER: Final = re.compile(
    r"\d[:.]\d|(?<!\d)\d{1,3}(?:,(?!00[1-9])\d{3})+(?!\d)|\d([-‐–/])\d+\1\d|^(?:::|\.\d|and |or )"
    r"|\d{3} \d{4}|\d{5} \d"
)
"""Times, decimals, thousands, dates, telephone numbers and asides."""
_UNCLEAR: Final = re.compile(
    rf"(?:{_REFERENCE}\.? )?(?=.*[^\d,])(?:(?:^| ?[,;&] ?|(?<= ))(?:[?~≈±+] ?\d{{1,3}}|\d{{1,3}}"
    rf"(?: ?(?:[?!~+]+|\(\?\)|{_DASH}?ish|or so"
    rf"|\(?{_DASH}?[a-z](?<![gkhlmpsx])(?<!\d\df)\)?))?)){{1,9}}"
)
"""A number with a letter (no unit, no woman's age) or a mark of doubt at it, maybe among others."""

_LAW_REPORT: Final = re.compile(
    r"\[(?:1[2-9]|20)\d\d(?:[-–/]\d\d(?:\d\d)?)?\]"
    r"\s(?:\d{1,2}\s)?(?:[A-Z][A-Z.()]{0,9}|(?:Ch|Fam|All|Cr|Bus|Env|Imm|Lloyd['’]s|Lloyds)\b\.?)"
    r"(?:\s[&A-Z(][A-Za-z.)]{0,8}){0,4}(?:\s(?:[A-Z]{1,3}-?)?|(?<=\]\s[CL]))\d"
)
"""The year of a law report and what follows: `[2019] UKSC 28`, `[1998] 1 WLR 896`."""

_NAME: Final = (
    r"(?:(?:reference|ref|source|citation|footnote|fuente)s?|quellen?|fonte|bron)(?![^\W\d_])"
)
_BELOW_100: Final = rf"(?:\d{{1,2}}(?!\d)|(?:{'|'.join(SMALL_NUMBERS)}|(?-i:[IVX]{{2,6}}))\b)"
_NTH: Final = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{'|'.join(_ORDINALS)})"
_BARE: Final = re.compile(
    # The words before and after are those of everyday references: "quote reference 45".
    r"(?P<everyday>\b(?:quot(?:e|ing)|giv(?:e|ing)|your|his|her|their|our|my|an?|under|booking|case|"
    r"crime|order|claim|payment|account|file|customer|complaint|invoice|policy|job)\s+(?:the\s+)?)?"
    rf"\b{_NAME}(?:\.|:|\s?#|-|\s?\((?=\d{{1,2}}\))|\s+(?:nos?\b\.?|numbers?\b))?\s{{0,2}}"
    rf"(?P<listed>{_BELOW_100}(?:\s?(?:,|;|&|{_DASH}|and|or|to)\s?{_BELOW_100})*)"
    r"(?!\s?(?:years?|months?|weeks?|days?|hours?|minutes?|times|letters?|pages?|people|when|if"
    r"|ago|later|pounds|euros|per|(?-i:[A-Z]))\b|[/%°£€]|[.,]\d)"
    rf"|\bthe\s(?P<nth>{_NTH}(?:\s(?:and|or)\s(?:the\s)?{_NTH})?)\s"
    r"(?:reference|source|citation|footnote)s?\b(?!\s(?:of|from|you|he|she|they)\b)"
    r"|(?<!met[re]{2})(?<!met[re]{2}s)(?<!feet)(?<!inch)(?<!inches)(?<!yards)"
    r"(?:(?<=[^\W\d_]{3})|(?<=[^\W\d_]{3} )|(?<=[.,;!?\"”’]))(?P<raised>[⁰¹²³⁴-⁹]{1,3})(?!\w)"
    rf"|[{re.escape(CLOSERS)}]\s?(?:,|&|/|{_DASH}|and|or|to)\s?(?P<after>\d{{1,3}})(?=\s?(?:[.,;:!?)\[]|$))"
    r"|†\s?(?P<dagger>\d{1,3})\b|\\[a-z]{0,9}cite[a-z]*(?:\[[^\[\]]{0,40}\])*\{[^{}\d]{0,20}(?P<tex>\d{1,3})"
    r"|\bturn\d+(?:search|view|fetch|news|file)(?P<turn>\d{1,3})\b"
    r"|<cite\b[^<>\d]{0,40}(?P<tag>\d{1,6})"
    rf"|[{re.escape(OPENERS)}]\s?(?P<unclosed>\d{{1,3}})\b"
    rf"(?![^{re.escape(OPENERS + CLOSERS)}]*[{re.escape(CLOSERS)}])",
    re.IGNORECASE,
)
"""What names a reference outside of a bracket; it matters only if there is no such reference."""

_MAY_BE_BARE: Final = re.compile(
    rf"(?i)ref|sour|cita|foot|turn|quel|f[uo]e?nt|bron|[⁰¹²³⁴-⁹†\\<{re.escape(OPENERS + CLOSERS)}]"
)
"""What any match of that has something of; found in a fourth of the time."""

_CITE: Final = re.compile(r"(?i)<cite\b(?:\s+i\s*=\s*([\"']?)(\d{1,6})\1\s*/?>|[^<>]{0,200}>?)")


class Mark(NamedTuple):
    """One bracket or tag with the numbers it cites, in order; none of `[-1]` and `[3-1]`."""

    numbers: tuple[int, ...]
    start: int
    end: int
    text: str


class Marks(NamedTuple):
    """What cites something in a text."""

    marks: tuple[Mark, ...]
    unclear: tuple[str, ...] = ()
    """Brackets with a number that may be one of a reference: `[9a]`, `[9?]`."""
    bare: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """What names references outside of brackets, with their numbers: `reference 9`, `word⁹`."""


def read_marks(text: str) -> Marks:
    """All that cites something in *text*."""
    seen = as_seen(text)
    marks, unclear = list[Mark](), []
    for start, end in bracket_spans(seen.text):
        inside = seen.text[start + 1 : end - 1][: _MAX_LENGTH + 1]
        body = fold_space("".join(map(_plain_character, inside))).lower()
        numbers = None if _LAW_REPORT.match(seen.text, start) else _numbers(body)
        if numbers is not None:  # one that holds others comes after them
            at, to = seen.starts[start], seen.ends[end - 1]
            while marks and marks[-1].start >= at:
                marks.pop()
            marks.append(Mark(numbers, at, to, text[at:to]))
        elif _UNCLEAR.fullmatch(body):
            unclear.append(seen.text[start:end])
    return Marks(tuple(marks), tuple(unclear), tuple(_bare(seen)))


def find_marks(text: str) -> tuple[Mark, ...]:
    """The brackets of *text* that cite, in order."""
    return read_marks(text).marks


def find_cite_marks(text: str) -> list[Mark]:
    """Every `<cite i="n"/>` of *text*, in order, well formed or not."""
    return [
        Mark((int(match[2]),) if match[2] else (), match.start(), match.end(), match[0])
        for match in _CITE.finditer(text)
    ]


def _plain_character(character: str) -> str:
    value = unicodedata.numeric(character, None)
    if value is None:
        return unicodedata.normalize("NFKC", character)
    return str(int(value)) if value == int(value) else character


def _numbers(body: str) -> tuple[int, ...] | None:
    """The distinct numbers that *body* cites; none if it is malformed, None if it is text."""
    if len(body) > _MAX_LENGTH or ("†" not in body and _NO_NUMBER.search(body)):
        return None
    tokens = list(_tokens(body))
    kinds = [kind for kind, _ in tokens]
    if "other" in kinds or "number" not in kinds:
        return None
    numbers = [int(word) for kind, word in tokens if kind == "number"]
    if "/" in body and max(numbers) > _MAX_FRACTION:
        return None
    return _listed(tokens, numbers)


def _tokens(body: str) -> Iterator[tuple[str, str]]:
    """The kind and text of each part of *body*; number words are numbers after a reference word."""
    at, is_named = 0, re.search(rf"\b{_REFERENCE}(?![^\W\d_])", body) is not None
    while at < len(body):
        token = _TOKEN.match(body, at)
        if token is None:
            yield "other", body[at:]
            return
        at, kind = token.end(), str(token.lastgroup)
        if kind == "said" or token["ordinal"]:
            word = token["number"] or str(_WORDS.get(token[0], 0))
            yield ("number" if is_named else "other"), word
        elif kind == "linked":
            yield ("separator" if is_named else "other"), token[0]
        elif kind != "space":
            yield kind, token[0][:12]


def _listed(tokens: list[tuple[str, str]], numbers: list[int]) -> tuple[int, ...]:
    """*numbers* with what lies in each range between them; none if a range is not one."""
    listed: dict[int, None] = {}
    place, opened = 0, False
    for (kind, _), (before, _) in zip(tokens, [("", ""), *tokens]):
        if kind == "range" and before not in {"number", "reference"}:
            return ()
        if kind == "number":
            first, last = numbers[place - 1] if opened else numbers[place], numbers[place]
            if not first <= last < first + _MAX_RANGE:
                return ()
            listed.update(dict.fromkeys(range(first, last + 1)))
            place += 1
        opened = kind == "range" and before == "number"
    return tuple(listed)


def _bare(seen: Seen) -> Iterator[tuple[str, tuple[int, ...]]]:
    for found in _BARE.finditer(seen.text) if _MAY_BE_BARE.search(seen.text) else ():
        if not found["everyday"]:
            named = "".join(map(_plain_character, str(found[str(found.lastgroup)]))).lower()
            said = re.findall(rf"\d+|\b(?:{_SAID})\b", named)
            yield found[0], tuple(int(one) if one.isdigit() else _WORDS[one] for one in said)
