"""Reads a file without waiting for any, and writes one in one step."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def read_whole(path: Path | str, max_bytes: int) -> bytes:
    """All bytes of the regular file at *path*, one more than *max_bytes* at most.

    A pipe or a device may have no end, or nothing to read for ever: OSError without an errno.
    """
    # Opening a pipe would wait for a writer, and it may have become one since it was looked at.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "It is no regular file")
        # Room for all that is allowed, for each file, takes longer than reading it.
        return file.read(min(status.st_size, max_bytes) + 1)


def write_whole(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Put *content* into *path* so that nobody ever sees a part of it; raises OSError."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise
