"""Finds the line of a key in a TOML file and the end of its value, which tomllib does not report.

The text must have been parsed before: only valid TOML is understood here.
"""

import re
import tomllib
from collections.abc import Iterable
from typing import NamedTuple

KeyPath = tuple[int | str, ...]
"""Keys and indexes from zero, such as `("domains", "tenancy", "sources", 0, "url")`."""

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*"
    r"|[\[\]{},=.\n]"
    r"|[^\s\[\]{},=.#\"']+",
    re.DOTALL,
)
_END = ""


class _Token(NamedTuple):
    text: str
    line: int
    end: int
    """The index of the character after it."""


def line_of(text: str, path: Iterable[int | str]) -> int | None:
    """`TomlPlaces.nearest` for the valid TOML *text*."""
    return TomlPlaces(text).nearest(tuple(path))


class TomlPlaces:
    """The places of keys in the valid TOML *text*.

    `lines` has the line, from 1, where each key, table and element first occurs. `ends` has the
    index after the value of each key and element; for a table with a header, after that header.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: dict[KeyPath, int] = {}
        self.ends: dict[KeyPath, int] = {}
        self._tokens = _tokens(text)
        self._at = 0
        self._counts: dict[KeyPath, int] = {}
        table: KeyPath = ()
        while self._peek() != _END:
            if self._peek() == "\n":
                self._next()
            elif self._peek() == "[":
                table = self._header()
            else:
                self._pair(table)

    def nearest(self, path: KeyPath) -> int | None:
        """The line, from 1, of *path* or of the nearest table around it; None without any."""
        lines = (self.lines.get(path[:length]) for length in range(len(path), 0, -1))
        return next((line for line in lines if line is not None), None)

    def _peek(self) -> str:
        return self._tokens[self._at].text

    def _next(self) -> _Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _note(self, path: KeyPath, line: int) -> None:
        self.lines.setdefault(path, line)

    def _header(self) -> KeyPath:
        """Consume `[a.b]` or `[[a.b]]`; returns the path of that table."""
        line = self._next().line
        is_array = self._peek() == "["
        if is_array:
            self._next()
        *parents, last = self._keys("]")
        if is_array:
            self._next()
        path: KeyPath = ()
        for key in parents:
            path = (*path, key)
            self._note(path, line)
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
        path = (*path, last)
        self._note(path, line)
        if is_array:
            self._counts[path] = self._counts.get(path, 0) + 1
            path = (*path, self._counts[path] - 1)
            self._note(path, line)
        self.ends.setdefault(path, self._tokens[self._at - 1].end)
        return path

    def _pair(self, table: KeyPath) -> None:
        """Consume `a.b = value` in *table*."""
        line = self._tokens[self._at].line
        for key in self._keys("="):
            table = (*table, key)
            self._note(table, line)
        self._value(table)

    def _keys(self, end: str) -> list[str]:
        """Consume a dotted key and the token *end* after it; returns the parts of the key."""
        keys = []
        while (part := self._next().text) != end:
            if part[0] in "\"'":
                keys.append(str(tomllib.loads(f"key = {part}")["key"]))
            elif part != ".":
                keys.append(part)
        return keys

    def _value(self, path: KeyPath) -> None:
        if self._peek() == "[":
            self._array(path)
        elif self._peek() == "{":
            self._inline_table(path)
        else:
            while self._peek() not in {",", "]", "}", "\n", _END}:
                self._next()
        self.ends[path] = self._tokens[self._at - 1].end

    def _array(self, path: KeyPath) -> None:
        self._next()
        count = 0
        while self._peek() != "]":
            if self._peek() in {",", "\n"}:
                self._next()
                continue
            self._note((*path, count), self._tokens[self._at].line)
            self._value((*path, count))
            count += 1
        self._next()

    def _inline_table(self, path: KeyPath) -> None:
        self._next()
        while self._peek() != "}":
            if self._peek() in {",", "\n"}:
                self._next()
            else:
                self._pair(path)
        self._next()


def _tokens(text: str) -> list[_Token]:
    """The tokens without comments, each with its line; the last one is empty."""
    tokens, line, counted = [], 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if match[0][0] != "#":
            tokens.append(_Token(match[0], line, match.end()))
    return [*tokens, _Token(_END, line, len(text))]
