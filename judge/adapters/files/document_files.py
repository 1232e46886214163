"""Finds the files to index below a folder, and reads them; files in .gitignore are left out."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from judge.adapters.files.whole_file import read_whole
from judge.errors import InvalidRequest, UnreadableDocument
from judge.types.search import FileScan, FoundFile

MAX_IGNORE_BYTES = 1_000_000
_WILDCARDS = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class _Area:
    """A scanned part of the disk: *root* and all below it, or the files that *globs* match."""

    root: str
    globs: GitIgnoreSpec | None

    def covers(self, path: str) -> bool:
        if path == self.root:
            return True
        prefix = f"{self.root.rstrip('/')}/"
        relative = path.removeprefix(prefix)
        return path.startswith(prefix) and (self.globs is None or self.globs.match_file(relative))


@dataclass(slots=True)
class _Scan:
    """A FileScan under construction."""

    files: list[FoundFile] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    links: int = 0
    areas: list[_Area] = field(default_factory=list)
    unreadable: list[_Area] = field(default_factory=list)
    """Folders that could not be listed."""

    def covers(self, path: str) -> bool:
        """See `FileScan.covers`."""
        is_unknown = any(area.covers(path) for area in self.unreadable)
        return not is_unknown and any(area.covers(path) for area in self.areas)


@dataclass(frozen=True, slots=True)
class _IgnoreRules:
    """The .gitignore of a folder."""

    folder: Path
    spec: GitIgnoreSpec


class LocalFiles:
    """The files of this machine; see `DocumentFiles`."""

    def scan(self, paths: Sequence[str], globs: Sequence[str] = ()) -> FileScan:
        """See `DocumentFiles.scan`.

        A path may contain wildcards itself. Hidden files are left out, unless a path names them.
        """
        scan = _Scan()
        for path in paths:
            if not path:  # To pathlib this is the working directory, which was hardly meant.
                scan.problems.append(("''", "is no path"))
                continue
            root, wildcards = _split(path)
            _scan_root(root, [*globs, *wildcards], scan)
        return FileScan(tuple(scan.files), tuple(scan.problems), scan.links, scan.covers)

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
    """The leading parts of *path* without wildcards, and the rest as a glob pattern."""
    whole = Path(path)
    if os.path.lexists(path) or not _WILDCARDS & set(path):
        return whole, []
    parts = whole.parts
    first = next(at for at, part in enumerate(parts) if _WILDCARDS & set(part))
    return Path(*parts[:first]), ["/" + "/".join(parts[first:])]


def _scan_root(root: Path, globs: Sequence[str], scan: _Scan) -> None:
    try:
        absolute = root.resolve(strict=True)
        status = absolute.stat()
    except (OSError, RuntimeError) as error:
        scan.problems.append((_printable(root), _reason(error)))
        return
    spec = GitIgnoreSpec.from_lines(globs, _glob) if globs else None
    scan.areas.append(_Area(_printable(absolute), spec))
    if stat.S_ISREG(status.st_mode):
        if spec is None or spec.match_file(root.name):
            scan.files.append(_file(str(absolute), str(root), absolute.name, status))
    elif stat.S_ISDIR(status.st_mode):
        prefix = str(root / "_")[:-1]
        for entry, relative in _walk(absolute, scan):
            if spec is None or spec.match_file(relative):
                status = entry.stat(follow_symlinks=False)
                scan.files.append(_file(entry.path, prefix + relative, relative, status))
    else:
        scan.problems.append((_printable(root), "is neither a file nor a folder"))


def _walk(root: Path, scan: _Scan) -> Iterator[tuple[os.DirEntry[str], str]]:
    """The regular files below *root* in the order of names, each with its relative path.

    Paths of files are strings: Path objects took half the time of the whole scan.
    """
    prefix_length = len(str(root / "_")) - 1
    pending = [(root, _rules_above(root))]
    while pending:
        folder, rules = pending.pop()
        rules += _rules_in(folder)
        folders: list[tuple[Path, tuple[_IgnoreRules, ...]]] = []
        for entry in _entries(folder, scan):
            if entry.is_symlink():
                scan.links += 1
            elif entry.name.startswith(".") or _is_ignored(entry.path, rules, entry.is_dir()):
                continue
            elif entry.is_dir():
                folders.append((Path(entry.path), rules))
            elif entry.is_file():
                yield entry, entry.path[prefix_length:]
        pending += reversed(folders)


def _entries(folder: Path, scan: _Scan) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        scan.problems.append((_printable(folder), _reason(error)))
        scan.unreadable.append(_Area(_printable(folder), None))
        return []


def _rules_above(root: Path) -> tuple[_IgnoreRules, ...]:
    """The .gitignore rules above *root* in its repository; none if they ignore *root* itself.

    A folder that is named explicitly is wanted.
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
    text = content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")  # As git does.
    lines = text.splitlines()
    return (_IgnoreRules(folder, GitIgnoreSpec.from_lines(lines, _ignored)),)


_PATTERN_ERRORS = (ValueError, re.error)


def _ignored(line: str) -> GitIgnoreSpecPattern:
    """The pattern in a *line* of .gitignore; to git, too, an invalid one matches nothing."""
    try:
        return GitIgnoreSpecPattern(line)
    except _PATTERN_ERRORS:
        return GitIgnoreSpecPattern("")


def _glob(pattern: str) -> GitIgnoreSpecPattern:
    """The glob *pattern*; raises InvalidRequest."""
    try:
        return GitIgnoreSpecPattern(pattern)
    except _PATTERN_ERRORS:
        raise InvalidRequest(
            f"{pattern!r} is no pattern of file names. Write one such as '*.md'."
        ) from None


def _is_ignored(path: str, rules: Sequence[_IgnoreRules], is_folder: bool) -> bool:  # noqa: FBT001
    """Whether *path* is ignored: the innermost .gitignore that matches it decides."""
    for rule in reversed(rules):
        relative = path.removeprefix(str(rule.folder / "_")[:-1])
        verdict = rule.spec.check_file(f"{relative}/" if is_folder else relative).include
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
    """The path with U+FFFD for bytes that are not UTF-8."""
    if isinstance(path, str) and path.isascii():
        return path
    return os.fsencode(path).decode("utf-8", "replace")


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "cannot be followed"
