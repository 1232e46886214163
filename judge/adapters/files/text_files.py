"""Reads a text file and those it includes; raises ConfigurationError for what cannot be read."""

from collections.abc import Callable, Iterable
from pathlib import Path

from judge.errors import ConfigurationError
from judge.types.text_files import Include, TextFile

Included = Callable[[str], Iterable[Include]]
"""What a text asks to be read as well."""


def no_includes(_: str) -> Iterable[Include]:
    """For files that stand alone."""
    return ()


def read_text_files(path: Path, included: Included) -> tuple[TextFile, ...]:
    """The file at *path*, then those that its text includes, in the order of their names."""
    main = read_text_file(path)
    others = included_paths(path, included(main.text))
    return (main, *(read_text_file(other) for other in others))


def read_text_file(path: Path) -> TextFile:
    """The UTF-8 text at *path*."""
    try:
        return TextFile(str(path), path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error


def included_paths(path: Path, includes: Iterable[Include]) -> tuple[Path, ...]:
    """The files that match *includes* beside the file at *path*, each once, without itself."""
    found: dict[Path, None] = {}
    for pattern, line in includes:
        try:
            matching = sorted(p for p in path.parent.glob(pattern) if p.is_file() and p != path)
        except (ValueError, IndexError, NotImplementedError, OSError) as error:
            raise ConfigurationError(f"{path}, line {line}: include: {error}.") from None
        if not matching:
            raise ConfigurationError(
                f"{path}, line {line}: include: {pattern!r} matches no file in {path.parent}; "
                "correct it or take it out."
            )
        found.update(dict.fromkeys(matching))
    return tuple(found)


def unreadable(path: Path, error: Exception) -> ConfigurationError:
    """The error that says that *path* cannot be read, and why."""
    reason = getattr(error, "strerror", None) or str(error)
    return ConfigurationError(
        f"{path} cannot be read ({reason}). Set JUDGE_SOURCES to a readable file."
    )
