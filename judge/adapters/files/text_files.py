"""Reads a text file and the files it includes; raises ConfigurationError if one cannot be read."""

from collections.abc import Callable, Iterable
from pathlib import Path

from judge.adapters.files.whole_file import read_whole
from judge.errors import ConfigurationError
from judge.types.text_files import Include, TextFile

MAX_BYTES = 4 * 1024 * 1024
"""Of one file, and of all that are read together; what is shipped has a hundredth of it."""

Included = Callable[[str], Iterable[Include]]
"""The includes that a text names."""


def read_text_files(path: Path, included: Included) -> tuple[TextFile, ...]:
    """The file at *path*, then the files that its text includes, in the order of the includes."""
    files = [read_text_file(path)]
    left = MAX_BYTES
    for other in _included_paths(path, included(files[0].text)):
        left -= len(files[-1].text)
        files.append(read_text_file(other, max_bytes=max(0, left)))
    return tuple(files)


def read_text_file(path: Path, *, max_bytes: int = MAX_BYTES) -> TextFile:
    """The UTF-8 text of the regular file at *path*, of at most *max_bytes*."""
    try:
        content = read_whole(path, max_bytes)
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(content) > max_bytes:
        reason = f"It is over {MAX_BYTES // 1024 // 1024} MiB, with what it includes"
        raise _unreadable(path, OSError(0, reason))
    try:
        # Some editors put a byte order mark before UTF-8.
        return TextFile(str(path), content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(
            f"{path}, line {line}: is not UTF-8 text; save the file as UTF-8."
        ) from error


def _included_paths(path: Path, includes: Iterable[Include]) -> tuple[Path, ...]:
    """The distinct files that match *includes*, relative to *path*, without *path* itself."""
    paths: dict[Path, None] = {}
    for pattern, line in includes:
        # As in a shell: editors and file managers leave hidden files beside edited ones.
        may_be_hidden = pattern.rpartition("/")[2].startswith(".")
        try:
            files = [file for file in path.parent.glob(pattern) if file.is_file()]
        except (ValueError, IndexError, NotImplementedError, OSError):
            raise ConfigurationError(
                f"{path}, line {line}: include: {pattern!r} is no path of files; write one such as "
                '"domains/*.toml".'
            ) from None
        matching = sorted(f for f in files if may_be_hidden or not f.name.startswith("."))
        others = [p for p in matching if p != path]
        if not others:
            matched = "this file alone" if matching else f"no file in {path.parent}"
            raise ConfigurationError(
                f"{path}, line {line}: include: {pattern!r} matches {matched}; "
                "correct it or take it out."
            )
        paths.update(dict.fromkeys(others))
    return tuple(paths)


def _unreadable(path: Path, error: Exception) -> ConfigurationError:
    """The error that says that *path* cannot be read, and why."""
    reason = getattr(error, "strerror", None) or str(error)
    return ConfigurationError(
        f"{path} cannot be read ({reason}). Set JUDGE_SOURCES to a readable file."
    )
