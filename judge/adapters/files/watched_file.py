"""A file that is read again when it changes; a bad edit keeps the last good value."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from judge.adapters.files.last_good import LastGood, digest_of
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
"""How stale a change may be noticed; a look costs one `stat` a file, about 2 µs."""

Value = TypeVar("Value")

_Stamp = tuple[str, int, int, int, int]


class WatchedFile(Generic[Value]):
    """What *parse* makes of *path* and the files it includes, replaced as a whole on a change.

    Making one reads the files and raises ConfigurationError if that fails, unless *last_good* has
    a version of them to begin with; later failures are noted as `sources.rejected` and leave the
    last good value in place. *parse* takes each file as an argument, *path* first.
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
        self._value = self._begin()
        self._looked_at = clock.monotonic()

    def current(self) -> Value:
        """The newest good value. On an event loop it is read on a thread, for who asks later."""
        now = self._clock.monotonic()
        if now - self._looked_at >= CHECK_EVERY_S and not self._is_refreshing:
            self._looked_at = now
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                self._refresh()
            else:
                self._is_refreshing = True
                _ = loop.run_in_executor(None, self._refresh)
        return self._value

    def _begin(self) -> Value:
        """The first value; raises ConfigurationError."""
        try:
            self._stamps = self._look()
            return self._read()
        except ConfigurationError as error:
            files = self._last_good.read(self._path) if self._last_good else ()
            if not files:
                raise
            try:
                value = self._parse(*files)
            except ConfigurationError:  # kept by another version of the program
                raise error from None
            self.problem = str(error)
            self._journal.note("sources.rejected", problem=self.problem)
            self._journal.note("sources.last_good_used", digest=digest_of(files))
            return value

    def _refresh(self) -> None:
        try:
            stamps = self._look()
            if stamps == self._stamps:
                return
            # Remembered before parsing: a bad edit is reported once, not at every request.
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

    def _look(self) -> tuple[_Stamp, ...]:
        """The state of all files; what is included is asked anew when the main file changes."""
        try:
            main = _stamp(self._path)
            if self._stamps[:1] != (main,):
                self._includes = tuple(self._included(read_text_file(self._path).text))
            others = included_paths(self._path, self._includes)
            return (main, *(_stamp(path) for path in others))
        except ConfigurationError:
            # When all is there again it is read, even if it is the same as before.
            self._stamps = ()
            raise

    def _read(self) -> Value:
        files = read_text_files(self._path, self._included)
        try:
            value = self._parse(*files)
        except ConfigurationError:
            raise
        except Exception as error:
            # An edit that trips the parser must not stop the requests that come after it.
            raise ConfigurationError(
                f"{self._path}: cannot be understood ({type(error).__name__}: {error})."
            ) from error
        try:
            if self._last_good:
                self._last_good.keep(files)
        except OSError as error:
            self._journal.note("sources.not_kept", reason=error.strerror or type(error).__name__)
        return value


def _stamp(path: Path) -> _Stamp:
    """What differs when the file at *path* has changed."""
    try:
        stat = path.stat()
    except OSError as error:
        raise unreadable(path, error) from error
    # Some copy a file together with its time of modification, into one of the same length.
    return (str(path), stat.st_ctime_ns, stat.st_mtime_ns, stat.st_size, stat.st_ino)
