"""Finds the files to index below a folder, and reads them; what .gitignore names is left out."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from judge.adapters.files.whole_file import read_whole
from judge.errors import UnreadableDocument
from judge.types.search import FileScan, FoundFile

MAX_IGNORE_BYTES = 1_000_000
_WILDCARDS = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class _Area:
    """What was looked through: all at or below an absolute path, or what a pattern names of it."""

    root: str
    wanted: GitIgnoreSpec | None

    def covers(self, path: str) -> bool:
        if path == self.root:
            return True
        prefix = f"{self.root.rstrip('/')}/"
        inside = path.removeprefix(prefix)
        return path.startswith(prefix) and (self.wanted is None or self.wanted.match_file(inside))


@dataclass(slots=True)
class _Scan:
    """A FileScan as it grows."""

    files: list[FoundFile] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    links: int = 0
    areas: list[_Area] = field(default_factory=list)
    unseen: list[_Area] = field(default_factory=list)
    """Folders that could not be looked into."""

    def covers(self, path: str) -> bool:
        """See `FileScan.covers`."""
        is_hidden = any(area.covers(path) for area in self.unseen)
        return not is_hidden and any(area.covers(path) for area in self.areas)


@dataclass(frozen=True, slots=True)
class _IgnoreRules:
    """The .gitignore of a folder."""

    folder: Path
    spec: GitIgnoreSpec


class LocalFiles:
    """The files of this machine; see `DocumentFiles`."""

    def scan(self, paths: Sequence[str], globs: Sequence[str] = ()) -> FileScan:
        """See `DocumentFiles.scan`.

        A path may hold wildcards itself. Hidden files are left out, unless they are named.
        """
        found = _Scan()
        for path in paths:
            if not path:  # To pathlib this is the working directory; who typed it meant a name.
                found.problems.append(("''", "is no path"))
                continue
            root, wildcards = _split(path)
            _scan_root(root, [*globs, *wildcards], found)
        return FileScan(tuple(found.files), tuple(found.problems), found.links, found.covers)

    def read(self, location: str, *, max_bytes: int) -> bytes:
        """See `DocumentFiles.read`."""
        return _read_file(location, max_bytes)

    def exists(self, path: str) -> bool:
        """See `DocumentFiles.exists`."""
        return os.path.lexists(path)


def _read_file(path: str, max_bytes: int) -> bytes:
    try:
        content = read_whole(path, max_bytes)
    except OSError as error:
        reason = f"It cannot be read ({error.strerror})." if error.errno else f"{error.strerror}."
        raise UnreadableDocument(reason) from error
    if len(content) > max_bytes:
        raise UnreadableDocument(f"It is over {max_bytes // 1024 // 1024} MiB.")
    return content


def _split(path: str) -> tuple[Path, list[str]]:
    """The part of *path* without wildcards, and the rest as a pattern."""
    whole = Path(path)
    if os.path.lexists(path) or not _WILDCARDS & set(path):
        return whole, []
    parts = whole.parts
    first = next(at for at, part in enumerate(parts) if _WILDCARDS & set(part))
    return Path(*parts[:first]), ["/" + "/".join(parts[first:])]


def _scan_root(root: Path, globs: Sequence[str], found: _Scan) -> None:
    try:
        absolute = root.resolve(strict=True)
        status = absolute.stat()
    except (OSError, RuntimeError) as error:
        found.problems.append((_printable(root), _reason(error)))
        return
    wanted = GitIgnoreSpec.from_lines(globs) if globs else None
    found.areas.append(_Area(_printable(absolute), wanted))
    if stat.S_ISREG(status.st_mode):
        if wanted is None or wanted.match_file(root.name):
            found.files.append(_file(str(absolute), str(root), absolute.name, status))
    elif stat.S_ISDIR(status.st_mode):
        above = str(root / "_")[:-1]
        for entry, inside in _walk(absolute, found):
            if wanted is None or wanted.match_file(inside):
                status = entry.stat(follow_symlinks=False)
                found.files.append(_file(entry.path, above + inside, inside, status))
    else:
        found.problems.append((_printable(root), "is neither a file nor a folder"))


def _walk(root: Path, found: _Scan) -> Iterator[tuple[os.DirEntry[str], str]]:
    """The regular files below *root* by name, each with its place below it.

    Strings, not paths, for each file: those take half the time of the whole scan.
    """
    above = len(str(root / "_")) - 1
    waiting = [(root, _rules_above(root))]
    while waiting:
        folder, rules = waiting.pop()
        rules += _rules_in(folder)
        folders: list[tuple[Path, tuple[_IgnoreRules, ...]]] = []
        for entry in _entries(folder, found):
            if entry.is_symlink():
                found.links += 1
            elif entry.name.startswith(".") or _is_ignored(entry.path, rules, entry.is_dir()):
                continue
            elif entry.is_dir():
                folders.append((Path(entry.path), rules))
            elif entry.is_file():
                yield entry, entry.path[above:]
        waiting += reversed(folders)


def _entries(folder: Path, found: _Scan) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        found.problems.append((_printable(folder), _reason(error)))
        found.unseen.append(_Area(_printable(folder), None))
        return []


def _rules_above(root: Path) -> tuple[_IgnoreRules, ...]:
    """The rules of the repository around *root*, unless they leave out *root* itself.

    Who names a folder wants it.
    """
    parents: list[Path] = []
    for folder in (root, *root.parents):
        if folder != root:
            parents.append(folder)
        if (folder / ".git").exists():
            break
    else:
        return ()
    rules = tuple(rule for parent in reversed(parents) for rule in _rules_in(parent))
    return () if _is_ignored(str(root), rules, is_folder=True) else rules


def _rules_in(folder: Path) -> tuple[_IgnoreRules, ...]:
    try:
        content = _read_file(str(folder / ".gitignore"), MAX_IGNORE_BYTES)
    except UnreadableDocument:
        return ()
    lines = content.decode("utf-8", "surrogateescape").splitlines()
    return (_IgnoreRules(folder, GitIgnoreSpec.from_lines(lines)),)


def _is_ignored(path: str, rules: Sequence[_IgnoreRules], is_folder: bool) -> bool:  # noqa: FBT001
    """Whether *path* is left out: the innermost rule that speaks of it decides."""
    for rule in reversed(rules):
        inside = path.removeprefix(str(rule.folder / "_")[:-1])
        verdict = rule.spec.check_file(f"{inside}/" if is_folder else inside).include
        if verdict is not None:
            return verdict
    return False


def _file(path: str, shown: str, relative: str, status: os.stat_result) -> FoundFile:
    return FoundFile(
        location=path,
        path=_printable(path),
        shown=_printable(shown),
        relative=_printable(relative),
        mtime_ns=status.st_mtime_ns,
        size_bytes=status.st_size,
    )


def _printable(path: Path | str) -> str:
    """The path with U+FFFD where its bytes are no UTF-8."""
    if isinstance(path, str) and path.isascii():
        return path
    return os.fsencode(path).decode("utf-8", "replace")


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "cannot be followed"
