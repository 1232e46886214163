"""Brackets of any script that hold a digit: what a citation may be written in, or dressed up as.

Escapes, HTML codes and brackets without a partner are seen through. Linear in the text.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_OPENERS: Final = (
    "[{༺༼᚛⁅⌈⌊〈❬❮❰❲❴⟅⟦⟨⟪⟬⦃⦇⦉⦋⦍⦏⦑⦓⦕⦗⧘⧚⧼⸢⸤⸦⹕⹗⹙⹛〈《「『【〔〖〘〚︗︷︹︻︽︿﹁﹃﹇﹛﹝［｛｢"
)
_CLOSERS: Final = (
    "]}༻༽᚜⁆⌉⌋〉❭❯❱❳❵⟆⟧⟩⟫⟭⦄⦈⦊⦌⦎⦐⦒⦔⦖⦘⧙⧛⧽⸣⸥⸧⹖⹘⹚⹜〉》」』】〕〗〙〛︘︸︺︼︾﹀﹂﹄﹈﹜﹞］｝｣"
)
"""Unicode's opening and closing punctuation (categories Ps and Pe) but for all that is drawn as a
parenthesis or as a quotation mark: those stand in ordinary prose."""

_EDGE: Final = re.compile(
    rf"(?P<open>[{re.escape(_OPENERS)}])|(?P<close>[{re.escape(_CLOSERS)}])"
    r"|(?P<code>&#?\w{1,8};|%5[BD])",
    re.IGNORECASE,
)
_ANGLES: Final = re.compile(r"<[^<>\n]{0,60}>|‹[^‹›\n]{0,60}›|«[^«»\n]{0,60}»")
_PERCENT: Final = {"%5b": "[", "%5d": "]"}

_REACH: Final = 40
"""Characters beside a bracket without its partner in which a digit still counts as inside it."""

_DEEPEST: Final = 8
"""Brackets inside brackets that are opened one by one; nobody but an attacker writes more."""

_TO_PARENTHESES: Final = str.maketrans(
    dict.fromkeys(_OPENERS + "<‹«", "(") | dict.fromkeys(_CLOSERS + ">›»", ")")
)


@dataclass(frozen=True, slots=True)
class NumberedBracket:
    """A bracket with a digit in it: `text` is what stands from `start` to `end`.

    It is plain when it opens and closes as brackets do, with no escape before it.
    """

    start: int
    end: int
    text: str
    is_plain: bool


def numbered_brackets(text: str) -> list[NumberedBracket]:
    """Every bracket of *text* that holds a digit, in order of their beginnings.

    Parentheses are prose; angle brackets count where they are closed.
    """
    angles = (
        NumberedBracket(found.start(), found.end(), found.group(), is_plain=False)
        for found in _ANGLES.finditer(text)
        if holds_digit(found.group())
    )
    return sorted([*_edges_walked(text), *angles], key=lambda bracket: bracket.start)


def in_parentheses(text: str) -> str:
    """*text* with parentheses for each bracket that holds a digit; everything else is kept."""
    for _ in range(_DEEPEST):
        found = numbered_brackets(text)
        if not found:
            return text
        text = _with_opened(text, found)
    return text.translate(_TO_PARENTHESES)


def _with_opened(text: str, brackets: Sequence[NumberedBracket]) -> str:
    pieces, at = [], 0
    for bracket in brackets:
        if bracket.start >= at:
            pieces += [text[at : bracket.start], _opened(bracket.text)]
            at = bracket.end
    return "".join([*pieces, text[at:]])


def _opened(bracket: str) -> str:
    for code, meant in _PERCENT.items():
        bracket = re.sub(code, meant, bracket, flags=re.IGNORECASE)
    return html.unescape(bracket).translate(_TO_PARENTHESES)


def _edges_walked(text: str) -> Iterator[NumberedBracket]:
    """Walk over the edges of brackets: each opener takes what follows, up to the next edge."""
    opened: int | None = None
    after = 0
    for edge in _EDGE.finditer(text):
        side = _side(edge)
        if side is None:
            continue
        if opened is None and side == "close":
            yield from _bracket(text, max(after, edge.start() - _REACH), edge.end())
        elif opened is not None:
            end = edge.end() if side == "close" else min(edge.start(), opened + _REACH)
            is_plain = side == "close" and text[opened - 1 : opened] != "\\"
            yield from _bracket(text, opened, end, is_plain=is_plain)
        opened = edge.start() if side == "open" else None
        after = edge.end()
    if opened is not None:
        yield from _bracket(text, opened, min(len(text), opened + _REACH))


def _side(edge: re.Match[str]) -> str | None:
    """Which edge this is; a code may be that of something else, and then it is none."""
    if edge["code"] is None:
        return edge.lastgroup
    meant = _PERCENT.get(edge["code"].lower()) or html.unescape(edge["code"])
    return "open" if meant in _OPENERS else "close" if meant in _CLOSERS else None


def _bracket(
    text: str, start: int, end: int, *, is_plain: bool = False
) -> Iterator[NumberedBracket]:
    whole = text[start:end]
    if holds_digit(html.unescape(whole) if "&" in whole else whole):
        yield NumberedBracket(start, end, whole, is_plain)


def holds_digit(text: str) -> bool:
    """Whether *text* has a digit of any script, superscript and circled ones included."""
    return any(character.isnumeric() for character in text)
