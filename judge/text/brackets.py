"""Finds brackets of any script with a digit inside: every form a citation may take, or imitate.

Escapes, HTML entities, percent encoding, tags and unbalanced brackets are recognised. Linear in
the text.
"""

import html
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_OPENERS: Final = (
    "[{༺༼᚛⁅⁽₍⌈⌊⌜⌞⎡⎢⎣⎧⎨⎩\u2329❨❪❬❮❰❲❴⟅⟦⟨⟪⟬⟮⦃⦅⦇⦉⦋⦍⦏⦑⦓⦕⦗⧘⧚⧼⸂⸄⸉⸌⸜⸢⸤⸦⸨⹕⹗⹙⹛〈《「『【〔〖〘〚﴿"
    "︗︵︷︹︻︽︿﹁﹃﹇﹛﹝［｛｟｢"
)
_CLOSERS: Final = (
    "]}༻༽᚜⁆⁾₎⌉⌋⌝⌟⎤⎥⎦⎫⎬⎭\u232a❩❫❭❯❱❳❵⟆⟧⟩⟫⟭⟯⦄⦆⦈⦊⦌⦎⦐⦒⦔⦖⦘⧙⧛⧽⸃⸅⸊⸍⸝⸣⸥⸧⸩⹖⹘⹚⹜〉》」』】〕〗〙〛﴾"
    "︘︶︸︺︼︾﹀﹂﹄﹈﹜﹞］｝｠｣"
)
"""Unicode's opening and closing punctuation (categories Ps and Pe) and whatever else is named a
bracket, except parentheses and quotation marks, which ordinary prose has. Two are written as
escapes, since Unicode normalisation of this file by an editor would change them."""

_EDGE: Final = re.compile(
    rf"(?P<open>[{re.escape(_OPENERS)}])|(?P<close>[{re.escape(_CLOSERS)}])"
    r"|(?P<code>&(?:amp;)*#?\w{1,32};?|(?:%(?:25)*|\\(?:u00|u\{0*|x))(?P<hex>[57][BD]))",
    re.IGNORECASE,
)
"""A bracket as such, or encoded (also twice) as `&#91;`, `&lbrack;`, `%5B` or `\\u005b`."""

_CODE: Final = re.compile(r"&#?\w{1,32};?")

_LESS: Final = r"(?:[<＜﹤‹«≪]|&(?:amp;)*(?:lt|#0*60|#x0*3c);|%(?:25)*3c)"
_MORE: Final = r"(?:[>＞﹥›»≫]|&(?:amp;)*(?:gt|#0*62|#x0*3e);|%(?:25)*3e)"
_INSIDE: Final = r"[^<>＜＞﹤﹥‹›«»≪≫\[\]]"
_TAGGED: Final = (
    # <see 9> but not "if 3 < 5 and x > 2"
    re.compile(
        rf"{_LESS}(?!\s{{1,9}}[£€$]?[\d.,]{{1,20}}\s{{1,9}}[^\W\d_]{{2}}){_INSIDE}{{1,60}}?{_MORE}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_LESS}\s*(?:a|cite|citation|fn|footnote|q|ref|source|sub|sup)\b{_INSIDE}{{0,60}}?{_MORE}"
        rf"{_INSIDE}{{1,40}}",
        re.IGNORECASE,
    ),
    re.compile(rf"{_LESS}{_INSIDE}{{1,60}}?{_MORE}[\W\d_]{{1,20}}?{_LESS}\s*/", re.IGNORECASE),
    re.compile(r"\]\([^()\[\]/]{1,40}\)"),
)
"""Numbers in angle brackets, in elements for citations, alone in any other element, and in links
whose target is no URL."""

_OWN_LINK: Final = re.compile(r"\[(\d{1,6})\]?(?P<link>\]\(#[^\d()\[\]]{0,30}\1[^\d()\[\]]{0,9}\))")
"""A citation that links to its own entry in a list of sources: `[1](#ref-1)`."""

_BEGINS: Final = re.compile(rf"[{re.escape(_OPENERS + _CLOSERS)}<＜﹤‹«≪\\%&]")
"""Every bracket begins or ends with one of these, or is encoded; most texts have none."""

PLAIN_MARK: Final = re.compile(r"\[[0-9]{1,6}\]")
"""A citation in its simplest form."""

_REACH: Final = 40
"""Characters beside an unbalanced bracket in which a digit still counts as inside it."""

_MAX_LENGTH: Final = 2000
"""Characters of a bracket that contains others; the most that a text of a reply may have."""

_MAX_DEPTH: Final = 8
"""Nested brackets that are replaced level by level; only an attacker writes more."""


