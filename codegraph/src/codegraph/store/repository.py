"""The only module of the code graph that touches the disk: list, stat, read, write atomically.

It never follows a link and never opens a file outside the repository: only regular files below the
root are listed, and each is checked again when it is read.
"""

import os
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from codegraph.errors import BadRepository, GraphMissing
from codegraph.models import FileStat

GRAPH_NAME = ".judge/rag_graph.json"
FACTS_NAME = ".judge/rag_facts.msgpack"

#: Larger files are data, not code that people write; the largest module of CPython has 0.7 MB.
MAX_FILE_BYTES = 2_000_000
#: A graph of twenty million lines is smaller; larger files were not written by us.
MAX_GRAPH_BYTES = 1_000_000_000
#: Listing the 90,000 files of Linux takes git half a second.
_GIT_TIMEOUT_S = 5
#: How long git is not asked again after it took too long.
_GIT_PAUSE_S = 60
_SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", ".judge", ".venv", "venv", "node_modules", "__pycache__", ".tox"}
)


class Repository:
    """The folder whose code is read."""

    def __init__(self, root: Path | str) -> None:
        """Raise BadRepository when *root* is not a folder."""
        try:
            self.root = Path(root).resolve()
            is_folder = self.root.is_dir()
        except (OSError, ValueError, RuntimeError) as error:
            raise BadRepository(f"{str(root)!r} cannot be a repository: {error}") from error
        if not is_folder:
            raise BadRepository(f"{root} is not a folder. Name the folder of a repository.")
        self._next_listing = 0.0

    def files(self) -> dict[str, FileStat]:
        """Size and time of every file to read, by its path from the root with `/`, sorted.

        Raise BadRepository when the root cannot be listed.
        """
        listed = self._list_with_git()
        paths = self._walk() if listed is None else listed
        stats = ((path, self._stat(path)) for path in sorted({*filter(_is_utf8, paths)}))
        return {path: file_stat for path, file_stat in stats if file_stat is not None}

    def submodules(self) -> list[str]:
        """The paths of other repositories within this one, whose files git does not list."""
        listed = self._list_with_git() or []
        folders = {name.rstrip("/") for name in listed if not self._stat(name)}
        return sorted(path for path in folders if _is_utf8(path) and (self.root / path).is_dir())

    def _walk(self) -> Iterator[str]:
        """The path from the root of every file in and under it, without skipped folders."""
        root = str(self.root)
        try:
            os.scandir(root).close()
        except OSError as error:
            raise BadRepository(f"{root} cannot be read: {error}") from error
        # Folders inside it that cannot be read are skipped.
        for folder, subfolders, names in os.walk(root):
            subfolders[:] = set(subfolders) - _SKIPPED_FOLDERS
            prefix = "" if folder == root else f"{os.path.relpath(folder, root)}/"
            yield from (f"{prefix}{name}" for name in names)

    def _stat(self, path: str) -> FileStat | None:
        """Size and time of a regular file; None for anything else."""
        try:
            return _regular(os.lstat(f"{self.root}/{path}"))
        except (OSError, ValueError):
            return None

    def read(self, path: str) -> bytes | None:
        """The content of a file below the root; None when it is a link, too large or unreadable."""
        try:
            content, _ = self._read_file(path, MAX_FILE_BYTES + 1)
        except (OSError, ValueError, RuntimeError):
            return None
        return content if len(content) <= MAX_FILE_BYTES else None

    def _read_file(self, path: str, limit: int) -> tuple[bytes, FileStat]:
        """The first *limit* bytes of a regular file below the root; raise OSError for any other.

        It does not wait for a pipe, and follows no link, not even in the path.
        """
        target = f"{self.root}/{path}"
        handle = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            file_stat = _regular(os.fstat(handle))
            if file_stat is None or os.path.realpath(target) != target:
                raise FileNotFoundError(target)
            # `os.read` allocates as many bytes as it may return.
            return os.read(handle, min(limit, file_stat.size + 1)), file_stat
        finally:
            os.close(handle)

    def stored(self, name: str) -> tuple[bytes, int]:
        """The graph or the cache and when it was written; raise GraphMissing when there is none."""
        try:
            content, file_stat = self._read_file(name, MAX_GRAPH_BYTES)
        except OSError as error:
            raise self._missing() from error
        return content, file_stat.mtime_ns

    def graph_stamp(self) -> tuple[int, int, int]:
        """Inode, size and time of the graph, which change with a build; raise GraphMissing."""
        try:
            status = (self.root / GRAPH_NAME).stat()
        except OSError as error:
            raise self._missing() from error
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _missing(self) -> GraphMissing:
        build = f"judge code build-graph --repo {self.root}"
        return GraphMissing(f"{self.root} has no code graph yet. Make one with: {build}")

    def write(self, name: str, content: bytes) -> None:
        """Replace a file atomically; raise BadRepository when it cannot be written.

        Concurrent readers see the old file or the new one; of two writers the last one wins.
        """
        target = self.root / name
        # Importing `tempfile` takes longer than the rest of a small build.
        temporary = target.with_name(f".{target.name}.{os.getpid()}.{time.time_ns()}")
        try:
            target.parent.mkdir(exist_ok=True)
            if target.parent.resolve() != target.parent:
                raise BadRepository(f"{target.parent} is a link; the graph is not written there.")
            with temporary.open("xb") as file:
                file.write(content)
                file.flush()
                os.fchmod(file.fileno(), 0o644)
                os.fsync(file.fileno())
            temporary.replace(target)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink()
            raise BadRepository(f"The graph cannot be written to {target}: {error}") from error

    def _list_with_git(self) -> list[str] | None:
        """Tracked files and untracked ones that are not ignored; None outside a work tree.

        Raise BadRepository when git takes too long, as it may for a pattern with many stars.
        """
        if not any((folder / ".git").exists() for folder in (self.root, *self.root.parents)):
            return None
        too_slow = BadRepository(
            f"git could not list the files of {self.root} in {_GIT_TIMEOUT_S} s. Look for a "
            "pattern with many * in its .gitignore files."
        )
        if time.monotonic() < self._next_listing:
            raise too_slow
        # `core.fsmonitor` in the repository's own configuration could make git start a program.
        command = "git -c core.fsmonitor=false ls-files -co --exclude-standard -z".split()
        try:
            completed = subprocess.run(  # noqa: S603 - a fixed command
                command, cwd=self.root, capture_output=True, timeout=_GIT_TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired:
            self._next_listing = time.monotonic() + _GIT_PAUSE_S
            raise too_slow from None
        except (OSError, subprocess.SubprocessError):
            return None
        if completed.returncode != 0 or not completed.stdout:
            return None
        names = completed.stdout.decode("utf-8", "surrogateescape").split("\0")
        return [name for name in names if name and "/.judge/" not in f"/{name}"]


def _regular(status: os.stat_result) -> FileStat | None:
    return FileStat(status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def _is_utf8(name: str) -> bool:
    """Whether a file name is UTF-8; JSON cannot hold others, so such files are left out."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)
