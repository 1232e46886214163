"""Finds the files to index below a folder, reads them, and converts those that pandoc reads.

Files in .gitignore are left out.
"""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from judge.adapters.files.whole_file import read_whole
from judge.errors import InvalidRequest, UnreadableDocument
from judge.ports import not_converted
from judge.types.search import FileScan, FoundFile

PANDOC_FORMATS = {"tex": "latex", "adoc": "asciidoc"}
"""Endings that are not pandoc's name of the format."""

_WILDCARDS = frozenset("*?[")

MAX_STARS = 2
"""Of a pattern: how many `*` beside the first of their part of the path, and `**`. A match may take
time by the length of the path for each of them."""

TOO_MANY_STARS = "more * than can be matched quickly"
_PATTERN_ERRORS = (ValueError, re.error)
_Rules = tuple[tuple[Path, GitIgnoreSpec], ...]
"""The .gitignore files that apply in a folder, each with its own folder, the outermost first."""


class LocalFiles:
    """The files of this machine; see `DocumentFiles`."""

    def scan(self, paths: Sequence[str], globs: Sequence[str] = ()) -> FileScan:
        """See `DocumentFiles.scan`.

        A path may contain wildcards itself. Hidden files are left out, unless a path names them.
        """
        scan = FileScan()
        for path in paths:
            if not path:  # To pathlib this is the working directory, which was hardly meant.
                scan.problems.append(("''", "is no path"))
                continue
            root, wildcards = _split(path)
            _scan_root(root, [*globs, *wildcards], scan)
        return scan

    def read(self, location: str, *, max_bytes: int) -> bytes:
        """See `DocumentFiles.read`."""
        try:
            content = read_whole(location, max_bytes)
        except OSError as error:
            told = f"It cannot be read ({error.strerror})" if error.errno else error.strerror
            raise UnreadableDocument(f"{told}.") from error
        if len(content) > max_bytes:
            raise UnreadableDocument(f"It is over {max_bytes // 1024 // 1024} MiB.")
        return content

    def exists(self, path: str) -> bool:
        """See `DocumentFiles.exists`."""
        return os.path.lexists(path)


