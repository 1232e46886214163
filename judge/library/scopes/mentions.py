"""A text -> its @mentions: the position, kind and values of each.

First of three steps in parsing a scope: `scope_groups.py` reads how mentions are joined, and
`scopes.py` what they mean. Only `@word:` and `@*` are mentions; e-mail addresses, `@jo` and
`git@host:x` stay text.
"""

import re
from dataclasses import dataclass, replace

from judge.errors import BadScope, MissingValue

STAR = "*"

_START = re.compile(r"(?:(?<=[\s(])|\A)(-?)@(?:([^\W\d_][\w-]*):|\*(?=[\s).,;!?]|\Z))")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|“([^“”]*)”', re.DOTALL)
_PLAIN = re.compile(r"[^\s,]*")
_BRACKET = re.compile(r"[()]")
_ESCAPED = re.compile(r'\\(["\\])')
_DELIMITER = re.compile(r"[,]|(?=[\s).;!?]|\Z)")
_PROSE_MARKS = ".;!?"
"""At the end of an unquoted value these belong to the surrounding sentence."""

_BARE = re.compile(r"[^\s,\"“”\\()]*[^\s,\"“”\\.;!?()]")


@dataclass(frozen=True, slots=True)
class Mention:
    """`@kind:value,value` as written; for `@*` the kind is `*` and there are no values.

    `start` and `end` are character offsets; `text` is the mention without its values.
    """

    kind: str
    values: tuple[str, ...]
    is_excluded: bool
    start: int
    end: int

    @property
    def text(self) -> str:
        """The mention without its values, for messages."""
        return f"{'-' if self.is_excluded else ''}@{self.kind}"

    @property
    def place(self) -> str:
        """Its position for messages, counted from 1."""
        return place_of(self.start)


def place_of(start: int) -> str:
    """The position of the character at offset *start* for messages, counted from 1."""
    return f"at character {start + 1}"


def find_mentions(text: str) -> tuple[Mention, ...]:
    """The mentions in *text*, in order; raises BadScope.

    >>> find_mentions("revenue @collection:reports")[0].values
    ('reports',)
    """
    mentions: list[Mention] = []
    at = 0
    while start := _START.search(text, at):
        kind = (start[2] or STAR).lower()
        bare = Mention(kind, (), bool(start[1]), start.start(), start.end())
        values, at = _read_values(text, start.end(), bare) if start[2] else ((), start.end())
        mentions.append(replace(bare, values=values, end=at))
    return tuple(mentions)


def quoted(value: str) -> str:
    """*value* as written in a mention: in quotes only if it would be parsed differently without."""
    if _BARE.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _read_values(text: str, at: int, mention: Mention) -> tuple[tuple[str, ...], int]:
    """The values that begin at offset *at*, and the offset of their end."""
    values: list[str] = []
    while True:
        value, at = _read_value(text, at, mention)
        if not value.strip():
            message = f"{_mention_text(text, mention, at)!r} lacks a value ({mention.place})."
            raise MissingValue(message, mention.kind)
        values.append(value.strip())
        delimiter = _DELIMITER.match(text, at)
        if delimiter is None:
            raise BadScope(
                f"{_mention_text(text, mention, at)!r} lacks a space or a comma after the closing "
                f"quotation mark ({mention.place})."
            )
        if not delimiter[0]:
            return tuple(values), at
        at = delimiter.end()


def _read_value(text: str, at: int, mention: Mention) -> tuple[str, int]:
    if text[at : at + 1] in {'"', "“"}:
        match = _QUOTED.match(text, at)
        if match is None:
            raise BadScope(
                f"{mention.text}: the quotation mark that opens at character {at + 1} is not "
                "closed."
            )
        value = match[2] if match[1] is None else _ESCAPED.sub(r"\1", match[1])
        return value, match.end()
    plain = _PLAIN.match(text, at)
    end = _unopened_bracket(text, at, plain.end() if plain else at)
    if text[end : end + 1] == ",":
        return text[at:end], end
    value = _without_prose_marks(text[at:end])
    return value, at + len(value)


def _unopened_bracket(text: str, at: int, end: int) -> int:
    """The offset of the first closing bracket after *at* without an opening one; else *end*."""
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
