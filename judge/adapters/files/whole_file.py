"""Reads a file without ever blocking, and writes a file atomically."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def read_whole(path: Path | str, max_bytes: int) -> bytes:
    """The bytes of the regular file at *path*, at most *max_bytes* + 1; raises OSError.

    A pipe or a device, which may never end or never answer, is an OSError without errno.
    """
    # Opening a pipe would wait for a writer, and a file may have become a pipe since a check.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "It is no regular file")
        # Allocating *max_bytes* for each file would take longer than reading it.
        return file.read(min(status.st_size, max_bytes) + 1)


def write_whole(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write *content* to *path* atomically; raises OSError."""
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
