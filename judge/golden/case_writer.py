"""How cases are written: one spelling, in one step, by one process at a time."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from judge.adapters.files.whole_file import write_whole
from judge.errors import ConfigurationError
from judge.golden.errors import CasesLocked

LOCK_NAME = ".golden.lock"


def as_text(document: Mapping[str, Any]) -> str:
    """The one spelling of a case: two spaces of indent, plain letters, a line end at the end."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def write_output(path: Path, content: bytes) -> None:
    """Put *content* into the file *path* that somebody asked for; raises ConfigurationError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error}") from error


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Be the only process that changes the cases of *folder*; raises CasesLocked.

    The lock is the kernel's, so it ends with its holder: a file left behind by a process that
    was killed locks nothing.
    """
    path = folder / LOCK_NAME
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(handle, path)
            if not _is_still(handle, path):
                continue  # Its last holder has just removed it: take the new one.
            os.ftruncate(handle, 0)
            os.write(handle, str(os.getpid()).encode())
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return
        finally:
            os.close(handle)


def _lock(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
        raise CasesLocked(
            f"Process {holder} is changing the golden cases (it holds {path}). Try again when it "
            "has finished."
        ) from None


def _is_still(handle: int, path: Path) -> bool:
    """Whether the file that was locked is the one at *path*."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False
