"""A file, and those it includes, parsed again on changes; a bad edit keeps the last good value."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from judge.adapters.files.whole_file import read_whole, write_whole
from judge.errors import ConfigurationError
from judge.ports import Clock, Journal
from judge.types.text_files import Include, TextFile

MAX_BYTES = 4 * 1024 * 1024
"""Of one file, and of all that are read together; what is shipped has a hundredth of it."""

Included = Callable[[str], Iterable[Include]]
"""The includes that a text names."""


def read_text_files(path: Path, included: Included) -> tuple[TextFile, ...]:
    """The file at *path*, then the files that its text includes, in the order of the includes."""
    files = [read_text_file(path)]
    left = MAX_BYTES
    for other in _included_paths(path, included(files[0].text)):
        left -= len(files[-1].text)
        files.append(read_text_file(other, max_bytes=max(0, left)))
    return tuple(files)


def read_text_file(path: Path, *, max_bytes: int = MAX_BYTES) -> TextFile:
    """The UTF-8 text of the regular file at *path*, of at most *max_bytes*."""
    try:
        content, problem = read_whole(path, max_bytes), ""
    except OSError as error:
        content, problem = b"", error.strerror or type(error).__name__
    if len(content) > max_bytes:
        problem = f"It is over {MAX_BYTES // 1024 // 1024} MiB, with what it includes"
    if problem:
        raise ConfigurationError(
            f"{path} cannot be read ({problem}). Set JUDGE_SOURCES to a readable file."
        )
    try:
        # Some editors put a byte order mark before UTF-8.
        return TextFile(str(path), content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(
            f"{path}, line {line}: is not UTF-8 text; save the file as UTF-8."
        ) from error


def _included_paths(path: Path, includes: Iterable[Include]) -> tuple[Path, ...]:
    """The distinct files that match *includes*, relative to *path*, without *path* itself."""
    paths: dict[Path, None] = {}
    for pattern, line in includes:
        # As in a shell: editors and file managers leave hidden files beside edited ones.
        may_be_hidden = pattern.rpartition("/")[2].startswith(".")
        files: list[Path] = []
        with suppress(ValueError, IndexError, NotImplementedError, OSError):
            files = sorted(file for file in path.parent.glob(pattern) if file.is_file())
        others = [f for f in files if f != path and (may_be_hidden or not f.name.startswith("."))]
        if not others:
            raise ConfigurationError(
                f"{path}, line {line}: include: {pattern!r} matches no other file in "
                f'{path.parent}; correct it, as in "domains/*.toml", or take it out.'
            )
        paths.update(dict.fromkeys(others))
    return tuple(paths)


class LastGood:
    """Stores the texts of a file and those it includes in *folder*."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "sources-last-good.json"

    def store(self, files: Sequence[TextFile]) -> None:
        """Replace the stored version, atomically; raises OSError."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._path, json.dumps([asdict(file) for file in files]).encode())

    def read(self, path: Path) -> tuple[TextFile, ...]:
        """The stored version of the file at *path*; nothing when there is none or it is damaged."""
        with suppress(ConfigurationError, ValueError, TypeError, LookupError):
            # In JSON a character may take six bytes.
            content: Any = json.loads(read_text_file(self._path, max_bytes=6 * MAX_BYTES).text)
            files = tuple(TextFile(**file) for file in content)
            if files[0].name == str(path):
                return files
        return ()


CHECK_EVERY_S = 0.5
"""How late a change may be noticed; a check reads the files, which takes less than 1 ms."""

Value = TypeVar("Value")


@dataclass(slots=True)
class WatchedFile(Generic[Value]):
    """The value that *parse* returns for *path* and its includes, replaced when they change.

    The constructor reads the files. It raises ConfigurationError if that fails and *last_good* has
    no version of them; later failures are noted as `sources.rejected` and keep the last good value.
    *parse* takes each file as an argument, *path* first.
    """

    path: Path
    parse: Callable[..., Value]
    clock: Clock
    journal: Journal
    included: Included = lambda _: ()
    last_good: LastGood | None = None
    problem: str | None = None
    _files: tuple[TextFile, ...] = ()
    _is_refreshing: bool = False
    _value: Value = field(init=False)
    _checked_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._value = self._first_value()
        self._checked_at = self.clock.monotonic()

    def current(self) -> Value:
        """The last good value; on an event loop, a change is read on a thread for a later call."""
        now = self.clock.monotonic()
        if now - self._checked_at >= CHECK_EVERY_S and not self._is_refreshing:
            self._checked_at = now
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                self._refresh()
            else:
                self._is_refreshing = True
                _ = loop.run_in_executor(None, self._refresh)
        return self._value

    async def watch(self) -> None:
        """Look for changes until cancelled, so that a bad edit is reported without any call."""
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            self.current()

    def _first_value(self) -> Value:
        """Of the files, else of their last good version; raises ConfigurationError."""
        try:
            self._files = read_text_files(self.path, self.included)
            return self._parsed(self._files)
        except ConfigurationError as error:
            files = self.last_good.read(self.path) if self.last_good else ()
            if not files:
                raise
            try:
                value = self.parse(*files)
            except ConfigurationError:  # stored by another version of the program
                raise error from None
            self._reject(error)
            texts = json.dumps([[file.name, file.text] for file in files])
            digest = hashlib.sha256(texts.encode()).hexdigest()
            self.journal.note("sources.last_good_used", digest=digest)
            return value

    def _refresh(self) -> None:
        # A bad edit is reported once, but a file that could not be read is read again.
        before, self._files = self._files, ()
        try:
            self._files = read_text_files(self.path, self.included)
            if self._files == before:
                return
            self._value = self._parsed(self._files)
        except ConfigurationError as error:
            self._reject(error)
        else:
            self.problem = None
            self.journal.note("sources.reloaded")
        finally:
            self._is_refreshing = False

    def _reject(self, error: ConfigurationError) -> None:
        if str(error) != self.problem:
            self.journal.note("sources.rejected", problem=str(error))
        self.problem = str(error)

    def _parsed(self, files: tuple[TextFile, ...]) -> Value:
        """The value of *files*, which are kept as the last good ones."""
        try:
            value = self.parse(*files)
        except ConfigurationError:
            raise
        except Exception as error:
            # An edit that trips the parser must not fail later requests.
            raise ConfigurationError(
                f"{self.path}: cannot be understood ({type(error).__name__}: {error})."
            ) from error
        try:
            if self.last_good:
                self.last_good.store(files)
        except OSError as error:
            self.journal.note("sources.not_kept", reason=error.strerror or type(error).__name__)
        return value
