"""A text and its @mentions -> how brackets, OR and AND join these, and the remaining words.

    revenue (@collection:a OR @tag:b) -@folder:old   ->   revenue, [[a OR b] AND not old]

Second of three steps in parsing a scope. A bracket belongs to the scope when it holds nothing but
mentions; every other one is text, and mentions in it count as if it was not there.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from judge.errors import BadScope
from judge.library.scopes.mentions import Mention, place_of

MAX_DEPTH = 8
"""Nesting levels of a scope; what is outside of all brackets is the first. Limited, since functions
that walk a scope recurse."""

SYNTAX = "Write it as in (@collection:a OR @tag:b) -@folder:old"

_MASK = "\0"
"""Replaces each character that was parsed as part of the scope."""

_SCOPE = re.compile(rf"(?<![^\s(])(-?)\(((?:[\s{_MASK}]|\b(?:or|and)\b)*)\)", re.IGNORECASE)
"""An innermost bracket that holds nothing but masked characters and operators."""

_TOKEN = re.compile(rf"{_MASK}+|-?\(|\)|[^\s(){_MASK}]+?(?=-?\(|[\s(){_MASK}]|\Z)")
_WORD_START = re.compile(r"(?<![^\s(])")
"""Where a bracket may begin; that of `f(x)` is part of a word."""

_AFTER_BRACKET = re.compile(r"[\s).,;:!?]|\Z")


@dataclass(frozen=True, slots=True)
class Group:
    """Mentions and groups joined by AND, or with `is_any` by OR; `start` is an offset."""

    parts: tuple["Mention | Group", ...]
    is_any: bool = False
    is_excluded: bool = False
    start: int = 0


def read_groups(text: str, mentions: Sequence[Mention]) -> tuple[str, Group]:
    """*text* without its scope, and how the *mentions* in it are joined.

    Raises BadScope, which names the position and shows the syntax.
    """
    reader = _GroupReader(text, mentions)
    group = reader.read()
    rest = [letter for letter, mask in zip(text, reader.masked, strict=True) if mask != _MASK]
    return " ".join("".join(rest).split()), group


class _GroupReader:
    """Parses a scope from the innermost bracket outwards; `masked` hides what is parsed."""

    def __init__(self, text: str, mentions: Sequence[Mention]) -> None:
        characters = list(text.replace(_MASK, "x"))  # A NUL of the text itself is text.
        for mention in mentions:
            length = mention.end - mention.start
            characters[mention.start : mention.end] = _MASK * length
        self.masked = "".join(characters)
        self._parsed: dict[int, Mention | Group] = {mention.start: mention for mention in mentions}
        self._depth = 0
        """Nesting depth of the brackets parsed so far."""

    def read(self) -> Group:
        """The whole scope; raises BadScope."""
        while (masked := _SCOPE.sub(self._bracket, self.masked)) != self.masked:
            self.masked = masked
            self._depth += 1
        tokens = list(_TOKEN.finditer(self.masked))
        _check_brackets(tokens)
        operators = _operators(tokens, in_bracket=False)
        for token in operators:
            start, end = token.span()
            self.masked = f"{self.masked[:start]}{_MASK * (end - start)}{self.masked[end:]}"
        group = self._group(tokens, operators)
        if group.is_any and self._depth == MAX_DEPTH - 1:  # scope_text puts it into a bracket.
            raise _too_deep(0)
        return group

    def _bracket(self, bracket: re.Match[str]) -> str:
        if _MASK not in bracket[2]:
            return bracket[0]
        if not _AFTER_BRACKET.match(bracket.string, bracket.end()):
            place = place_of(bracket.end() - 1)
            raise BadScope(f"There must be a space after the bracket {place}. {SYNTAX}.")
        tokens = list(_TOKEN.finditer(bracket.string, *bracket.span(2)))
        inner = self._group(tokens, _operators(tokens, in_bracket=True))
        if self._depth == MAX_DEPTH - 1:
            raise _too_deep(bracket.start())
        self._parsed[bracket.start()] = replace(
            inner, is_excluded=bool(bracket[1]), start=bracket.start()
        )
        return _MASK * len(bracket[0])

    def _group(self, tokens: list[re.Match[str]], operators: list[re.Match[str]]) -> Group:
        """The mentions and brackets among *tokens*, as joined by *operators*."""
        parts = tuple(self._parsed[token.start()] for token in tokens if token[0][0] == _MASK)
        ors = [operator for operator in operators if operator[0].lower() == "or"]
        if ors and len(parts) != len(ors) + 1:
            raise BadScope(
                f"Beside OR {place_of(ors[0].start())} stand mentions that it does not join: say "
                f"with brackets which belong together. {SYNTAX}."
            )
        return Group(parts, is_any=bool(ors))


def _operators(tokens: list[re.Match[str]], *, in_bracket: bool) -> list[re.Match[str]]:
    """The OR and AND that join mentions or brackets; raises BadScope for a missing operand.

    Outside of brackets an `or` may be a word, but not an `OR` beside a mention.
    """
    operators: list[re.Match[str]] = []
    for number, token in enumerate(tokens):
        if token[0].lower() not in {"or", "and"}:
            continue
        neighbours = [*tokens[max(0, number - 1) : number], *tokens[number + 1 : number + 2]]
        operands = [side[0][0] == _MASK for side in neighbours].count(True)
        if operands == 2:
            operators.append(token)
        elif in_bracket or (operands and token[0] == "OR"):
            place = place_of(token.start())
            raise BadScope(f"{token[0]!r} {place} needs a mention on either side. {SYNTAX}.")
    return operators


def _check_brackets(tokens: list[re.Match[str]]) -> None:
    """Raise BadScope if a bracket around a scope in *tokens* is not opened or not closed."""
    opened: list[int] = []
    for number, token in enumerate(tokens):
        if token[0].endswith("("):
            opened.append(number)
        elif token[0] == ")" and opened:
            opened.pop()
        elif token[0] == ")" and number and tokens[number - 1][0][0] == _MASK:
            raise BadScope(f"The bracket {place_of(token.start())} was never opened. {SYNTAX}.")
    unclosed, begins_scope = set(opened), False
    for number in range(len(tokens) - 1, -1, -1):
        token = tokens[number]
        if not token[0].endswith("("):
            begins_scope = token[0][0] == _MASK
        elif begins_scope and number in unclosed and _WORD_START.match(token.string, token.start()):
            raise BadScope(f"The bracket {place_of(token.start())} is not closed. {SYNTAX}.")


def _too_deep(start: int) -> BadScope:
    return BadScope(
        f"What begins {place_of(start)} is too deep: {MAX_DEPTH - 1} brackets may stand in "
        "one another, and an OR outside of all counts as one."
    )
