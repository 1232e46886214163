"""A text and its @mentions -> how they are joined, by brackets, OR and AND; and the words left.

    revenue (@collection:a OR @tag:b) -@folder:old   ->   revenue, [[a OR b] AND not old]

Second of the three steps in which a scope is read. A bracket belongs to a scope when nothing but
mentions stands in it; every other one is text, and the mentions in it count as if it was not there.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from judge.errors import BadScope
from judge.search.mentions import Mention, place_of

MAX_DEPTH = 8
"""Levels of a scope, what stands outside of all brackets being the first. More nobody can oversee,
and what walks a scope may recurse."""

FORM = "Write it as in (@collection:a OR @tag:b) -@folder:old"

_OPERATORS = frozenset({"or", "and"})
_PIECE = re.compile(r"-?\(|\)|[^\s()]+?(?=-?\(|[\s()]|\Z)")
_AFTER_BRACKET = re.compile(r"[\s).,;:!?]|\Z")


@dataclass(frozen=True, slots=True)
class Group:
    """Mentions and groups beside one another: all of them must hold, or with `is_any` one."""

    parts: tuple["Mention | Group", ...]
    is_any: bool = False
    is_excluded: bool = False
    start: int = 0


@dataclass(frozen=True, slots=True)
class _ScopeToken:
    """A piece of the text: a mention, or else a bracket, a word or OR and AND."""

    text: str
    start: int
    end: int
    mention: Mention | None = None

    @property
    def opens(self) -> bool:
        return self.text.endswith("(")

    @property
    def place(self) -> str:
        return place_of(self.start)


@dataclass(slots=True)
class _OpenBracket:
    """A bracket that is not closed yet, by its token's number, and what was seen in it."""

    number: int
    has_mention: bool = False
    has_text: bool = False


@dataclass(slots=True)
class _Level:
    """What stands between two brackets of a scope, or outside of all."""

    opening: _ScopeToken | None = None
    items: list[Mention | Group | _ScopeToken] = field(default_factory=list)


def read_groups(text: str, mentions: Sequence[Mention]) -> tuple[str, Group]:
    """*text* without its scope, and how *mentions*, which were found in it, are joined.

    Raises BadScope, which says where, and how a scope is written.
    """
    tokens = list(_tokens(text, mentions))
    of_scope = _scope_brackets(text, tokens)
    levels = [_Level()]
    cut: list[_ScopeToken] = []
    deepest: _ScopeToken | None = None
    for number, token in enumerate(tokens):
        if number not in of_scope:
            levels[-1].items.append(token.mention or token)
        elif token.opens:
            levels.append(_Level(token))
        else:
            closed = levels.pop()
            levels[-1].items.append(_group(closed, cut))
        if token.mention or number in of_scope:
            cut.append(token)
        if len(levels) == MAX_DEPTH:
            deepest = token
        if len(levels) > MAX_DEPTH:
            raise _too_deep(token)
    whole = _group(levels[0], cut)
    if whole.is_any and deepest:  # It is written with a bracket around it.
        raise _too_deep(deepest)
    return _without(text, cut), whole


def _tokens(text: str, mentions: Sequence[Mention]) -> Iterator[_ScopeToken]:
    at = 0
    for mention in mentions:
        yield from _pieces(text, at, mention.start)
        yield _ScopeToken(mention.text, mention.start, mention.end, mention)
        at = mention.end
    yield from _pieces(text, at, len(text))


def _pieces(text: str, start: int, end: int) -> Iterator[_ScopeToken]:
    for piece in _PIECE.finditer(text, start, end):
        yield _ScopeToken(piece[0], piece.start(), piece.end())


