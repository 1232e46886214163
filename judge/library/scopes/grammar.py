"""A text -> the scope of its @mentions, and the remaining words; the same for every entrypoint.

    revenue (@collection:a OR @tag:b) -@folder:old   ->   revenue, (a OR b) AND not old

    scope   = { mention | bracket | "AND" | "OR" | "||" | "&&" }
    bracket = [not] "(" scope ")"
    mention = [not] "@" kind ":" value { "," value } | [not] "@*"
    not     = "-" | "!" | any dash | "NOT " | "except " | "ignoring " | "sauf " | …

A bracket with anything else in it is text, and mentions in it count as if it was not there.
`service.py` checks later whether the names exist in the index.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from judge.errors import BadScope, MissingValue
from judge.library.scopes.scopes import (
    KINDS,
    KINDS_WITH_STAR,
    STAR,
    all_of,
    any_of,
    complement,
    nearest_name,
    parse_period,
)
from judge.types.search import EVERYWHERE, Clause, Scope, fold_name, folder_path

MAX_DEPTH = 7
"""Brackets of a scope in one another; limited, since functions that walk a scope recurse."""

SYNTAX = "Write it as in (@collection:a OR @tag:b) -@folder:old"

_SIGN = r"[-!~\u00ac\u00ad\u2010-\u2015\u2043\u207b\u2212\ufe58\ufe63\uff01\uff0d]"
_FILLERS = r"(?:(?i:for|from|in|of|tagged|the|those|collection|folder|tag)\s+){0,4}"
# "What does it exclude @tag:x" asks; "fees, exclude @tag:x" excludes.
_NOT_WORDS = (
    r"(?i:not|except|without|minus|outside|(?<=[,;.]\s)(?:exclude|ignore|skip|omit|leave\s+out)"
    r"|(?:exclud|ignor)ing|skipping|omitting|leaving\s+out|(?:other|rather)\s+than|(?:apart|aside)\s+from"
    r"|(?:all|every\w+|any\w+)\s+but|ohne|außer|nicht\s+in|sauf|sans|hors|excepto|salvo|senza"
    rf"|tranne|zonder|behalve|bez|кроме|без):?\s+{_FILLERS}"
)
_NOT = rf"(?P<not>{_SIGN}++[\s\u200b\u2060\ufeff]*+|{_NOT_WORDS}{_SIGN}?)?"
_TOKEN = re.compile(
    rf"(?<![^\s(]){_NOT}"
    r"(?:[@＠](?:(?P<kind>[^\W\d_][\w-]*)[:：]|(?P<star>\*)(?=[\s).,;!?]|\Z))|(?P<bracket>\())"
    r"|(?P<open>\()|(?P<close>\))|(?P<word>[^\s()]+)"
)
"""A `bracket` may belong to the scope; the one of `f(x)` only opens."""

_GLUED = re.compile(rf"(?:^not|[^\w\s\"'“”‘’`])[@＠](?:{'|'.join(KINDS)})[:：]", re.IGNORECASE)
"""A mention with a sign before it that belongs to another word: it may be meant to exclude."""

_VALUE = re.compile(
    r'"(?P<quoted>(?:[^"\\]|\\.)*)"|“(?P<curly>[^“”]*)”'
    r"|[„«‘'](?P<other>[^“”„«»\n]*?)[“”»’'](?=[\s,).;!?]|\Z)"
    r"|(?P<plain>(?:[^\s,()]|\([^\s,()]*\)?)*)",
    re.DOTALL,
)
_AFTER_QUOTED = re.compile(r"[\s,).;!?]|\Z")
_AFTER_BRACKET = re.compile(r"[\s).,;:!?]|\Z")
_PROSE_MARKS = ".;!?"
"""At the end of an unquoted value these belong to the surrounding sentence."""

_OPERATORS = {"or": "or", "||": "or", "|": "or", "and": "and", "&&": "and", "&": "and"}


@dataclass(frozen=True, slots=True)
class ParsedScope:
    """A query without its mentions, and the scope of these.

    `has_mentions` says that no default scope applies; `@*` counts as a mention.
    """

    text: str
    scope: Scope
    has_mentions: bool = False


@dataclass(frozen=True, slots=True)
class _Item:
    """A word or sign, or a mention or bracket with its `scope`, at `text[start:end]`."""

    start: int
    end: int
    text: str = ""
    scope: Scope | None = None
    is_bracket: bool = False
    """Whether it opens a bracket that may belong to the scope."""

    @property
    def operator(self) -> str:
        return _OPERATORS.get(self.text.lower(), "")


def read_context(text: str, now: datetime) -> ParsedScope:
    """The scope of *text*, which may hold nothing but mentions; raises BadScope.

    >>> read_context("@tag:a,b", datetime(2026, 1, 1)).scope.clauses[0].values
    ('a', 'b')
    """
    parsed = extract_scope(text, now)
    if rest := parsed.text.strip():
        word = next(iter(rest.lstrip("-@(").split()), "")
        suggestion = _suggestion(f"@{word.split(':')[0]}:", [f"@{k}:" for k in KINDS]) or "."
        raise BadScope(
            f"{rest[:80]!r} is no scope{suggestion} "
            "Write @kind:value, such as @collection:reports, or @* for everything.",
            KINDS,
        )
    return parsed


def extract_scope(text: str, now: datetime) -> ParsedScope:
    """*text* without its mentions, and the scope of these; raises BadScope with the position."""
    items = parse_mentions(text, now)
    if not any(item.scope for item in items):
        return ParsedScope(text, EVERYWHERE)
    scope, operators = _joined(items, in_bracket=False)
    rest, at = "", 0
    for item in items:
        if item.scope or item in operators:
            rest, at = rest + text[at : item.start], item.end
    return ParsedScope(" ".join((rest + text[at:]).split()), scope, has_mentions=True)


def parse_mentions(text: str, now: datetime) -> list[_Item]:
    """The items of *text* in order; a bracket that belongs to the scope is one; raises BadScope."""
    items: list[_Item] = []
    opened: list[int] = []
    at = 0
    while token := _TOKEN.search(text, at):
        at = token.end()
        if token["kind"] or token["star"]:
            scope, at = _read_mention(text, token, now)
            items.append(_Item(token.start(), at, scope=scope))
        elif token["close"] and opened:
            _close(text, items, opened, at)
        elif token["close"] and items and items[-1].scope:
            raise BadScope(f"The bracket {_place(at - 1)} was never opened. {SYNTAX}.")
        else:
            if glued := _GLUED.search(token["word"] or ""):
                place = _place(token.start() + glued.start())
                raise BadScope(f"There must be a space before {glued[0]!r} {place}. {SYNTAX}.")
            item = _Item(token.start(), at, token[0], is_bracket=bool(token["bracket"]))
            opened += [len(items)] if token["bracket"] or token["open"] else []
            items.append(item)
    begins_scope = False
    for number, item in reversed([*enumerate(items)]):
        if not item.text.endswith("("):
            begins_scope = item.scope is not None
        elif begins_scope and item.is_bracket and number in opened:
            raise BadScope(f"The bracket {_place(item.start)} is not closed. {SYNTAX}.")
    return items


def _close(text: str, items: list[_Item], opened: list[int], end: int) -> None:
    """Make one item of those in the last bracket *opened* if they are a scope, or add a sign."""
    first = opened.pop()
    bracket, inner = items[first], items[first + 1 :]
    is_scope = any(item.scope for item in inner) and all(i.scope or i.operator for i in inner)
    if not (is_scope and bracket.is_bracket):
        items.append(_Item(end - 1, end, ")"))
        return
    if not _AFTER_BRACKET.match(text, end):
        raise BadScope(f"There must be a space after the bracket {_place(end - 1)}. {SYNTAX}.")
    if len(opened) >= MAX_DEPTH:
        place = _place(bracket.start)
        raise BadScope(f"What begins {place} is too deep: {MAX_DEPTH} may stand in one another.")
    scope, _ = _joined(inner, in_bracket=True)
    if len(bracket.text) > 1:
        if not scope.clauses:
            raise BadScope(f"-(…) leaves nothing to search ({_place(bracket.start)}).", KINDS)
        scope = complement(scope)
    items[first:] = [_Item(bracket.start, end, scope=scope)]


def _joined(items: Sequence[_Item], *, in_bracket: bool) -> tuple[Scope, list[_Item]]:
    """The scopes among *items* as OR and AND join them, and these operators; raises BadScope.

    Outside of brackets an `or` may be a word, but not an `OR` beside a mention, and an `AND` may
    join one to the words.
    """
    operators: list[_Item] = []
    for number, item in enumerate(items):
        if not item.operator:
            continue
        neighbours = [*items[max(0, number - 1) : number], *items[number + 1 : number + 2]]
        operands = sum(side.scope is not None for side in neighbours)
        is_meant = in_bracket or (operands > 0 and item.text not in {"or", "and"})
        if operands == 2 or (is_meant and not in_bracket and item.operator == "and"):
            operators.append(item)
        elif is_meant:
            place = _place(item.start)
            raise BadScope(f"{item.text!r} {place} needs a mention on either side. {SYNTAX}.")
    scopes = [item.scope for item in items if item.scope is not None]
    ors = [item for item in operators if item.operator == "or"]
    if ors and len(scopes) != len(ors) + 1:
        raise BadScope(
            f"Beside OR {_place(ors[0].start)} stand mentions that it does not join: say with "
            f"brackets which belong together. {SYNTAX}."
        )
    return any_of(scopes) if ors else all_of(*scopes), operators


def _read_mention(text: str, token: re.Match[str], now: datetime) -> tuple[Scope, int]:
    """The scope of the mention that begins with *token*, and the offset of its end."""
    kind, at, place = (token["kind"] or STAR).lower(), token.end(), _place(token.start())
    sign = "-" if token["not"] else ""
    values: list[str] = []
    while token["kind"]:
        value, at = _read_value(text, at, f"{sign}@{kind}")
        written = text[token.start() : at].strip()[:80]
        if not value.strip():
            raise MissingValue(f"{written!r} lacks a value ({place}).", kind)
        values.append(value.strip())
        if not _AFTER_QUOTED.match(text, at):
            raise BadScope(
                f"{written!r} lacks a space or a comma after the closing quotation mark ({place})."
            )
        if text[at : at + 1] != ",":
            break
        at += 1
    return _scope_of(kind, values, place, now, is_excluded=bool(sign)), at


def _read_value(text: str, at: int, mention: str) -> tuple[str, int]:
    """The value at offset *at*, and the offset of its end; raises BadScope."""
    match = _VALUE.match(text, at)
    assert match is not None  # It matches an empty text.
    if match["quoted"] is not None:
        return re.sub(r'\\(["\\])', r"\1", match["quoted"]), match.end()
    if match["plain"] is None:
        return match["curly"] or match["other"] or "", match.end()
    value = match["plain"]
    if value[:1] in {'"', "“"}:
        raise BadScope(f"{mention}: the quotation mark that opens {_place(at)} is not closed.")
    if text[match.end() : match.end() + 1] != ",":
        bare = value.rstrip(_PROSE_MARKS)
        # `2025-01-01..` is a range without an end.
        value = f"{bare}.." if value.rstrip(";!?") == f"{bare}.." else bare
    return value, at + len(value)


def _scope_of(
    name: str, values: Sequence[str], place: str, now: datetime, *, is_excluded: bool
) -> Scope:
    """The scope of a mention; raises BadScope."""
    told = f"{'-' if is_excluded else ''}@{name}"
    if name == STAR or (STAR in values and name in KINDS_WITH_STAR):
        if is_excluded:
            raise BadScope(f"{told} leaves nothing to search ({place}).", KINDS)
        return EVERYWHERE
    kind = next((kind for kind in KINDS if kind == name), None)
    if kind is None:
        why = _suggestion(told, [f"@{kind}" for kind in KINDS]) or ": there is no such scope."
        raise BadScope(f"{told}{why} ({place})", KINDS)
    if STAR in values:
        raise BadScope(
            f"{told}:*: a star stands for everything in @* and @collection:* only ({place})."
        )
    if kind != "modified":
        named = map(folder_path, values) if kind == "folder" else values
        # Of equal names, the one that was written first.
        distinct = {fold_name(value): value for value in reversed([*named])}
        names = tuple(reversed(distinct.values()))
        return Scope((Clause(kind, names, is_excluded=is_excluded),))
    if len(values) > 1:
        raise BadScope(f"{told} takes one range, not several ({place}).")
    try:
        after, before = parse_period(values[0], now)
    except BadScope as error:
        raise BadScope(f"{error} ({place})", error.valid) from None
    return Scope((Clause(kind, after=after, before=before, is_excluded=is_excluded),))


def _suggestion(text: str, valid: Sequence[str]) -> str:
    nearest = nearest_name(text.lstrip("-"), valid)
    return f": did you mean {nearest}?" if nearest else ""


def _place(start: int) -> str:
    """The position of the character at offset *start* for messages, counted from 1."""
    return f"at character {start + 1}"
