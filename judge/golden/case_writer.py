"""Writes cases: in one format, atomically, by one process at a time."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judge.adapters.files.whole_file import write_whole
from judge.errors import ConfigurationError, JudgeError


class CasesLocked(JudgeError):
    """Another process is changing the cases of the folder."""


def serialize_case(document: Mapping[str, Any]) -> str:
    """*document* as JSON: indented by two spaces, without escapes for letters beyond ASCII."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def write_output(path: Path, content: bytes) -> None:
    """Write *content* to *path*, which the user named; raises ConfigurationError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_bytes(content)  # `/dev/stdout` is written to and not replaced.
        else:
            write_whole(path, content)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error}") from error


@contextmanager
def cases_lock(folder: Path) -> Iterator[None]:
    """Hold the lock for changing cases of *folder*, which is created if it does not exist.

    The lock is one of the kernel on the folder, so it ends with the process. Raises CasesLocked,
    and ConfigurationError if the folder cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be written to: {error}.") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"Another process is changing the golden cases of {folder}. Try again later."
            raise CasesLocked(message) from None
        yield
    finally:
        os.close(handle)
