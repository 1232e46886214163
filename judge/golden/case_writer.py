"""How cases are written: one spelling, in one step, by one process at a time."""

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


def as_text(document: Mapping[str, Any]) -> str:
    """The one spelling of a case: two spaces of indent, plain letters, a line end at the end."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def write_output(path: Path, content: bytes) -> None:
    """Put *content* into the file *path* that somebody asked for; raises ConfigurationError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_bytes(content)  # `/dev/stdout` is written to and not replaced.
        else:
            write_whole(path, content)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error}") from error


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Be the only process that changes the cases of *folder*, which is made if need be.

    The lock is the kernel's, on the folder itself, so it ends with its holder. Raises CasesLocked,
    and ConfigurationError where there can be no such folder.
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
