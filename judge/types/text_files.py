"""Data types of configuration files."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextFile:
    """The contents of a file; `name` is its path as errors show it."""

    name: str
    text: str


Include = tuple[str, int]
"""An entry of `include`: a glob, relative to the file's folder, and its line."""
