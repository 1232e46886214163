"""Untrusted text: as a reader sees it, to find brackets, and escaped for the prompt.

Seen through are entities, percent and letter escapes, tags, emphasis and invisible characters.
Code and the queries of addresses are no prose: what stands in them is left out.

Text of pages and people is data, never markup: when escaped it cannot close a block of the prompt,
start a new line, or look like the number of a reference or of a sentence.
"""

import functools
import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from judge.text.english import fold_space, strip_invisible

OPENERS: Final = "[【［〔⟦〖〚⁅❲﹝﹇⦋⟬〘"
CLOSERS: Final = "]】］〕⟧〗〛⁆❳﹞﹈⦌⟭〙"

_ENCODED: Final = re.compile(
    r"(?i)&(?:amp;)*(?P<name>#0*+\d{1,7}|#x0*+[\da-f]{1,6}|[a-z]{2,24});?"
    r"|(?:%(?:25)*|\\(?:u00|u0{6}|u\{0*|x))(?P<hex>[57][bd]|3\d)\}?"
)
"""A character as `&#91;`, `&lbrack;` or `&amp;#91;`; a bracket or digit as `%5B`, `\\u005b`."""

_CODE_BLOCK: Final = re.compile(r"(?ms)^[ \t]*(```|~~~)[^`\n]*\n.*?(?:^[ \t]*\1|\Z)")
_CODE: Final = re.compile(
    r"(?<!`)`(?=[^`\n]*[A-Za-z])(?=[^`\n]*(?:[A-Za-z_\])]\[|\w\(|[={};\"]))[^`\n]+`(?!`)"
)
"""A span in backticks with signs of code, as `a[0]`; else it is emphasis, as of `[1]`."""
_QUERY: Final = re.compile(r"(?:https?://|\bwww\.)[^\s\[\]<>?]{0,400}\?\S*", re.IGNORECASE)
_SIGN: Final = re.compile(r"[^\w\s\x20-\x7e]|[\u115f\u1160\u3164\uffa0]")  # empty letters
_SUPERSCRIPT: Final = re.compile(
    r"(?i)<(?:sup|ref)\b[^<>]*>(?:\s|<a\b[^<>]*>)*(\d{1,3}(?:\s?[,–-]\s?\d{1,3})*)\s*</\w+>"
)
_TAG: Final = re.compile(r"</?(?!cite\b)[a-z][^<>]{0,200}>|<!--[^>]{0,200}-->", re.IGNORECASE)
_EMPHASIS: Final = re.compile(r"[*_~`]+|\\(?=[^\w\s])")

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Mn", "Me"})
_SUPERSCRIPTS: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

_EDGE: Final = re.compile(rf"[{re.escape(OPENERS + CLOSERS)}{{}}｛｝]")
_MAX_DEPTH: Final = 8
"""Brackets within one another that are read; only an attacker writes more."""


class Seen(NamedTuple):
    """A text as displayed, and where each of its characters begins and ends in the original."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def as_seen(text: str) -> Seen:
    """*text* as a reader sees it, without code."""
    seen = _decoded(text)
    for pattern in (_CODE_BLOCK, _QUERY):
        seen = _replaced(seen, pattern, lambda _: " ")
    seen = _replaced(seen, _SIGN, _if_visible)
    seen = _replaced(seen, _SUPERSCRIPT, lambda number: number[1].translate(_SUPERSCRIPTS))
    seen = _replaced(seen, _TAG, lambda _: "")
    seen = _replaced(seen, _CODE, lambda _: " ")
    return _replaced(seen, _EMPHASIS, lambda _: "")


def bracket_spans(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the square brackets in *text*, closed by those of any script, inner first."""
    opened: list[int] = []
    for edge in _EDGE.finditer(text):
        if edge[0] in OPENERS:
            opened = [*opened[1 - _MAX_DEPTH :], edge.start()]
        elif edge[0] in CLOSERS and opened:
            yield opened.pop(), edge.end()


def in_parentheses(text: str) -> str:
    """*text* with parentheses for each square or curly bracket around a number, or not paired."""
    seen = _decoded(text)
    if not _EDGE.search(seen.text):  # nearly always
        return text
    opened: list[int] = []
    edges: list[int] = []
    numbers = [0, *accumulate(character.isnumeric() for character in seen.text)]
    for edge in _EDGE.finditer(seen.text):
        if _is_opener(edge[0]):
            opened.append(edge.start())
        elif not opened:
            edges.append(edge.start())
        elif numbers[edge.start()] > numbers[start := opened.pop()]:
            edges += [start, edge.start()]
    return _with_parentheses(text, seen, [*opened, *edges])


def without_brackets(text: str) -> str:
    """*text* with a parenthesis for every square or curly bracket, encoded ones too."""
    seen = _decoded(text)
    return _with_parentheses(text, seen, [edge.start() for edge in _EDGE.finditer(seen.text)])


def _with_parentheses(text: str, seen: Seen, edges: Sequence[int]) -> str:
    pieces, done = [], 0
    for at in sorted(edges):
        pieces += [text[done : seen.starts[at]], "(" if _is_opener(seen.text[at]) else ")"]
        done = seen.ends[at]
    return "".join([*pieces, text[done:]])


def _is_opener(edge: str) -> bool:
    return edge in OPENERS or edge in "{｛"


def _decoded(text: str) -> Seen:
    return _replaced(Seen(text, range(len(text)), range(1, len(text) + 1)), _ENCODED, _character)


def _character(encoded: re.Match[str]) -> str:
    """The one character that *encoded* stands for; itself where it stands for none."""
    if encoded["hex"]:
        return chr(int(encoded["hex"], 16))
    character = html.unescape(f"&{encoded['name']};")
    return character if len(character) == 1 else encoded[0]


def _if_visible(sign: re.Match[str]) -> str:
    return "" if sign[0].isalpha() or unicodedata.category(sign[0]) in _HIDDEN else sign[0]


def _replaced(seen: Seen, pattern: re.Pattern[str], write: Callable[[re.Match[str]], str]) -> Seen:
    """*seen* with each match of *pattern* rewritten; its characters keep the match's place."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for match in pattern.finditer(seen.text):
        at, end = match.span()
        new = write(match)
        pieces += [seen.text[done:at], new]
        starts += [*seen.starts[done:at], *[seen.starts[at]] * len(new)]
        ends += [*seen.ends[done:at], *[seen.ends[end - 1]] * len(new)]
        done = end
    if not pieces:
        return seen
    pieces.append(seen.text[done:])
    return Seen("".join(pieces), [*starts, *seen.starts[done:]], [*ends, *seen.ends[done:]])


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
    line = _TAG_OPENING.sub("‹", fold_space(strip_invisible(text)))
    return json.dumps(line, ensure_ascii=False)
