"""The only file of the code graph that touches the disk: list, stat, read, write atomically.

A link is never followed and nothing outside the repository is ever opened: what is listed are
regular files below the root, and each is checked again when it is read.
"""

import os
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from judge.codegraph.errors import BadRepository, GraphMissing
from judge.codegraph.models import FileStat

GRAPH_NAME = ".judge/rag_graph.json"
FACTS_NAME = ".judge/rag_facts.msgpack"

#: Longer files are data, not text that people write; the longest module of CPython has 0.7 MB.
MAX_FILE_BYTES = 2_000_000
#: More than twenty million lines of code give; longer files of ours were not written by us.
MAX_GRAPH_BYTES = 1_000_000_000
_GIT_TIMEOUT_S = 30
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

    def files(self) -> dict[str, FileStat]:
        """Every file that counts, by its path from the root with `/`, in order.

        Raise BadRepository when the root cannot be listed.
        """
        listed = self._listed_by_git()
        paths = self._walked() if listed is None else listed
        known = ((path, self._stat(path)) for path in sorted({*filter(_is_utf8, paths)}))
        return {path: found for path, found in known if found is not None}

    def _walked(self) -> Iterator[str]:
        """Every file in and under the root, by its path from there."""
        root = str(self.root)
        try:
            os.scandir(root).close()
        except OSError as error:
            raise BadRepository(f"{root} cannot be read: {error}") from error
        # Other folders that nobody may read have no files for us.
        for folder, inside, names in os.walk(root):
            inside[:] = set(inside) - _SKIPPED_FOLDERS
            below = "" if folder == root else f"{os.path.relpath(folder, root)}/"
            yield from (f"{below}{name}" for name in names)

    def _stat(self, path: str) -> FileStat | None:
        """Size and time of a regular file; None for anything else."""
        try:
            return _regular(os.lstat(f"{self.root}/{path}"))
        except (OSError, ValueError):
            return None

    def read(self, path: str) -> bytes | None:
        """The content of a file below the root; None for a link, and what is too long to read."""
        try:
            content, _ = self._opened(path, MAX_FILE_BYTES + 1)
        except (OSError, ValueError, RuntimeError):
            return None
        return content if len(content) <= MAX_FILE_BYTES else None

    def _opened(self, path: str, limit: int) -> tuple[bytes, FileStat]:
        """The first *limit* bytes of a regular file below the root; raise OSError for any other.

        A pipe is not waited for, and no link is followed, not even in the path.
        """
        target = f"{self.root}/{path}"
        handle = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            known = _regular(os.fstat(handle))
            if known is None or _opened_path(handle, target) != target:
                raise FileNotFoundError(target)
            # Asked for more than there is, Python takes room for all of it first.
            return os.read(handle, min(limit, known.size + 1)), known
        finally:
            os.close(handle)

    def graph(self) -> tuple[bytes, int]:
        """The stored graph and when it was written; raise GraphMissing when there is none."""
        try:
            content, known = self._opened(GRAPH_NAME, MAX_GRAPH_BYTES)
        except OSError as error:
            raise GraphMissing(_missing(self.root)) from error
        return content, known.mtime_ns

    def graph_stamp(self) -> tuple[int, int, int]:
        """What changes when the graph is written again; raise GraphMissing without a graph."""
        try:
            status = (self.root / GRAPH_NAME).stat()
        except OSError as error:
            raise GraphMissing(_missing(self.root)) from error
        return status.st_ino, status.st_size, status.st_mtime_ns

    def facts(self) -> bytes | None:
        """The facts stored by the last build, if there are any."""
        try:
            return self._opened(FACTS_NAME, MAX_GRAPH_BYTES)[0]
        except OSError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Replace a file in one step; raise BadRepository when that is not allowed.

        Whoever reads meanwhile sees the old file or the new one, and of two writers the last
        one wins with a whole file.
        """
        target = self.root / name
        # `tempfile` takes longer to load than the rest of a small build.
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

    def _listed_by_git(self) -> list[str] | None:
        """Tracked files and untracked ones that are not ignored; None outside a work tree."""
        if not any((folder / ".git").exists() for folder in (self.root, *self.root.parents)):
            return None
        # A repository's own configuration must not make git start a program.
        command = ["git", "-c", "core.fsmonitor=false", "ls-files", "-co", "--exclude-standard"]
        try:
            done = subprocess.run(  # noqa: S603 - a fixed command
                [*command, "-z"],
                cwd=self.root,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_GIT_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        if done.returncode != 0 or not done.stdout:
            return None
        names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
        return [name for name in names if name and "/.judge/" not in f"/{name}"]


def _regular(status: os.stat_result) -> FileStat | None:
    return FileStat(status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def _opened_path(handle: int, target: str) -> str:
    """Where the file is that was opened, links in its path resolved."""
    try:
        return os.readlink(f"/proc/self/fd/{handle}")  # noqa: PTH115 - a tenth of the time
    except OSError:
        return os.path.realpath(target)


def _missing(root: Path | str) -> str:
    """What to say when a repository has no graph."""
    return f"{root} has no code graph yet. Make one with: judge code build-graph --repo {root}"


def _is_utf8(name: str) -> bool:
    """A name that is not UTF-8 cannot be told in JSON; such files are left out."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