def _scope_brackets(text: str, tokens: Sequence[_ScopeToken]) -> set[int]:
    """The numbers of the tokens that are a scope's brackets; raises BadScope for half of one."""
    of_scope: set[int] = set()
    opened: list[_OpenBracket] = []
    for number, token in enumerate(tokens):
        if token.opens:
            opened.append(_OpenBracket(number))
        elif token.text != ")":
            _see(opened, is_scope=token.mention is not None, is_operator=_is_operator(token))
        elif opened:
            done = opened.pop()
            is_scope = (
                done.has_mention and not done.has_text and _is_free(text, tokens[done.number])
            )
            if is_scope:
                of_scope |= {done.number, number}
                _expect_space_after(text, token)
            _see(opened, is_scope=is_scope)
        elif number - 1 in of_scope or (number and tokens[number - 1].mention):
            raise BadScope(f"The bracket {token.place} was never opened. {FORM}.")
    _expect_no_scope_in(text, tokens, {left.number for left in opened})
    return of_scope


def _see(opened: Sequence[_OpenBracket], *, is_scope: bool, is_operator: bool = False) -> None:
    """Remember of the innermost bracket that something stands in it."""
    if opened:
        opened[-1].has_mention |= is_scope
        opened[-1].has_text |= not (is_scope or is_operator)


def _is_operator(item: "Mention | Group | _ScopeToken") -> bool:
    return isinstance(item, _ScopeToken) and item.text.lower() in _OPERATORS


def _is_free(text: str, opening: _ScopeToken) -> bool:
    """Whether a bracket begins something, unlike that in `f(x)`."""
    before = text[opening.start - 1] if opening.start else " "
    return before.isspace() or before == "("


def _expect_space_after(text: str, closing: _ScopeToken) -> None:
    if not _AFTER_BRACKET.match(text, closing.end):
        raise BadScope(f"There must be a space after the bracket {closing.place}. {FORM}.")


def _expect_no_scope_in(text: str, tokens: Sequence[_ScopeToken], unclosed: set[int]) -> None:
    """Raise BadScope if one of the *unclosed* brackets begins with a mention."""
    begins_scope = False
    for number in range(len(tokens) - 1, -1, -1):
        token = tokens[number]
        if not token.opens:
            begins_scope = token.mention is not None
        elif begins_scope and number in unclosed and _is_free(text, token):
            raise BadScope(f"The bracket {token.place} is not closed. {FORM}.")


def _group(level: _Level, cut: list[_ScopeToken]) -> Group:
    """What *level* comes to; the operators that join its parts are added to *cut*."""
    operators = [
        item
        for number, item in enumerate(level.items)
        if isinstance(item, _ScopeToken) and _joins(level, number, item)
    ]
    cut += operators
    parts = tuple(item for item in level.items if not isinstance(item, _ScopeToken))
    ors = [operator for operator in operators if operator.text.lower() == "or"]
    if ors and len(parts) != len(ors) + 1:
        raise BadScope(
            f"Beside OR {ors[0].place} stand mentions that it does not join: say with brackets "
            f"which belong together. {FORM}."
        )
    opening = level.opening
    return Group(
        parts,
        is_any=bool(ors),
        is_excluded=opening is not None and opening.text.startswith("-"),
        start=opening.start if opening else 0,
    )


def _joins(level: _Level, number: int, item: _ScopeToken) -> bool:
    """Whether *item* is OR or AND between two mentions or brackets; raises BadScope for half one.

    Outside of brackets an `or` may be a word, unless it is written in capitals beside a mention.
    """
    if not _is_operator(item):
        return False
    sides = [
        0 <= side < len(level.items) and not isinstance(level.items[side], _ScopeToken)
        for side in (number - 1, number + 1)
    ]
    if not all(sides) and (level.opening or (any(sides) and item.text == "OR")):
        raise BadScope(f"{item.text!r} {item.place} needs a mention on either side. {FORM}.")
    return all(sides)


def _too_deep(token: _ScopeToken) -> BadScope:
    return BadScope(
        f"The bracket {token.place} is too deep: {MAX_DEPTH - 1} may stand in one another, and an "
        "OR outside of all counts as one."
    )


def _without(text: str, cut: Sequence[_ScopeToken]) -> str:
    """*text* less what is *cut*, and without the spaces that this leaves."""
    if not cut:
        return text
    pieces, at = [], 0
    for token in sorted(cut, key=lambda one: one.start):
        pieces.append(text[at : token.start])
        at = token.end
    return " ".join("".join([*pieces, text[at:]]).split())
