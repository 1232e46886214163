"""A text with the name that errors give it."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class TextFile:
    """What stands in a file; *name* is its path as people know it."""

    name: str
    text: str


class Include(NamedTuple):
    """Files that a file asks for: a glob, relative to its folder, and the line it stands in."""

    pattern: str
    line: int
