"""Brackets of any script that hold a digit: what a citation may be written in, or dressed up as.

Escapes, codes of HTML and of addresses, tags, and brackets without a partner are seen through.
Linear in the text.
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
"""Unicode's opening and closing punctuation (categories Ps and Pe) and all else that is named a
bracket, but for plain parentheses and quotation marks: those stand in ordinary prose.
Two are written as escapes: normalised, as an editor may do to this file, they are other ones."""

_EDGE: Final = re.compile(
    rf"(?P<open>[{re.escape(_OPENERS)}])|(?P<close>[{re.escape(_CLOSERS)}])"
    r"|(?P<code>&(?:amp;)*#?\w{1,32};?|(?:%(?:25)*|\\(?:u00|u\{0*|x))(?P<hex>[57][BD]))",
    re.IGNORECASE,
)
"""A bracket as it is, or as `&#91;`, `&lbrack;`, `%5B`, `\\u005b`, coded twice too."""

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
"""Numbers in angle brackets, in the elements that hold citations, alone in any other element, and
behind a link that leads to no address."""

_OWN_LINK: Final = re.compile(r"\[(\d{1,6})\]?(?P<link>\]\(#[^\d()\[\]]{0,30}\1[^\d()\[\]]{0,9}\))")
"""A citation that leads to the entry of its own number in a list of sources: `[1](#ref-1)`."""

_SIGNS: Final = f"{_OPENERS}{_CLOSERS}<＜﹤‹«≪\\"
"""What every bracket has one of, or a code; most texts have neither, and are read no further."""

_SIGN: Final = re.compile(
    rf"[{re.escape(_SIGNS)}]|%(?i:25|3c|[57][bd])|&(?i:(?:amp;)*(?:#|\w{{1,32}};|lt))"
)
_BEGINS_SIGN: Final = re.compile(rf"[{re.escape(_SIGNS)}%&]")
"""Where a sign may begin: a set alone is looked for in a fifth of the time."""

PLAIN_MARK: Final = re.compile(r"\[[0-9]{1,6}\]")
"""A citation as it should be; a text with no other signs needs no closer look."""

_REACH: Final = 40
"""Characters beside a bracket without its partner in which a digit still counts as inside it."""

_LONGEST: Final = 2000
"""Characters of a bracket with others in it, as many as a text of a reply may have."""

_DEEPEST: Final = 8
"""Brackets inside brackets that are opened one by one; nobody but an attacker writes more."""


class NumberedBracket(NamedTuple):
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
    if not _BEGINS_SIGN.search(text) or not _SIGN.search(text):
        return []
    if "](" not in text and not _SIGN.search(PLAIN_MARK.sub("", text)):
        return [
            NumberedBracket(found.start(), found.end(), found[0], is_plain=True)
            for found in PLAIN_MARK.finditer(text)
        ]
    tagged = (
        bracket
        for pattern in _TAGGED
        for found in pattern.finditer(text)
        for bracket in _bracket(text, found.start(), found.end())
    )
    own_links = {link.start("link") for link in _OWN_LINK.finditer(text)}
    found: dict[int, NumberedBracket] = {}
    for bracket in (*_edges_walked(text), *(one for one in tagged if one.start not in own_links)):
        found.setdefault(bracket.start, bracket)
    return [found[start] for start in sorted(found)]


def in_parentheses(text: str) -> str:
    """*text* with parentheses for each bracket that holds a digit; everything else is kept."""
    for _ in range(_DEEPEST):
        found = numbered_brackets(text)
        if not found:
            return text
        text = _with_opened(text, found)
    return _opened(text)


def _with_opened(text: str, brackets: Sequence[NumberedBracket]) -> str:
    pieces, at = [], 0
    for bracket in brackets:
        if bracket.start >= at:
            pieces += [text[at : bracket.start], _opened(bracket.text)]
            at = bracket.end
    return "".join([*pieces, text[at:]])


def _opened(text: str) -> str:
    """*text* with a parenthesis for every edge, coded ones too; no other code is touched."""
    text = _EDGE.sub(lambda edge: {"open": "(", "close": ")"}.get(_side(edge), edge.group()), text)
    text = re.sub(_LESS, "(", text, flags=re.IGNORECASE)
    return re.sub(_MORE, ")", text, flags=re.IGNORECASE)


def _edges_walked(text: str) -> Iterator[NumberedBracket]:
    """Walk over the edges of brackets: each opener takes what follows, up to the next edge.

    A digit that no such stretch holds is in the bracket that closes around it.
    """
    opened: int | None = None
    around: list[int] = []
    after, loose = 0, -1
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
        if not found and holds_digit(text[after : edge.start()]):
            loose = edge.start()
        opened = edge.start() if side == "open" else None
        after = edge.end()
        if side == "open":
            around.append(edge.start())
        elif around and (start := around.pop()) < loose:
            yield from _bracket(text, max(start, after - _LONGEST), after)
            loose = -1
    if opened is not None:
        yield from _bracket(text, opened, min(len(text), opened + _REACH))


def _side(edge: re.Match[str]) -> str:
    """Which edge this is, open or close; a code may be that of something else: then neither."""
    if edge["hex"]:
        return "open" if edge["hex"][1] in "bB" else "close"
    meant = html.unescape(edge.group().replace("amp;", ""))
    if len(meant) != 1:
        return ""
    return "open" if meant in _OPENERS else "close" if meant in _CLOSERS else ""


def _bracket(
    text: str, start: int, end: int, *, is_plain: bool = False
) -> Iterator[NumberedBracket]:
    whole = text[start:end]
    if holds_digit(_CODE.sub(_meaning, whole)):
        yield NumberedBracket(start, end, whole, is_plain)


def _meaning(code: re.Match[str]) -> str:
    """The character that is meant; one that is not seen is shown as the code, by most readers."""
    meant = html.unescape(code[0])
    return meant if meant and meant.isprintable() else code[0]


def holds_digit(text: str) -> bool:
    """Whether *text* has a digit of any script, superscript and circled ones included."""
    return any(character.isnumeric() for character in text)
