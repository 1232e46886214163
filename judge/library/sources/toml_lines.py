"""Finds the lines of keys in a TOML file, which no TOML library reports.

The text must have been parsed before: only valid TOML is understood here.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from judge.types.text_files import TextFile

KeyPath = tuple[int | str, ...]
"""Keys and indexes from zero, such as `("domains", "tenancy", "sources", 0, "url")`."""

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*"
    r"|[\[\]{},=\n]"
    r"|[^\s\[\]{},=#\"']+",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A file and a line in it, from 1; 0 means the file as a whole."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class Places:
    """Finds the lines of keys in *files*, each of which is read once, when it is first needed."""

    def __init__(self, files: Iterable[TextFile]) -> None:
        self._texts = {file.name: file.text for file in files}
        self._lines: dict[str, dict[KeyPath, int]] = {}

    def of(self, file: str, *path: int | str) -> FilePlace:
        """The place of *path* in the *file* of this name, or of its nearest parent there."""
        return FilePlace(file, _nearest(self._in(file), path) or 0)

    def line(self, file: str, *path: int | str) -> int:
        """The line of *path* itself; 0 if it is missing."""
        return self._in(file).get(path, 0)

    def _in(self, file: str) -> dict[KeyPath, int]:
        if file not in self._lines:
            self._lines[file] = key_lines(self._texts.get(file, ""))
        return self._lines[file]


def line_of(text: str, path: Iterable[int | str]) -> int | None:
    """The line, from 1, of *path* or of the nearest table around it; None without any."""
    return _nearest(key_lines(text), tuple(path))


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line, from 1, where each key, table and element of the valid TOML *text* begins."""
    return _Scan(text).lines


def key_name(path: Sequence[int | str]) -> str:
    """`("domains", "tenancy", "sources", 1)` as `domains.tenancy.sources[2]`."""
    name = ""
    for part in path:
        if isinstance(part, int):
            name += f"[{part + 1}]"
        else:
            is_bare = re.fullmatch(r"[\w-]+", part)
            name += f".{part}" if is_bare else f".{json.dumps(part, ensure_ascii=False)}"
    return name.removeprefix(".") or "the file"


def _nearest(lines: dict[KeyPath, int], path: KeyPath) -> int | None:
    sizes = range(len(path), 0, -1)
    return next((lines[path[:size]] for size in sizes if path[:size] in lines), None)


class _Scan:
    """One walk over the tokens of a file, which notes the line of each path."""

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._tokens = _tokens(text)
        self._tokens.reverse()
        self._sizes: dict[KeyPath, int] = {}
        """The number of `[[tables]]` so far under each path."""
        table: KeyPath = ()
        while self._skip("\n"):
            if self._next == "[":
                table = self._header()
            else:
                self._pair(table)

    @property
    def _next(self) -> str:
        """The next token, empty at the end of the file."""
        return self._tokens[-1][0] if self._tokens else ""

    def _skip(self, separators: str) -> str:
        """The next token that is none of *separators*."""
        while self._next and self._next in separators:
            self._tokens.pop()
        return self._next

    def _note(self, path: KeyPath) -> KeyPath:
        self.lines.setdefault(path, self._tokens[-1][1])
        return path

    def _header(self) -> KeyPath:
        """Take `[a.b]` or `[[a.b]]`; returns the path of that table."""
        self._tokens.pop()
        is_array = self._next == "["
        path: KeyPath = ()
        line = self._tokens[-1][1]
        for key in self._keys("]"):
            if path in self._sizes:
                path = (*path, self._sizes[path] - 1)
            path = (*path, key)
            self.lines.setdefault(path, line)
        if is_array:
            self._tokens.pop()
            at = self._sizes.get(path, 0)
            self._sizes[path] = at + 1
            path = (*path, at)
            self.lines[path] = line
        return path

    def _pair(self, table: KeyPath) -> None:
        """Take `a.b = value` in *table*."""
        line = self._tokens[-1][1]
        for key in self._keys("="):
            table = (*table, key)
            self.lines.setdefault(table, line)
        self._value(table)

    def _keys(self, end: str) -> list[str]:
        """Take a dotted key and the token *end* after it; returns the parts of the key."""
        keys: list[str] = []
        while (part := self._tokens.pop()[0]) != end:
            if part[0] in "\"'":
                keys.append(str(tomllib.loads(f"key = {part}")["key"]))
            elif part != "[":
                keys += filter(None, part.split("."))
        return keys

    def _value(self, path: KeyPath) -> None:
        """Take a value, which may be a list or a table."""
        first = self._tokens.pop()[0]
        if first == "[":
            size = 0
            while self._skip(",\n") != "]":
                self._value(self._note((*path, size)))
                size += 1
            self._tokens.pop()
        elif first == "{":
            while self._skip(",\n") != "}":
                self._pair(path)
            self._tokens.pop()
        else:
            while self._next and self._next not in ",]}\n":
                self._tokens.pop()


def _tokens(text: str) -> list[tuple[str, int]]:
    """The tokens without comments, each with its line."""
    tokens, line, counted = [], 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if match[0][0] != "#":
            tokens.append((match[0], line))
    return tokens
