"""A file that is parsed again when it changes; a bad edit keeps the last good value."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from judge.adapters.files.last_good import LastGood, files_digest
from judge.adapters.files.text_files import (
    Included,
    included_paths,
    read_text_file,
    read_text_files,
    unreadable,
)
from judge.errors import ConfigurationError
from judge.ports import Clock, Journal

if TYPE_CHECKING:
    from judge.types.text_files import Include

CHECK_EVERY_S = 0.5
"""How late a change may be noticed; a check costs one `stat` a file, about 2 µs."""

Value = TypeVar("Value")

_Stamp = tuple[str, int, int, int, int]


class WatchedFile(Generic[Value]):
    """The value that *parse* returns for *path* and its includes, replaced when they change.

    The constructor reads the files. It raises ConfigurationError if that fails and *last_good* has
    no version of them; later failures are noted as `sources.rejected` and keep the last good value.
    *parse* takes each file as an argument, *path* first.
    """

    def __init__(
        self,
        path: Path,
        parse: Callable[..., Value],
        clock: Clock,
        journal: Journal,
        *,
        included: Included = lambda _: (),
        last_good: LastGood | None = None,
    ) -> None:
        self._path = path
        self._parse = parse
        self._included = included
        self._clock = clock
        self._journal = journal
        self._includes: tuple[Include, ...] = ()
        self._stamps: tuple[_Stamp, ...] = ()
        self._last_good = last_good
        self._is_refreshing = False
        self.problem: str | None = None
        self._value = self._first_value()
        self._checked_at = clock.monotonic()

    def current(self) -> Value:
        """The last good value; on an event loop, a change is read on a thread for a later call."""
        now = self._clock.monotonic()
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
            self._stamps = self._read_stamps()
            return self._read()
        except ConfigurationError as error:
            files = self._last_good.read(self._path) if self._last_good else ()
            if not files:
                raise
            try:
                value = self._parse(*files)
            except ConfigurationError:  # stored by another version of the program
                raise error from None
            self.problem = str(error)
            self._journal.note("sources.rejected", problem=self.problem)
            self._journal.note("sources.last_good_used", digest=files_digest(files))
            return value

    def _refresh(self) -> None:
        try:
            stamps = self._read_stamps()
            if stamps == self._stamps:
                return
            # Set before parsing, so that a bad edit is reported once and not at every request.
            self._stamps = stamps
            self._value = self._read()
        except ConfigurationError as error:
            if str(error) != self.problem:
                self._journal.note("sources.rejected", problem=str(error))
            self.problem = str(error)
        else:
            self.problem = None
            self._journal.note("sources.reloaded")
        finally:
            self._is_refreshing = False

    def _read_stamps(self) -> tuple[_Stamp, ...]:
        """The stamps of all files; the includes are parsed again when the main file changes."""
        try:
            main = _stamp(self._path)
            if self._stamps[:1] != (main,):
                self._includes = tuple(self._included(read_text_file(self._path).text))
            others = included_paths(self._path, self._includes)
            return (main, *(_stamp(path) for path in others))
        except ConfigurationError:
            # Once the files are back they are read again, even if unchanged.
            self._stamps = ()
            raise

    def _read(self) -> Value:
        files = read_text_files(self._path, self._included)
        try:
            value = self._parse(*files)
        except ConfigurationError:
            raise
        except Exception as error:
            # An edit that trips the parser must not fail later requests.
            raise ConfigurationError(
                f"{self._path}: cannot be understood ({type(error).__name__}: {error})."
            ) from error
        try:
            if self._last_good:
                self._last_good.store(files)
        except OSError as error:
            self._journal.note("sources.not_kept", reason=error.strerror or type(error).__name__)
        return value


def _stamp(path: Path) -> _Stamp:
    """A value that differs when the file at *path* has changed."""
    try:
        stat = path.stat()
    except OSError as error:
        raise unreadable(path, error) from error
    # Not mtime and size alone: a file of the same length may be copied with its mtime.
    return (str(path), stat.st_ctime_ns, stat.st_mtime_ns, stat.st_size, stat.st_ino)
