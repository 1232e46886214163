"""A file that is parsed again when it changes; a bad edit keeps the last good value."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from judge.adapters.files.last_good import LastGood, files_digest
from judge.adapters.files.text_files import Included, read_text_files
from judge.errors import ConfigurationError
from judge.ports import Clock, Journal
from judge.types.text_files import TextFile

CHECK_EVERY_S = 0.5
"""How late a change may be noticed; a check reads the files, which takes less than 1 ms."""

Value = TypeVar("Value")


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
        self._files: tuple[TextFile, ...] = ()
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

    def _first_value(self) -> Value:
        """Of the files, else of their last good version; raises ConfigurationError."""
        try:
            self._files = read_text_files(self._path, self._included)
            return self._parsed(self._files)
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
        # A bad edit is reported once, but a file that could not be read is read again.
        before, self._files = self._files, ()
        try:
            self._files = read_text_files(self._path, self._included)
            if self._files == before:
                return
            self._value = self._parsed(self._files)
        except ConfigurationError as error:
            if str(error) != self.problem:
                self._journal.note("sources.rejected", problem=str(error))
            self.problem = str(error)
        else:
            self.problem = None
            self._journal.note("sources.reloaded")
        finally:
            self._is_refreshing = False

    def _parsed(self, files: tuple[TextFile, ...]) -> Value:
        """The value of *files*, which are kept as the last good ones."""
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
