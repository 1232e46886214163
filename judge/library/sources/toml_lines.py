"""Finds the lines of keys in a TOML file, which no TOML library reports.

The text must have been parsed before: only valid TOML is understood here.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

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
    """Finds the lines of keys in *files*."""

    def __init__(self, files: Iterable[TextFile]) -> None:
        self._lines = {file.name: key_lines(file.text) for file in files}

    def of(self, file: str, *path: int | str) -> FilePlace:
        """The place of *path* in the *file* of this name, or of its nearest parent there."""
        lines = self._lines.get(file, {})
        parents = (path[:size] for size in range(len(path), 0, -1))
        return FilePlace(file, next((lines[at] for at in parents if at in lines), 0))

    def key(self, file: str, *path: int | str) -> FilePlace:
        """The place of *path* itself; its line is 0 if it is missing."""
        return FilePlace(file, self._lines.get(file, {}).get(path, 0))


def line_of(text: str, path: KeyPath) -> int:
    """The line, from 1, of *path* or of the nearest table around it; 1 without any."""
    return Places([TextFile("", text)]).of("", *path).line or 1


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


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line, from 1, where each key, table and element of the valid TOML *text* begins."""
    lines: dict[KeyPath, int] = {}
    _note(lines, (), tomllib.loads(_with_lines(text)))
    return {path: line for path, line in lines.items() if path and path[-1] not in {"\0", -1}}


_LINE = r'"\u0000"'
"""The key under which `_with_lines` puts the line of a table."""


def _with_lines(text: str) -> str:
    """The TOML *text* with lines as values; they also come first in each table and list."""
    out, opened, before, is_header = [""], "", "\n", False
    line, counted = 1, 0
    for match in _TOKEN.finditer(f"{text}\n"):
        line, counted = line + text.count("\n", counted, match.start()), match.start()
        part = match[0]
        if part[0] == "#" or (part == "\n" and opened):
            continue
        is_header = is_header or (part == "[" and before == "\n")
        if is_header:
            out.append(f"\n{_LINE}={line}\n" if part == "\n" else part)
            is_header = part != "\n"
        elif part in {"]", "}"}:
            out.append(part)
            opened, part = opened[:-1], "value"
        elif before == "=" or (opened[-1:] == "[" and before in {"[", ","}):
            out.append({"[": f"[{line},", "{": f"{{{_LINE}={line}"}.get(part, str(line)))
            opened, part = (opened + part, part) if part in {"[", "{"} else (opened, "value")
        elif before != "value" or part in {",", "\n"}:  # a time after a date is left out
            out.append(f",{part}" if before == "{" else part)
        before = part
    return "".join(out)


def _note(lines: dict[KeyPath, int], path: KeyPath, node: Any) -> int:
    """Note the lines of *node*, at *path*, and of what is inside it; returns the first."""
    if isinstance(node, int):
        first = node
    else:  # [[tables]] are a list without a line of its own
        has_line = isinstance(node, list) and isinstance(node[0], int)
        parts = node.items() if isinstance(node, dict) else enumerate(node, -has_line)
        first = min((_note(lines, (*path, key), part) for key, part in parts), default=1)
    lines[path] = first
    return first
