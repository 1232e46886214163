"""Stores the last valid version of the sources files on disk, for workers that start later."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from judge.adapters.files.text_files import MAX_BYTES, read_text_file
from judge.adapters.files.whole_file import write_whole
from judge.errors import ConfigurationError
from judge.types.text_files import TextFile

NAME = "sources-last-good.json"


class LastGood:
    """Stores the texts of a file and those it includes in *folder*, with their digest."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME

    def store(self, files: Sequence[TextFile]) -> None:
        """Replace the stored version, atomically; raises OSError."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        content = {"digest": files_digest(files), "files": [asdict(file) for file in files]}
        write_whole(self._path, json.dumps(content).encode())

    def read(self, path: Path) -> tuple[TextFile, ...]:
        """The stored version of the file at *path*; nothing when there is none or it is damaged."""
        with suppress(ConfigurationError, ValueError, TypeError, LookupError):
            # In JSON a character may take six bytes.
            content: Any = json.loads(read_text_file(self._path, max_bytes=6 * MAX_BYTES).text)
            files = tuple(TextFile(file["name"], file["text"]) for file in content["files"])
            if files[0].name == str(path) and content["digest"] == files_digest(files):
                return files
        return ()


def files_digest(files: Sequence[TextFile]) -> str:
    """A digest of the names and texts of *files*."""
    parts = json.dumps([[file.name, file.text] for file in files])
    return hashlib.sha256(parts.encode()).hexdigest()
