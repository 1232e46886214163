"""A file that is read again when it changes; a bad edit keeps the last good value."""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from judge.errors import ConfigurationError
from judge.ports import Clock, Journal

CHECK_EVERY_S = 0.5
"""How stale a change may be noticed; a look costs one `stat`, about 2 µs."""

Value = TypeVar("Value")

_Stamp = tuple[int, int, int]

ABSENT: _Stamp = (0, 0, 0)
"""The stamp of a file that is not there."""


class WatchedFile(Generic[Value]):
    """The parsed content of *path*, replaced as a whole when the file changes.

    Making one reads the file and raises ConfigurationError if that fails; later failures are
    noted as `sources.rejected` and leave the last good value in place.
    """

    def __init__(
        self, path: Path, parse: Callable[[str], Value], clock: Clock, journal: Journal
    ) -> None:
        self._path = path
        self._parse = parse
        self._clock = clock
        self._journal = journal
        self._stamp = self._look()
        self._value = self._read()
        self._looked_at = clock.monotonic()
        self.problem: str | None = None

    def current(self) -> Value:
        """The newest good value."""
        now = self._clock.monotonic()
        if now - self._looked_at >= CHECK_EVERY_S:
            self._looked_at = now
            self._refresh()
        return self._value

    def _refresh(self) -> None:
        try:
            stamp = self._look()
            if stamp == self._stamp:
                return
            # Remembered before parsing: a bad edit is reported once, not at every request.
            self._stamp = stamp
            self._value = self._read()
        except ConfigurationError as error:
            if str(error) != self.problem:
                self._journal.note("sources.rejected", problem=str(error))
            self.problem = str(error)
        else:
            self.problem = None
            self._journal.note("sources.reloaded")

    def _look(self) -> _Stamp:
        try:
            stat = self._path.stat()
        except OSError as error:
            # When it is there again it is read, even if it is the same as before.
            self._stamp = ABSENT
            raise self._unreadable(error) from error
        return (stat.st_mtime_ns, stat.st_size, stat.st_ino)

    def _read(self) -> Value:
        try:
            text = self._path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise self._unreadable(error) from error
        try:
            return self._parse(text)
        except ConfigurationError as error:
            raise ConfigurationError(f"{self._path}: {error}") from error
        except Exception as error:
            # An edit that trips the parser must not stop the requests that come after it.
            raise ConfigurationError(
                f"{self._path}: cannot be understood ({type(error).__name__}: {error})."
            ) from error

    def _unreadable(self, error: Exception) -> ConfigurationError:
        reason = getattr(error, "strerror", None) or str(error)
        return ConfigurationError(
            f"{self._path} cannot be read ({reason}). Set JUDGE_SOURCES to a readable file."
        )