class NumberedBracket(NamedTuple):
    """A bracket with a digit in it; `text` runs from `start` to `end`, brackets included.

    `is_plain` means that both brackets are there and no backslash precedes it.
    """

    start: int
    end: int
    text: str
    is_plain: bool


def numbered_brackets(text: str) -> list[NumberedBracket]:
    """Every bracket of *text* that holds a digit, by start.

    Parentheses never count; angle brackets count only if closed.
    """
    if not _BEGINS.search(text):
        return []
    tagged = (
        bracket
        for pattern in _TAGGED
        for match in pattern.finditer(text)
        for bracket in _bracket(text, match.start(), match.end())
    )
    own_links = {link.start("link") for link in _OWN_LINK.finditer(text)}
    by_start: dict[int, NumberedBracket] = {}
    others = (bracket for bracket in tagged if bracket.start not in own_links)
    for bracket in (*_scan_edges(text), *others):
        by_start.setdefault(bracket.start, bracket)
    return [by_start[start] for start in sorted(by_start)]


def in_parentheses(text: str) -> str:
    """*text* with parentheses instead of each bracket that holds a digit, otherwise unchanged."""
    for _ in range(_MAX_DEPTH):
        brackets = numbered_brackets(text)
        if not brackets:
            return text
        text = _replace_brackets(text, brackets)
    return _replace_edges(text)


def _replace_brackets(text: str, brackets: Sequence[NumberedBracket]) -> str:
    pieces, at = [], 0
    for bracket in brackets:
        if bracket.start >= at:
            pieces += [text[at : bracket.start], _replace_edges(bracket.text)]
            at = bracket.end
    return "".join([*pieces, text[at:]])


def without_brackets(text: str) -> str:
    """*text* with a parenthesis for every bracket, encoded ones too; keeps all other entities."""
    return _EDGE.sub(lambda edge: {"open": "(", "close": ")"}.get(_side(edge), edge.group()), text)


def _replace_edges(text: str) -> str:
    """*text* without brackets, and with parentheses for angle brackets."""
    text = without_brackets(text)
    text = re.sub(_LESS, "(", text, flags=re.IGNORECASE)
    return re.sub(_MORE, ")", text, flags=re.IGNORECASE)


def _scan_edges(text: str) -> Iterator[NumberedBracket]:
    """The brackets between one edge (opening or closing) and the next, with a digit between them.

    A digit outside all of these belongs to the bracket that closes around it.
    """
    opened: int | None = None
    around: list[int] = []  # the openers that are not closed yet
    after, loose = 0, -1  # the end of the last edge, and of the last digits outside
    for edge in _EDGE.finditer(text):
        side = _side(edge)
        if not side:
            continue
        found: list[NumberedBracket] = []
        if opened is None and side == "close":
            found += _bracket(text, max(after, edge.start() - _REACH), edge.end())
        elif opened is not None:
            end = edge.end() if side == "close" else min(edge.start(), opened + _REACH)
            is_plain = side == "close" and text[opened - 1 : opened] != "\\"
            found += _bracket(text, opened, end, is_plain=is_plain)
        yield from found
        if not found and has_digit(text[after : edge.start()]):
            loose = edge.start()
        opened = edge.start() if side == "open" else None
        after = edge.end()
        if side == "open":
            around.append(edge.start())
        elif around and (start := around.pop()) < loose:
            yield from _bracket(text, max(start, after - _MAX_LENGTH), after)
            loose = -1
    if opened is not None:
        yield from _bracket(text, opened, min(len(text), opened + _REACH))


def _side(edge: re.Match[str]) -> str:
    """`open` or `close`; empty for an entity that is no bracket."""
    if edge["hex"]:
        return "open" if edge["hex"][1] in "bB" else "close"
    character = html.unescape(edge.group().replace("amp;", ""))
    if len(character) != 1:
        return ""
    return "open" if character in _OPENERS else "close" if character in _CLOSERS else ""


def _bracket(
    text: str, start: int, end: int, *, is_plain: bool = False
) -> Iterator[NumberedBracket]:
    whole = text[start:end]
    if has_digit(_CODE.sub(_decoded, whole)):
        yield NumberedBracket(start, end, whole, is_plain)


def _decoded(entity: re.Match[str]) -> str:
    """The character of *entity*; an invisible one stays encoded, as most viewers show it."""
    character = html.unescape(entity[0])
    return character if character and character.isprintable() else entity[0]


def has_digit(text: str) -> bool:
    """Whether *text* has a digit of any script, including superscript and circled ones."""
    return any(character.isnumeric() for character in text)
