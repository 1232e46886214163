"""A text and its @mentions -> how they are joined, by brackets, OR and AND; and the words left.

    revenue (@collection:a OR @tag:b) -@folder:old   ->   revenue, [[a OR b] AND not old]

Second of the three steps in which a scope is read. A bracket belongs to a scope when nothing but
mentions stands in it; every other one is text, and the mentions in it count as if it was not there.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from judge.errors import BadScope
from judge.search.mentions import Mention, place_of

MAX_DEPTH = 8
"""Levels of a scope, what stands outside of all brackets being the first. More nobody can oversee,
and what walks a scope may recurse."""

FORM = "Write it as in (@collection:a OR @tag:b) -@folder:old"

_READ = "\0"
"""Stands for each character of what was read as part of a scope; one of the text's own is text."""

_SCOPE = re.compile(rf"(?<![^\s(])(-?)\(((?:[\s{_READ}]|\b(?:or|and)\b)*)\)", re.IGNORECASE)
"""A bracket with nothing in it but what was read, and operators; within it are no others."""

_TOKEN = re.compile(rf"{_READ}+|-?\(|\)|[^\s(){_READ}]+?(?=-?\(|[\s(){_READ}]|\Z)")
_FREE = re.compile(r"(?<![^\s(])")
"""Where a bracket begins something, unlike that in `f(x)`."""

_AFTER_BRACKET = re.compile(r"[\s).,;:!?]|\Z")


@dataclass(frozen=True, slots=True)
class Group:
    """Mentions and groups beside one another: all of them must hold, or with `is_any` one."""

    parts: tuple["Mention | Group", ...]
    is_any: bool = False
    is_excluded: bool = False
    start: int = 0


def read_groups(text: str, mentions: Sequence[Mention]) -> tuple[str, Group]:
    """*text* without its scope, and how *mentions*, which were found in it, are joined.

    Raises BadScope, which says where, and how a scope is written.
    """
    reader = _GroupReader(text, mentions)
    group = reader.read()
    rest = [own for own, mask in zip(text, reader.masked, strict=True) if mask != _READ]
    return " ".join("".join(rest).split()), group


class _GroupReader:
    """Reads a scope from the inside to the outside; `masked` is the text with what was read."""

    def __init__(self, text: str, mentions: Sequence[Mention]) -> None:
        characters = list(text.replace(_READ, "x"))
        for mention in mentions:
            length = mention.end - mention.start
            characters[mention.start : mention.end] = _READ * length
        self.masked = "".join(characters)
        self._read: dict[int, Mention | Group] = {mention.start: mention for mention in mentions}
        self._depth = 0
        """How many brackets stand in one another in what was read."""

    def read(self) -> Group:
        """The whole scope; raises BadScope."""
        while (read := _SCOPE.sub(self._bracket, self.masked)) != self.masked:
            self.masked = read
            self._depth += 1
        tokens = list(_TOKEN.finditer(self.masked))
        _check_brackets(tokens)
        operators = _operators(tokens, in_bracket=False)
        for token in operators:
            start, end = token.span()
            self.masked = f"{self.masked[:start]}{_READ * (end - start)}{self.masked[end:]}"
        group = self._group(tokens, operators)
        if group.is_any and self._depth == MAX_DEPTH - 1:  # It is written with a bracket around it.
            raise _too_deep(0)
        return group

    def _bracket(self, bracket: re.Match[str]) -> str:
        if _READ not in bracket[2]:
            return bracket[0]
        if not _AFTER_BRACKET.match(bracket.string, bracket.end()):
            place = place_of(bracket.end() - 1)
            raise BadScope(f"There must be a space after the bracket {place}. {FORM}.")
        tokens = list(_TOKEN.finditer(bracket.string, *bracket.span(2)))
        inner = self._group(tokens, _operators(tokens, in_bracket=True))
        if self._depth == MAX_DEPTH - 1:
            raise _too_deep(bracket.start())
        self._read[bracket.start()] = replace(
            inner, is_excluded=bool(bracket[1]), start=bracket.start()
        )
        return _READ * len(bracket[0])

    def _group(self, tokens: list[re.Match[str]], operators: list[re.Match[str]]) -> Group:
        """What *tokens* come to, side by side or joined by *operators*."""
        parts = tuple(self._read[token.start()] for token in tokens if token[0][0] == _READ)
        ors = [operator for operator in operators if operator[0].lower() == "or"]
        if ors and len(parts) != len(ors) + 1:
            raise BadScope(
                f"Beside OR {place_of(ors[0].start())} stand mentions that it does not join: say "
                f"with brackets which belong together. {FORM}."
            )
        return Group(parts, is_any=bool(ors))


def _operators(tokens: list[re.Match[str]], *, in_bracket: bool) -> list[re.Match[str]]:
    """The OR and AND that join mentions or brackets; raises BadScope for half a one.

    Outside of brackets an `or` may be a word, unless it is written in capitals beside a mention.
    """
    found: list[re.Match[str]] = []
    for number, token in enumerate(tokens):
        if token[0].lower() not in {"or", "and"}:
            continue
        beside = [*tokens[max(0, number - 1) : number], *tokens[number + 1 : number + 2]]
        joined = [side[0][0] == _READ for side in beside].count(True)
        if joined == 2:
            found.append(token)
        elif in_bracket or (joined and token[0] == "OR"):
            place = place_of(token.start())
            raise BadScope(f"{token[0]!r} {place} needs a mention on either side. {FORM}.")
    return found


def _check_brackets(tokens: list[re.Match[str]]) -> None:
    """Raise BadScope if among *tokens* is half of a bracket that belongs to a scope."""
    opened: list[int] = []
    for number, token in enumerate(tokens):
        if token[0].endswith("("):
            opened.append(number)
        elif token[0] == ")" and opened:
            opened.pop()
        elif token[0] == ")" and number and tokens[number - 1][0][0] == _READ:
            raise BadScope(f"The bracket {place_of(token.start())} was never opened. {FORM}.")
    unclosed, begins_scope = set(opened), False
    for number in range(len(tokens) - 1, -1, -1):
        token = tokens[number]
        if not token[0].endswith("("):
            begins_scope = token[0][0] == _READ
        elif begins_scope and number in unclosed and _FREE.match(token.string, token.start()):
            raise BadScope(f"The bracket {place_of(token.start())} is not closed. {FORM}.")


def _too_deep(start: int) -> BadScope:
    return BadScope(
        f"What begins {place_of(start)} is too deep: {MAX_DEPTH - 1} brackets may stand in "
        "one another, and an OR outside of all counts as one."
    )