def pandoc_html(content: bytes, kind: str) -> bytes:
    """The document as HTML; raises UnreadableDocument."""
    pandoc = shutil.which("pandoc")
    if pandoc is None:
        return not_converted(content, kind)
    # In its sandbox it opens no other file and no address.
    command = [pandoc, "--sandbox", "--standalone", "--from", PANDOC_FORMATS.get(kind, kind)]
    try:
        done = subprocess.run(  # noqa: S603
            [*command, "--to=html"], input=content, capture_output=True, timeout=60.0, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnreadableDocument(f"pandoc did not convert it ({type(error).__name__}).") from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason"]
        raise UnreadableDocument(f"pandoc did not convert it: {reason[0][:200]}")
    return done.stdout


def _split(path: str) -> tuple[Path, list[str]]:
    """The leading parts of *path* without wildcards, and the rest as a glob pattern."""
    whole = Path(path)
    if os.path.lexists(path) or not _WILDCARDS & set(path):
        return whole, []
    first = next(at for at, part in enumerate(whole.parts) if _WILDCARDS & set(part))
    return Path(*whole.parts[:first]), ["/" + "/".join(whole.parts[first:])]


def _note_problem(scan: FileScan, path: Path | str, error: Exception) -> None:
    reason = getattr(error, "strerror", None) or "cannot be followed"
    scan.problems.append((_printable(path), reason))


def _scan_root(root: Path, globs: Sequence[str], scan: FileScan) -> None:
    try:
        absolute = root.resolve(strict=True)
        mode = absolute.stat().st_mode
    except (OSError, RuntimeError) as error:
        _note_problem(scan, root, error)
        return
    spec = GitIgnoreSpec.from_lines(globs, _glob) if globs else None
    scan.roots.append(_printable(absolute))
    if stat.S_ISREG(mode):
        if spec is None or spec.match_file(root.name):
            scan.files.append(_file(absolute, root, absolute.name))
    elif stat.S_ISDIR(mode):
        for path in _walk(absolute, scan):
            relative = str(path.relative_to(absolute))
            if spec is None or spec.match_file(relative):
                scan.files.append(_file(path, root / relative, relative))
    else:
        scan.problems.append((_printable(root), "is neither a file nor a folder"))


def _walk(root: Path, scan: FileScan) -> Iterator[Path]:
    """The regular files below *root*, those of a folder by name before its subfolders."""
    rules = {str(root): _rules_above(root)}
    for name, folders, files in os.walk(
        root, onerror=lambda error: _note_problem(scan, error.filename, error)
    ):
        folder = Path(name)
        own = rules.pop(name) + _rules_in(folder, scan)
        scan.links += sum((folder / entry).is_symlink() for entry in (*folders, *files))
        folders[:] = sorted(entry for entry in folders if _is_wanted(folder / entry, own))
        rules |= {str(folder / entry): own for entry in folders}
        for entry in sorted(files):
            path = folder / entry
            if _is_wanted(path, own) and path.is_file():
                yield path


def _is_wanted(path: Path, rules: _Rules) -> bool:
    """Whether *path* is neither hidden, nor Word's note that a file is open, a link or ignored."""
    return not (path.name.startswith((".", "~$")) or path.is_symlink() or _is_ignored(path, rules))


def _rules_above(root: Path) -> _Rules:
    """The .gitignore rules above *root* in its repository; none if they ignore *root* itself.

    A folder that is named explicitly is wanted.
    """
    folders = (root, *root.parents)
    top = next((at for at, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    rules = tuple(rule for folder in reversed(folders[1 : top + 1]) for rule in _rules_in(folder))
    return () if _is_ignored(root, rules) else rules


def _rules_in(folder: Path, scan: FileScan | None = None) -> _Rules:
    """The rules of the .gitignore in *folder*; lines that are not followed are problems of *scan*.

    An invalid line matches nothing, as to git.
    """
    try:
        content = read_whole(folder / ".gitignore", 1_000_000)
    except OSError:
        return ()
    text = content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")  # As git does.
    patterns: list[GitIgnoreSpecPattern] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if _is_slow(line) and scan:
            place = f"{_printable(folder / '.gitignore')}, line {number}"
            scan.problems.append((place, f"was not followed, since it has {TOO_MANY_STARS}"))
        with suppress(*_PATTERN_ERRORS):
            patterns.append(GitIgnoreSpecPattern("" if _is_slow(line) else line))
    return ((folder, GitIgnoreSpec(patterns)),)


def _is_slow(pattern: str) -> bool:
    parts = [re.sub(r"\\.", "", part) for part in pattern.split("/")]
    # In one part of a path `**` is as `*`.
    extra = [1 if part == "**" else len(re.findall(r"\*+", part)) - 1 for part in parts]
    return sum(filter(lambda count: count > 0, extra)) > MAX_STARS


def _glob(pattern: str) -> GitIgnoreSpecPattern:
    """The glob *pattern*; raises InvalidRequest."""
    if _is_slow(pattern):
        raise InvalidRequest(f"{pattern[:80]!r} has {TOO_MANY_STARS}. Write a simpler one.")
    try:
        return GitIgnoreSpecPattern(pattern)
    except _PATTERN_ERRORS:
        raise InvalidRequest(
            f"{pattern!r} is no pattern of file names. Write one such as '*.md'."
        ) from None


def _is_ignored(path: Path, rules: _Rules) -> bool:
    """Whether *path* is ignored: the innermost .gitignore that matches it decides."""
    for folder, spec in reversed(rules):
        relative = str(path.relative_to(folder))
        verdict = spec.check_file(f"{relative}/" if path.is_dir() else relative).include
        if verdict is not None:
            return verdict
    return False


def _file(path: Path, given: Path, relative: str) -> FoundFile:
    status = path.stat()
    return FoundFile(
        location=str(path),
        path=_printable(path),
        given=_printable(given),
        relative=_printable(relative),
        mtime_ns=status.st_mtime_ns,
        size_bytes=status.st_size,
    )


def _printable(path: Path | str) -> str:
    """The path with U+FFFD for bytes that are not UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")
