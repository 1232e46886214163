"""Reads a text file and those it includes; raises ConfigurationError for what cannot be read."""

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from judge.errors import ConfigurationError
from judge.types.text_files import Include, TextFile

MAX_BYTES = 4 * 1024 * 1024
"""Of one file, and of all that are read together. What is shipped has a hundredth of it."""

Included = Callable[[str], Iterable[Include]]
"""What a text asks to be read as well."""


def no_includes(_: str) -> Iterable[Include]:
    """For files that stand alone."""
    return ()


def read_text_files(path: Path, included: Included) -> tuple[TextFile, ...]:
    """The file at *path*, then those that its text includes, in the order of their names."""
    files = [read_text_file(path)]
    left = MAX_BYTES
    for other in included_paths(path, included(files[0].text)):
        left -= len(files[-1].text)
        files.append(read_text_file(other, max_bytes=max(0, left)))
    return tuple(files)


def read_text_file(path: Path, *, max_bytes: int = MAX_BYTES) -> TextFile:
    """The UTF-8 text at *path*, of at most *max_bytes*.

    Only a regular file: a pipe or a device may have no end, or nothing to read for ever.
    """
    try:
        content = _read_regular(path, max_bytes)
        # Some editors put a byte order mark before UTF-8.
        return TextFile(str(path), content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(
            f"{path}, line {line}: is not UTF-8 text; save the file as UTF-8."
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error


def _read_regular(path: Path, max_bytes: int) -> bytes:
    """All bytes at *path*, without waiting for any; raises OSError."""
    # Opening a pipe would wait for a writer, and it may have become one since it was looked at.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "It is no regular file")
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError(0, f"It is over {MAX_BYTES // 1024 // 1024} MiB, with what it includes")
    return content


def included_paths(path: Path, includes: Iterable[Include]) -> tuple[Path, ...]:
    """The files that match *includes* beside the file at *path*, each once, without itself."""
    found: dict[Path, None] = {}
    for pattern, line in includes:
        try:
            matching = sorted(p for p in path.parent.glob(pattern) if p.is_file())
        except (ValueError, IndexError, NotImplementedError, OSError) as error:
            raise ConfigurationError(f"{path}, line {line}: include: {error}.") from None
        others = [p for p in matching if p != path]
        if not others:
            what = "this file alone" if matching else f"no file in {path.parent}"
            raise ConfigurationError(
                f"{path}, line {line}: include: {pattern!r} matches {what}; "
                "correct it or take it out."
            )
        found.update(dict.fromkeys(others))
    return tuple(found)


def unreadable(path: Path, error: Exception) -> ConfigurationError:
    """The error that says that *path* cannot be read, and why."""
    reason = getattr(error, "strerror", None) or str(error)
    return ConfigurationError(
        f"{path} cannot be read ({reason}). Set JUDGE_SOURCES to a readable file."
    )
