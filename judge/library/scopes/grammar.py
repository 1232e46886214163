"""A text -> the tree of its @mentions, and the remaining words.

    revenue (@collection:a OR @tag:b) -@folder:old   ->   revenue, [[a OR b] AND not old]

    scope   = { mention | bracket | "AND" | "OR" }
    bracket = [not] "(" scope ")"
    mention = [not] "@" kind ":" value { "," value } | [not] "@*"
    not     = "-" | "!" | "NOT "

A bracket with anything else in it is text, and mentions in it count as if it was not there.
`scopes.py` says what the mentions mean.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from judge.errors import BadScope, MissingValue

STAR = "*"

MAX_DEPTH = 8
"""Nesting levels of a scope; what is outside of all brackets is the first. Limited, since functions
that walk a scope recurse."""

SYNTAX = "Write it as in (@collection:a OR @tag:b) -@folder:old"

_NOT = r"(?P<not>[-!\u2010-\u2015\u2212]|(?i:not)\s+)?"
_TOKEN = re.compile(
    rf"(?<![^\s(]){_NOT}(?:@(?:(?P<kind>[^\W\d_][\w-]*):|(?P<star>\*)(?=[\s).,;!?]|\Z))"
    r"|(?P<bracket>\())|(?P<open>\()|(?P<close>\))|(?P<word>[^\s()]+)"
)
"""A `bracket` may belong to the scope; that of `f(x)` only opens."""

_VALUE = re.compile(
    r'"(?P<quoted>(?:[^"\\]|\\.)*)"|“(?P<curly>[^“”]*)”|(?P<plain>(?:[^\s,()]|\([^\s,()]*\)?)*)',
    re.DOTALL,
)
_AFTER_QUOTED = re.compile(r"[\s,).;!?]|\Z")
_AFTER_BRACKET = re.compile(r"[\s).,;:!?]|\Z")
_PROSE_MARKS = ".;!?"
"""At the end of an unquoted value these belong to the surrounding sentence."""

_BARE = re.compile(r"[^\s,\"“”\\()]*[^\s,\"“”\\.;!?()]")


@dataclass(frozen=True, slots=True)
class Mention:
    """`@kind:value,value` at offset *start*; for `@*` the kind is `*` and there are no values."""

    kind: str
    values: tuple[str, ...]
    is_excluded: bool
    start: int

    @property
    def text(self) -> str:
        """The mention without its values, for messages."""
        return f"{'-' if self.is_excluded else ''}@{self.kind}"


@dataclass(frozen=True, slots=True)
class Group:
    """Mentions and groups joined by AND, or with `is_any` by OR; `start` is an offset."""

    parts: tuple["Mention | Group", ...]
    is_any: bool = False
    is_excluded: bool = False
    start: int = 0

    @property
    def depth(self) -> int:
        """How many brackets stand in one another, this one included."""
        return 1 + max((part.depth for part in self.parts if isinstance(part, Group)), default=0)


@dataclass(frozen=True, slots=True)
class _Item:
    """A word, a sign or, with a `node`, a part of the scope, at `text[start:end]`."""

    start: int
    end: int
    text: str = ""
    node: Mention | Group | None = None
    is_open: bool = False
    is_bracket: bool = False
    """Whether it opens a bracket that may belong to the scope."""

    @property
    def is_operator(self) -> bool:
        return self.text.lower() in {"or", "and"}


def place_of(start: int) -> str:
    """The position of the character at offset *start* for messages, counted from 1."""
    return f"at character {start + 1}"


def quoted(value: str) -> str:
    """*value* as written in a mention: in quotes only if it would be parsed differently without."""
    if _BARE.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def parse_mentions(text: str) -> tuple[str, Group]:
    """*text* without its scope, and that; without mentions, all of it and an empty group.

    Raises BadScope, which names the position.
    """
    items = _read_items(text)
    if not any(item.node for item in items):
        return text, Group(())
    operators = _operators(items, in_bracket=False)
    group = _join(items, operators)
    if group.is_any and group.depth == MAX_DEPTH:  # `scope_text` puts it into a bracket.
        raise _too_deep(0)
    rest, at = "", 0
    for item in items:
        if item.node or item in operators:
            rest, at = rest + text[at : item.start], item.end
    return " ".join((rest + text[at:]).split()), group


def _read_items(text: str) -> list[_Item]:
    """The items of *text* in order; a bracket that belongs to the scope is one."""
    items: list[_Item] = []
    opened: list[int] = []
    at = 0
    while token := _TOKEN.search(text, at):
        at = token.end()
        if token["kind"] or token["star"]:
            mention, at = _read_mention(text, token)
            items.append(_Item(token.start(), at, node=mention))
        elif token["close"] and opened:
            _close(text, items, opened.pop(), at)
        elif token["close"] and items and items[-1].node:
            raise BadScope(f"The bracket {place_of(at - 1)} was never opened. {SYNTAX}.")
        else:
            is_bracket, is_open = bool(token["bracket"]), token[0].endswith("(")
            if is_open:
                opened.append(len(items))
            items.append(_Item(token.start(), at, token[0], None, is_open, is_bracket))
    _check_closed(items, opened)
    return items


def _close(text: str, items: list[_Item], first: int, end: int) -> None:
    """Make one item of those after the bracket *first* if they are a scope, or else add a sign."""
    bracket, inner = items[first], items[first + 1 :]
    is_scope = any(item.node for item in inner) and all(i.node or i.is_operator for i in inner)
    if not (is_scope and bracket.is_bracket):
        items.append(_Item(end - 1, end, ")"))
        return
    if not _AFTER_BRACKET.match(text, end):
        raise BadScope(f"There must be a space after the bracket {place_of(end - 1)}. {SYNTAX}.")
    joined = _join(inner, _operators(inner, in_bracket=True))
    is_excluded = len(bracket.text) > 1
    group = Group(joined.parts, joined.is_any, is_excluded, bracket.start)
    if group.depth >= MAX_DEPTH:
        raise _too_deep(bracket.start)
    items[first:] = [_Item(bracket.start, end, node=group)]


def _check_closed(items: Sequence[_Item], opened: Sequence[int]) -> None:
    """Raise BadScope if one of the *opened* brackets begins a scope and is not closed."""
    unclosed, begins_scope = set(opened), False
    for number in reversed(range(len(items))):
        item = items[number]
        if not item.is_open:
            begins_scope = item.node is not None
        elif begins_scope and number in unclosed and item.is_bracket:
            raise BadScope(f"The bracket {place_of(item.start)} is not closed. {SYNTAX}.")


def _operators(items: Sequence[_Item], *, in_bracket: bool) -> list[_Item]:
    """The OR and AND that join mentions or brackets; raises BadScope for a missing operand.

    Outside of brackets an `or` may be a word, but not an `OR` beside a mention.
    """
    operators: list[_Item] = []
    for number, item in enumerate(items):
        if not item.is_operator:
            continue
        neighbours = [*items[max(0, number - 1) : number], *items[number + 1 : number + 2]]
        operands = sum(side.node is not None for side in neighbours)
        if operands == 2:
            operators.append(item)
        elif in_bracket or (operands and item.text == "OR"):
            place = place_of(item.start)
            raise BadScope(f"{item.text!r} {place} needs a mention on either side. {SYNTAX}.")
    return operators


def _join(items: Sequence[_Item], operators: Sequence[_Item]) -> Group:
    """The mentions and brackets among *items*, as joined by *operators*; raises BadScope."""
    parts = tuple(item.node for item in items if item.node)
    ors = [operator for operator in operators if operator.text.lower() == "or"]
    if ors and len(parts) != len(ors) + 1:
        raise BadScope(
            f"Beside OR {place_of(ors[0].start)} stand mentions that it does not join: say with "
            f"brackets which belong together. {SYNTAX}."
        )
    return Group(parts, is_any=bool(ors))


def _read_mention(text: str, token: re.Match[str]) -> tuple[Mention, int]:
    """The mention that begins with *token*, and the offset of its end."""
    kind, at = (token["kind"] or STAR).lower(), token.end()
    mention = Mention(kind, (), bool(token["not"]), token.start())
    values: list[str] = []
    while token["kind"]:
        value, at = _read_value(text, at, mention)
        written = text[mention.start : at].strip()[:80]
        if not value.strip():
            raise MissingValue(f"{written!r} lacks a value ({place_of(mention.start)}).", kind)
        values.append(value.strip())
        if not _AFTER_QUOTED.match(text, at):
            raise BadScope(
                f"{written!r} lacks a space or a comma after the closing quotation mark "
                f"({place_of(mention.start)})."
            )
        if text[at : at + 1] != ",":
            break
        at += 1
    return Mention(kind, tuple(values), mention.is_excluded, mention.start), at


def _read_value(text: str, at: int, mention: Mention) -> tuple[str, int]:
    """The value at offset *at*, and the offset of its end; raises BadScope."""
    match = _VALUE.match(text, at)
    assert match is not None  # It matches an empty text.
    if match["quoted"] is not None:
        return re.sub(r'\\(["\\])', r"\1", match["quoted"]), match.end()
    if match["curly"] is not None:
        return match["curly"], match.end()
    value = match["plain"]
    if value[:1] in {'"', "“"}:
        raise BadScope(
            f"{mention.text}: the quotation mark that opens {place_of(at)} is not closed."
        )
    if text[match.end() : match.end() + 1] != ",":
        bare = value.rstrip(_PROSE_MARKS)
        # `2025-01-01..` is a range without an end.
        value = f"{bare}.." if value.rstrip(";!?") == f"{bare}.." else bare
    return value, at + len(value)


def _too_deep(start: int) -> BadScope:
    return BadScope(
        f"What begins {place_of(start)} is too deep: {MAX_DEPTH - 1} brackets may stand in "
        "one another, and an OR outside of all counts as one."
    )
