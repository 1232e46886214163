"""A text -> its @mentions: where each one stands, what it names, and its values.

First of the three steps in which a scope is read; `brackets.py` tells how mentions are joined, and
`scopes.py` what they mean. Only `@word:` and `@*` are mentions; addresses, `@jo` and `git@host:x`
stay text.
"""

import re
from dataclasses import dataclass, replace

from judge.errors import BadScope

EVERYTHING = "*"

_START = re.compile(r"(?:(?<=[\s(])|\A)(-?)@(?:([^\W\d_][\w-]*):|\*(?=[\s).,;!?]|\Z))")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|“([^“”]*)”', re.DOTALL)
_PLAIN = re.compile(r"[^\s,]*")
_BRACKET = re.compile(r"[()]")
_ESCAPED = re.compile(r'\\(["\\])')
_NEXT = re.compile(r"[,]|(?=[\s).;!?]|\Z)")
_PROSE_MARKS = ".;!?"
"""At the end of a value without quotes these belong to the sentence around it."""

_BARE = re.compile(r"[^\s,\"“”\\()]*[^\s,\"“”\\.;!?()]")


@dataclass(frozen=True, slots=True)
class Mention:
    """`@kind:value,value` as written; for `@*` the kind is `*` and there are no values.

    `start` and `end` count characters from 0; `text` is the mention without its values.
    """

    kind: str
    values: tuple[str, ...]
    is_excluded: bool
    start: int
    end: int

    @property
    def text(self) -> str:
        """How the mention begins, for messages."""
        return f"{'-' if self.is_excluded else ''}@{self.kind}"

    @property
    def place(self) -> str:
        """Where it stands, for people, who count from 1."""
        return place_of(self.start)


def place_of(start: int) -> str:
    """Where the character at *start* stands, for people."""
    return f"at character {start + 1}"


def find_mentions(text: str) -> tuple[Mention, ...]:
    """The mentions in *text*, in order; raises BadScope.

    >>> find_mentions("revenue @collection:reports")[0].values
    ('reports',)
    """
    found: list[Mention] = []
    at = 0
    while start := _START.search(text, at):
        kind = (start[2] or EVERYTHING).lower()
        bare = Mention(kind, (), bool(start[1]), start.start(), start.end())
        values, at = _values(text, start.end(), bare) if start[2] else ((), start.end())
        found.append(replace(bare, values=values, end=at))
    return tuple(found)


def quoted(value: str) -> str:
    """*value* as it is written in a mention: bare where that reads the same, else in quotes."""
    if _BARE.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _values(text: str, at: int, mention: Mention) -> tuple[tuple[str, ...], int]:
    """The values that begin at *at*, and where they end."""
    values: list[str] = []
    while True:
        value, at = _value(text, at, mention)
        if not value.strip():
            raise BadScope(f"{_mention_text(text, mention, at)!r} lacks a value ({mention.place}).")
        values.append(value.strip())
        border = _NEXT.match(text, at)
        if border is None:
            raise BadScope(
                f"{_mention_text(text, mention, at)!r} lacks a space or a comma after the closing "
                f"quotation mark ({mention.place})."
            )
        if not border[0]:
            return tuple(values), at
        at = border.end()


def _value(text: str, at: int, mention: Mention) -> tuple[str, int]:
    if text[at : at + 1] in {'"', "“"}:
        whole = _QUOTED.match(text, at)
        if whole is None:
            raise BadScope(
                f"{mention.text}: the quotation mark that opens at character {at + 1} is not "
                "closed."
            )
        value = whole[2] if whole[1] is None else _ESCAPED.sub(r"\1", whole[1])
        return value, whole.end()
    plain = _PLAIN.match(text, at)
    end = _before_closing(text, at, plain.end() if plain else at)
    if text[end : end + 1] == ",":
        return text[at:end], end
    value = _without_prose_marks(text[at:end])
    return value, at + len(value)


def _before_closing(text: str, at: int, end: int) -> int:
    """Where the first bracket from *at* on closes that did not open there; else *end*."""
    depth = 0
    for bracket in _BRACKET.finditer(text, at, end):
        depth += 1 if bracket[0] == "(" else -1
        if depth < 0:
            return bracket.start()
    return end


def _without_prose_marks(value: str) -> str:
    bare = value.rstrip(_PROSE_MARKS)
    # `2025-01-01..` is a range without an end.
    return f"{bare}.." if value.rstrip(";!?") == f"{bare}.." else bare


def _mention_text(text: str, mention: Mention, end: int) -> str:
    return text[mention.start : end].strip()[:80]
